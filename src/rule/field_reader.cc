#include "rule/field_reader.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "rule/closest.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

std::string Quoted(std::string_view text) { return "'" + Shown(text) + "'"; }

// "name must be 1 to 128 letters, got a list". Names come from us, or were cleaned by the caller.
std::string Expected(std::string_view name, std::string_view what, const YamlNode& node) {
  return std::string(name) + " must be " + std::string(what) + ", got " + node.Describe();
}

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// The number that `digits` digits of `text` at `at` say; nothing if they are not digits.
std::optional<unsigned> Digits(std::string_view text, std::size_t at, std::size_t digits) {
  unsigned value = 0;
  for (const char c : text.substr(at, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value;
}

std::optional<std::chrono::sys_seconds> ParseInstant(std::string_view text) {
  constexpr std::string_view kDate = "0000-00-00";
  constexpr std::string_view kInstant = "0000-00-00T00:00:00Z";
  if (text.size() != kDate.size() && text.size() != kInstant.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kInstant[i] != '0' && kInstant[i] != text[i]) return std::nullopt;
  }
  const auto year = Digits(text, 0, 4);
  const auto month = Digits(text, 5, 2);
  const auto day = Digits(text, 8, 2);
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day));
  if (!date.ok() || *year < 1970) return std::nullopt;
  std::chrono::sys_seconds instant = std::chrono::sys_days(date);
  if (text.size() == kDate.size()) return instant;
  const auto hour = Digits(text, 11, 2);
  const auto minute = Digits(text, 14, 2);
  const auto second = Digits(text, 17, 2);
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) {
    return std::nullopt;
  }
  return instant + std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
         std::chrono::seconds(*second);
}

}  // namespace

bool ReadCount(const YamlNode& node, std::string_view name, std::uint64_t least, std::uint64_t most,
               std::uint64_t& into, Report& report) {
  if (node.kind != YamlNode::Kind::kScalar) {
    report.Add(node.place, Expected(name, "a whole number", node));
    return false;
  }
  const Result<std::uint64_t> count = ParseCount(node.scalar);
  if (count && node.quoted) {
    report.Add(node.place, Expected(name, "a whole number", node) + " in quotes",
               "write it without quotes");
    return false;
  }
  if (count && *count >= least && *count <= most) {
    into = *count;
    return true;
  }
  std::string range = "a whole number";
  if (most == UINT64_MAX) {
    range += " of at least " + std::to_string(least);
  } else {
    range += " from " + std::to_string(least) + " to " + std::to_string(most);
  }
  report.Add(node.place, Expected(name, range, node));
  return false;
}

bool ReadText(const YamlNode& node, std::string_view name, std::size_t longest, std::string& into,
              Report& report) {
  if (node.kind != YamlNode::Kind::kScalar) {
    report.Add(
        node.place, Expected(name, "text", node),
        node.kind == YamlNode::Kind::kNull ? "write it in quotes, or leave the field out" : "");
    return false;
  }
  if (node.scalar.size() > longest) {
    report.Add(node.place,
               std::string(name) + " is longer than " + std::to_string(longest) + " bytes",
               "shorten it");
    return false;
  }
  into = node.scalar;
  return true;
}

bool ReadName(const YamlNode& node, std::string_view name, std::string_view punctuation,
              std::size_t longest, std::string& into, Report& report) {
  std::string text;
  if (!ReadText(node, name, longest, text, report)) return false;
  const bool good = std::all_of(text.begin(), text.end(), [&](char c) {
    return IsLetterOrDigit(c) || punctuation.find(c) != std::string_view::npos;
  });
  if (!good || text.empty()) {
    std::string allowed = "use letters, digits";
    for (const char c : punctuation) allowed += std::string(" ") + c;
    report.Add(node.place,
               text.empty()
                   ? std::string(name) + " is empty"
                   : std::string(name) + " " + Quoted(text) + " holds characters that it may not",
               allowed);
    return false;
  }
  into = std::move(text);
  return true;
}

