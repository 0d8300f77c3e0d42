#include "rule/limit_reader.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "rule/closest.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

constexpr std::size_t kMostLimits = 8;     // as many as the library lets act as one
constexpr std::size_t kLongestText = 256;  // of one limit
constexpr std::uint32_t kMostSoft = 1000;  // as the library has it
constexpr std::string_view kFixedWindow = "fixed_window";

// One limit of a list, before they become one.
struct Part {
  Limit limit;
  std::uint32_t soft_percent;
};

// Names of time zones are looked up in files; this one cannot lead out of their directory.
bool IsZoneName(std::string_view zone) {
  return !zone.empty() && zone[0] != '/' && zone.size() <= 64 &&
         zone.find("..") == std::string_view::npos &&
         std::all_of(zone.begin(), zone.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("/_+-").find(c) != std::string_view::npos;
         });
}

// Whether an instant of the calendar, rather than a duration, ends the period.
bool IsCalendarUnit(std::string_view unit) {
  return unit == "day" || unit == "week" || unit == "month" || unit == "year";
}

// One limit as text: brings it into the library's notation, word by word.
class LimitTextReader {
 public:
  LimitTextReader(std::string_view text, const LimitDefaults& defaults)
      : words_(SplitWords(text)), defaults_(defaults), soft_(defaults.soft_percent) {}

  Result<Part> Read() {
    if (words_.empty()) return Error{"expected a limit such as 10/s burst 20, got nothing"};
    if (std::count(words_.begin(), words_.end(), "+") > 0) {
      return Error{"'+' does not join limits here: write a list, limits: [10/s, 5000/h]"};
    }
    if (auto wrong = TakeSoft()) return *wrong;
    if (auto wrong = TakeAlgorithm()) return *wrong;
    if (auto wrong = TakeAmount()) return *wrong;
    std::string text = algorithm_ + " " + amount_;
    for (std::string_view word : words_) text += " " + std::string(word);
    if (algorithm_ == kAlgorithms[0] && defaults_.burst && !Has("burst")) {
      text += " burst " + std::to_string(*defaults_.burst);
    }
    if (calendar_ && !defaults_.zone.empty() && !Has("zone")) text += " zone " + defaults_.zone;
    const auto zone = std::find(words_.begin(), words_.end(), "zone");
    if (zone != words_.end() && zone + 1 != words_.end() && !IsZoneName(zone[1])) {
      return Error{"'" + Shown(zone[1]) + "' is no time zone: write a name such as Europe/Berlin"};
    }
    const Result<Limit> limit = Limit::Parse(text);
    if (!limit) return limit.error();
    if (const auto wrong = limit->Soft(soft_).WhatIsWrong()) return *wrong;
    return Part{*limit, soft_};
  }

 private:
  [[nodiscard]] bool Has(std::string_view option) const {
    return std::find(words_.begin(), words_.end(), option) != words_.end();
  }

  // `soft X%` is not an algorithm's, and may stand anywhere.
  std::optional<Error> TakeSoft() {
    const auto soft = std::find(words_.begin(), words_.end(), "soft");
    if (soft == words_.end()) return std::nullopt;
    std::string_view percent = soft + 1 != words_.end() ? soft[1] : std::string_view();
    const bool sign = percent.ends_with('%');
    if (sign) percent.remove_suffix(1);
    const Result<std::uint64_t> value = ParseCount(percent);
    if (!sign || !value || *value > kMostSoft) {
      return Error{"soft is a percentage such as 10%, at most " + std::to_string(kMostSoft) + "%"};
    }
    soft_ = static_cast<std::uint32_t>(*value);
    words_.erase(soft, soft + 2);
    if (Has("soft")) return Error{"option 'soft' is given twice"};
    return std::nullopt;
  }

  std::optional<Error> TakeAlgorithm() {
    algorithm_ = defaults_.algorithm;
    if (words_.empty()) return Error{"expected permits per period such as 10/s, got nothing"};
    const std::string_view first = words_[0];
    if (std::find(kAlgorithms.begin(), kAlgorithms.end(), first) != kAlgorithms.end()) {
      algorithm_ = first;
      words_.erase(words_.begin());
    } else if (first.find('/') == std::string_view::npos) {
      const bool number = first.find_first_not_of("0123456789") == std::string_view::npos;
      if (number) {
        return Error{"expected permits per period, got '" + Shown(first) + "': write " +
                     Shown(first) + "/s, " + Shown(first) + "/min or another period"};
      }
      std::vector<std::string_view> known(kAlgorithms.begin(), kAlgorithms.end());
      known.insert(known.end(), {"unlimited", "blocked"});
      return Error{"unknown algorithm '" + Shown(first) + "': " + Suggest(first, known)};
    }
    return std::nullopt;
  }