bool ReadPercent(const YamlNode& node, std::string_view name, std::uint32_t most,
                 std::uint32_t& into, Report& report) {
  std::string_view number = node.scalar;
  const bool sign = number.ends_with('%');
  if (sign) number.remove_suffix(1);
  const Result<std::uint64_t> percent = ParseCount(number);
  if (node.kind == YamlNode::Kind::kScalar && sign && percent && *percent <= most) {
    into = static_cast<std::uint32_t>(*percent);
    return true;
  }
  std::string remedy;
  if (node.kind == YamlNode::Kind::kScalar && !sign && percent) {
    remedy = "write " + Shown(number) + "%";
  }
  report.Add(
      node.place,
      Expected(name, "a percentage in whole numbers, at most " + std::to_string(most) + "%", node),
      remedy);
  return false;
}

bool ReadFlag(const YamlNode& node, std::string_view name, bool& into, Report& report) {
  const bool plain = node.kind == YamlNode::Kind::kScalar && !node.quoted;
  if (!plain || (node.scalar != "true" && node.scalar != "false")) {
    report.Add(node.place,
               Expected(name, "true or false", node) + (node.quoted ? " in quotes" : ""));
    return false;
  }
  into = node.scalar == "true";
  return true;
}

bool ReadInstant(const YamlNode& node, std::string_view name, std::chrono::sys_seconds& into,
                 Report& report) {
  const auto instant = node.kind == YamlNode::Kind::kScalar
                           ? ParseInstant(node.scalar)
                           : std::optional<std::chrono::sys_seconds>();
  if (!instant) {
    report.Add(node.place, Expected(name, "a day of 1970 or later, or an instant", node),
               "write it as 2027-01-31 or 2027-01-31T12:00:00Z");
    return false;
  }
  into = *instant;
  return true;
}

bool IsList(const YamlNode& node, std::string_view name, std::string_view things, std::size_t most,
            const std::string& example, Report& report) {
  const std::string expected = std::string(name) + " must be a list of " + std::string(things);
  if (node.kind != YamlNode::Kind::kList) {
    report.Add(node.place, expected + ", got " + node.Describe(), "write " + example);
    return false;
  }
  if (node.list.empty()) {
    report.Add(node.place, expected + ", got an empty one", "leave it out, or write " + example);
    return false;
  }
  if (node.list.size() > most) {
    report.Add(node.place, std::string(name) + " holds more than " + std::to_string(most) + " " +
                               std::string(things) + ": " + std::to_string(node.list.size()));
    return false;
  }
  return true;
}

bool IsMap(const YamlNode& node, std::string_view name, const std::string& example,
           Report& report) {
  if (node.kind == YamlNode::Kind::kMap) return true;
  report.Add(node.place, Expected(name, "a map", node), "write " + example);
  return false;
}

std::optional<std::size_t> ReadWord(const YamlNode& node, std::string_view name,
                                    std::span<const std::string_view> known, Report& report) {
  if (node.kind == YamlNode::Kind::kScalar) {
    const auto found = std::find(known.begin(), known.end(), node.scalar);
    if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
    report.Add(node.place, "unknown " + std::string(name) + " " + Quoted(node.scalar),
               Suggest(node.scalar, known));
  } else {
    report.Add(node.place, Expected(name, "a word", node), Suggest("", known));
  }
  return std::nullopt;
}

// ---------------------------------------------------------------------------------------------------

Fields::Fields(const YamlNode& map, std::span<const std::string_view> known, Report& report)
    : map_(map), report_(report) {
  for (const YamlNode::Entry& entry : map.map) {
    if (report.full()) return;
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    report.Add(entry.place, "unknown field " + Quoted(entry.key), Suggest(entry.key, known));
  }
}

Place Fields::PlaceOf(std::string_view name) const {
  for (const YamlNode::Entry& entry : map_.map) {
    if (entry.key == name) return entry.place;
  }
  return map_.place;
}

bool Fields::Count(std::string_view name, std::uint64_t least, std::uint64_t most,
                   std::uint64_t& into) const {
  const YamlNode* node = Find(name);
  return node != nullptr && ReadCount(*node, name, least, most, into, report_);
}

bool Fields::Text(std::string_view name, std::size_t longest, std::string& into) const {
  const YamlNode* node = Find(name);
  return node != nullptr && ReadText(*node, name, longest, into, report_);
}

bool Fields::Percent(std::string_view name, std::uint32_t most, std::uint32_t& into) const {
  const YamlNode* node = Find(name);
  return node != nullptr && ReadPercent(*node, name, most, into, report_);
}

bool Fields::Flag(std::string_view name, bool& into) const {
  const YamlNode* node = Find(name);
  return node != nullptr && ReadFlag(*node, name, into, report_);
}

}  // namespace weir::rule