  std::optional<Error> TakeAmount() {
    const std::size_t slash = words_.empty() ? std::string_view::npos : words_[0].find('/');
    if (slash == std::string_view::npos) {
      return Error{algorithm_ + " needs permits per period, such as 10/s"};
    }
    const std::string permits(words_[0].substr(0, slash));
    std::string_view period = words_[0].substr(slash + 1);
    words_.erase(words_.begin());
    const std::string_view unit = period.starts_with('1') ? period.substr(1) : period;
    if (unit == "sec" || unit == "second") period = "1s";
    if (unit == "minute") period = "1m";
    if (unit == "hour") period = "1h";
    if (IsCalendarUnit(unit) && algorithm_ == kFixedWindow) {
      calendar_ = true;
      period = unit;
    } else if (unit == "day") {
      period = "1d";
    } else if (unit == "week") {
      period = "7d";
    } else if (IsCalendarUnit(unit)) {
      return Error{"only fixed_window follows the calendar: write fixed_window " + Shown(permits) +
                   "/" + std::string(unit) + ", or a duration such as 30d"};
    }
    if (!calendar_ && !ParseDuration(period)) {
      return Error{"expected a period such as 10s, min, hour or day, got '" + Shown(period) + "'"};
    }
    amount_ = permits + "/" + std::string(period);
    return std::nullopt;
  }

  std::vector<std::string_view> words_;  // those that are not taken yet
  const LimitDefaults& defaults_;
  std::uint32_t soft_;
  std::string algorithm_;
  std::string amount_;
  bool calendar_ = false;
};

std::optional<Part> ReadPart(const YamlNode& node, std::string_view name,
                             const LimitDefaults& defaults, Report& report) {
  std::string text;
  if (!ReadText(node, name, kLongestText, text, report)) return std::nullopt;
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (!printable) {
    report.Add(node.place, "expected a limit such as 10/s burst 20, got '" + Shown(text) + "'");
    return std::nullopt;
  }
  Result<Part> part = LimitTextReader(text, defaults).Read();
  if (part) return std::move(*part);
  report.Add(node.place, part.error().message);
  return std::nullopt;
}

std::optional<Allowance> ReadOne(const YamlNode& node, const LimitDefaults& defaults,
                                 Report& report) {
  if (node.kind == YamlNode::Kind::kList) {
    report.Add(node.place, "limit must be one limit, got a list", "write limits: [10/s, 5000/h]");
    return std::nullopt;
  }
  if (node.scalar == "unlimited") return Unlimited{};
  if (node.scalar == "blocked") return Blocked{};
  const auto part = ReadPart(node, "limit", defaults, report);
  if (!part) return std::nullopt;
  return part->limit.Soft(part->soft_percent);
}

std::optional<Allowance> ReadAll(const YamlNode& node, const LimitDefaults& defaults,
                                 Report& report) {
  const std::string example =
      "limits: [" + (node.kind == YamlNode::Kind::kScalar ? Shown(node.scalar) : "10/s") + "]";
  if (!IsList(node, "limits", "limits", kMostLimits, example, report)) return std::nullopt;
  std::optional<Limit> all;
  std::uint32_t soft = 0;
  bool complete = true;
  for (const YamlNode& element : node.list) {
    if (element.scalar == "unlimited" || element.scalar == "blocked") {
      report.Add(element.place, "'" + element.scalar + "' cannot be one of several limits",
                 "write limit: " + element.scalar);
      complete = false;
      continue;
    }
    const auto part = ReadPart(element, "a limit", defaults, report);
    if (!part) {
      complete = false;
      continue;
    }
    if (all && part->soft_percent != soft) {
      report.Add(element.place,
                 "limits that act as one share one soft percentage, got " +
                     std::to_string(part->soft_percent) + "% after " + std::to_string(soft) + "%",
                 "write soft: once, as a field of the rule");
      complete = false;
      continue;
    }
    soft = part->soft_percent;
    all = all ? *all + part->limit : part->limit;
  }
  if (!complete) return std::nullopt;
  return all->Soft(soft);
}

}  // namespace

LimitDefaults ReadLimitDefaults(const Fields& rule, Report& report) {
  LimitDefaults defaults;
  std::size_t algorithm = 0;
  if (rule.Word("algorithm", kAlgorithms, algorithm)) defaults.algorithm = kAlgorithms[algorithm];
  std::uint64_t burst = 0;
  if (rule.Count("burst", 1, UINT64_MAX, burst)) defaults.burst = burst;
  rule.Percent("soft", kMostSoft, defaults.soft_percent);
  std::string zone;
  if (rule.Text("zone", kLongestText, zone)) {
    if (IsZoneName(zone)) {
      defaults.zone = zone;
    } else {
      report.Add(rule.Find("zone")->place, "'" + Shown(zone) + "' is no time zone",
                 "write a name such as Europe/Berlin");
    }
  }
  return defaults;
}

std::optional<Allowance> ReadAllowance(const Fields& fields, const LimitDefaults& defaults,
                                       Report& report) {
  const YamlNode* one = fields.Find("limit");
  const YamlNode* all = fields.Find("limits");
  if (one != nullptr && all != nullptr) {
    report.Add(fields.PlaceOf("limits"), "there is both 'limit' and 'limits'",
               "write all of them in limits: [...]");
  }
  if (one == nullptr && all == nullptr) {
    report.Add(fields.place(), "there is no limit",
               "write limit: 10/s, or limit: unlimited to count nothing");
    return std::nullopt;
  }
  std::optional<Allowance> allowance;
  if (all != nullptr) allowance = ReadAll(*all, defaults, report);
  if (one != nullptr) allowance = ReadOne(*one, defaults, report);
  return allowance;
}

}  // namespace weir::rule
