#include "algorithm/limit_text.h"

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "algorithm/plan.h"
#include "base/text.h"

namespace weir::algorithm {
namespace {

using Words = std::vector<std::string_view>;

struct Grammar {
  std::string_view name;
  std::vector<std::string_view> options;
};

// In the order of the variant `Algorithm`. Options end with '!' where they take no value.
const std::array<Grammar, 7>& Grammars() {
  static const std::array<Grammar, 7> kGrammars = {{
      {"token_bucket", {"burst", "initial"}},
      {"leaky_bucket", {"queue", "free"}},
      {"fixed_window", {"start", "zone", "count_denied!"}},
      {"sliding_window", {}},
      {"sliding_counters", {"windows"}},
      {"sliding_log", {"min_gap", "count_denied!"}},
      {"pacer", {"warm_up", "cold_factor", "max_burst"}},
  }};
  return kGrammars;
}

std::string Join(const std::vector<std::string_view>& words) {
  std::string joined;
  for (std::string_view word : words) {
    if (!joined.empty()) joined += ", ";
    joined += word.ends_with('!') ? word.substr(0, word.size() - 1) : word;
  }
  return joined;
}

std::optional<CalendarUnit> ParseCalendarUnit(std::string_view text) {
  if (text.starts_with('1')) text.remove_prefix(1);
  if (text == "day") return CalendarUnit::kDay;
  if (text == "week") return CalendarUnit::kWeek;
  if (text == "month") return CalendarUnit::kMonth;
  if (text == "year") return CalendarUnit::kYear;
  return std::nullopt;
}

const char* NameOf(CalendarUnit unit) {
  static constexpr const char* kNames[] = {"day", "week", "month", "year"};
  return kNames[static_cast<std::size_t>(unit)];
}

// "10/1s": how much per how long, or per which unit of the calendar.
struct Amount {
  std::uint64_t permits;
  std::variant<Nanos, CalendarUnit> period;
};

Result<Amount> ParseAmount(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return Error{"expected permits per period such as 10/1s, got '" + std::string(text) + "'"};
  }
  const Result<std::uint64_t> permits = ParseCount(text.substr(0, slash));
  if (!permits) return permits.error();
  const std::string_view period = text.substr(slash + 1);
  if (const auto unit = ParseCalendarUnit(period)) return Amount{*permits, *unit};
  const Result<Nanos> duration = ParseDuration(period);
  if (!duration) return duration.error();
  return Amount{*permits, *duration};
}

// The options of one limit, by name. What is wrong is kept until the end, so that reading stays
// simple.
class Options {
 public:
  static Result<Options> Read(const Words& words, std::size_t from, const Grammar& grammar) {
    Options options;
    for (std::size_t i = from; i < words.size(); ++i) {
      const std::string name(words[i]);
      const bool known_flag = options.Has(grammar, name + "!");
      if (!known_flag && !options.Has(grammar, name)) {
        return Error{"unknown option '" + name + "': " + std::string(grammar.name) +
                     (grammar.options.empty() ? " has none" : " has " + Join(grammar.options))};
      }
      if (options.values_.contains(name)) return Error{"option '" + name + "' is given twice"};
      if (!known_flag && ++i == words.size()) return Error{"option '" + name + "' needs a value"};
      options.values_[name] = known_flag ? std::string_view() : words[i];
    }
    return options;
  }

  [[nodiscard]] bool Given(const std::string& name) const { return values_.contains(name); }
  [[nodiscard]] std::string_view Value(const std::string& name) const { return values_.at(name); }

  std::uint64_t Count(const std::string& name, std::uint64_t otherwise) {
    return Get(name, otherwise, ParseCount);
  }
  Nanos Duration(const std::string& name, Nanos otherwise) {
    return Get(name, otherwise, ParseDuration);
  }
  double Decimal(const std::string& name, double otherwise) {
    return Get(name, otherwise, [](std::string_view text) -> Result<double> {
      double value = 0;
      const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (problem != std::errc{} || stop != text.data() + text.size()) {
        return Error{"expected a number, got '" + std::string(text) + "'"};
      }
      return value;
    });
  }

  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  void Complain(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }

 private:
  static bool Has(const Grammar& grammar, const std::string& name) {
    for (std::string_view option : grammar.options) {
      if (option == name) return true;
    }
    return false;
  }

  template <typename T, typename Parse>
  T Get(const std::string& name, T otherwise, Parse parse) {
    const auto found = values_.find(name);
    if (found == values_.end()) return otherwise;
    const Result<T> value = parse(found->second);
    if (value) return *value;
    Complain(name + ": " + value.error().message);
    return otherwise;
  }

  std::map<std::string, std::string_view, std::less<>> values_;
  std::string wrong_;
};

weir::FixedWindow ReadFixedWindow(const Amount& amount, Options& options) {
  weir::FixedWindow limit{.permits = Permits{amount.permits}, .window = Nanos(0)};
  if (options.Given("count_denied")) limit.denied = Denied::kCounted;
  if (options.Given("start")) {
    const std::string_view start = options.Value("start");
    if (start != "epoch" && start != "first") {
      options.Complain("start must be epoch or first, got '" + std::string(start) + "'");
    }
    if (start == "first") limit.start = WindowStart::kFirstRequest;
  }
  std::optional<CalendarUnit> unit;
  if (const auto* calendar = std::get_if<CalendarUnit>(&amount.period)) unit = *calendar;
  if (options.Given("zone") && !unit) {
    const Nanos period = std::get<Nanos>(amount.period);
    if (period == std::chrono::hours(24)) unit = CalendarUnit::kDay;
    if (period == std::chrono::hours(24 * 7)) unit = CalendarUnit::kWeek;
    if (!unit) {
      options.Complain("a window in a time zone is a day, week, month or year, got " +
                       FormatDuration(period));
    }
  }
  if (unit) {
    Calendar calendar{.unit = *unit};
    if (options.Given("zone")) calendar.zone = options.Value("zone");
    limit.window = calendar;
  } else {
    limit.window = std::get<Nanos>(amount.period);
  }
  return limit;
}

Result<Algorithm> ReadAlgorithm(std::size_t index, const Words& words, std::size_t from) {
  const Grammar& grammar = Grammars()[index];
  if (from >= words.size()) {
    return Error{std::string(grammar.name) + " needs permits per period, such as 10/1s"};
  }
  const Result<Amount> amount = ParseAmount(words[from]);
  if (!amount) return amount.error();
  Result<Options> read = Options::Read(words, from + 1, grammar);
  if (!read) return read.error();
  Options& options = *read;

  Algorithm algorithm = weir::TokenBucket{Quota::Per(0, Nanos(0))};
  if (grammar.name == "fixed_window") {
    algorithm = ReadFixedWindow(*amount, options);
  } else if (std::holds_alternative<CalendarUnit>(amount->period)) {
    return Error{"only fixed_window follows the calendar: give " + std::string(grammar.name) +
                 " a duration such as 1d"};
  } else {
    Quota quota = Quota::Per(amount->permits, std::get<Nanos>(amount->period));
    if (grammar.name == "token_bucket") {
      if (options.Given("burst")) quota = quota.Burst(options.Count("burst", 0));
      if (options.Given("initial")) quota = quota.Initial(options.Count("initial", 0));
      algorithm = weir::TokenBucket{quota};
    } else if (grammar.name == "leaky_bucket") {
      if (options.Given("free") && !options.Given("queue")) {
        options.Complain("free needs a queue: queue Q free F");
      }
      algorithm = weir::LeakyBucket{quota, Permits{options.Count("queue", 0)},
                                    Permits{options.Count("free", 0)}};
    } else if (grammar.name == "sliding_window") {
      algorithm = weir::SlidingWindow{quota};
    } else if (grammar.name == "sliding_counters") {
      const std::uint64_t windows = options.Count("windows", weir::SlidingCounters{quota}.windows);
      algorithm = weir::SlidingCounters{
          quota, static_cast<std::uint32_t>(std::min<std::uint64_t>(windows, UINT32_MAX))};
    } else if (grammar.name == "sliding_log") {
      algorithm =
          weir::SlidingLog{quota, options.Duration("min_gap", Nanos(0)),
                           options.Given("count_denied") ? Denied::kCounted : Denied::kIgnored};
    } else {
      weir::Pacer pacer{quota};
      pacer.max_burst = options.Duration("max_burst", pacer.max_burst);
      pacer.warm_up = options.Duration("warm_up", pacer.warm_up);
      pacer.cold_factor = options.Decimal("cold_factor", pacer.cold_factor);
      algorithm = pacer;
    }
  }
  if (!options.wrong().empty()) return Error{options.wrong()};
  return algorithm;
}

Result<Limit> ReadPart(Words words, std::optional<std::size_t> current) {
  if (words.empty()) return Error{"expected a limit such as token_bucket 10/1s, got nothing"};
  std::optional<std::uint32_t> soft;
  for (std::size_t i = 1; i < words.size();) {
    if (words[i] != "soft") {
      ++i;
      continue;
    }
    if (soft) return Error{"option 'soft' is given twice"};
    std::string_view percent = i + 1 < words.size() ? words[i + 1] : std::string_view();
    if (!percent.ends_with('%')) return Error{"soft is a percentage such as 10%"};
    percent.remove_suffix(1);
    const Result<std::uint64_t> value = ParseCount(percent);
    if (!value) return Error{"soft: " + value.error().message};
    soft = static_cast<std::uint32_t>(std::min<std::uint64_t>(*value, UINT32_MAX));
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(at, at + 2);
  }
  std::size_t from = 0;
  std::optional<std::size_t> index = current;
  for (std::size_t i = 0; i < Grammars().size(); ++i) {
    if (Grammars()[i].name != words[0]) continue;
    index = i;
    from = 1;
  }
  const bool starts_with_amount = words[0].find('/') != std::string_view::npos;
  if (from == 0 && !(index && starts_with_amount)) {
    std::vector<std::string_view> names;
    for (const Grammar& grammar : Grammars()) names.push_back(grammar.name);
    return Error{"unknown algorithm '" + std::string(words[0]) + "': there are " + Join(names)};
  }
  const Result<Algorithm> algorithm = ReadAlgorithm(*index, words, from);
  if (!algorithm)
    return Error{std::string(Grammars()[*index].name) + ": " + algorithm.error().message};
  return Limit(*algorithm).Soft(soft.value_or(0));
}

}  // namespace

Result<Limit> ParseLimit(std::string_view text, const Limit* current) {
  std::optional<Limit> all;
  Words part;
  std::size_t index = 0;
  Words words = SplitWords(text);
  words.emplace_back("+");
  for (std::string_view word : words) {
    if (word != "+") {
      part.push_back(word);
      continue;
    }
    std::optional<std::size_t> algorithm;
    if (current != nullptr && index < current->parts().size()) {
      algorithm = current->parts()[index].index();
    }
    Result<Limit> limit = ReadPart(std::move(part), algorithm);
    if (!limit) return limit.error();
    all = all ? *all + *limit : *limit;
    part.clear();
    ++index;
  }
  if (const Result<Plan> plan = Plan::Of(*all); !plan) return plan.error();
  return *all;
}

}  // namespace weir::algorithm

namespace weir {
namespace {

std::string Rate(const Quota& quota) {
  return std::to_string(quota.permits().count) + "/" + FormatDuration(quota.period());
}

struct Writer {
  std::string operator()(const TokenBucket& l) const {
    std::string text = "token_bucket " + Rate(l.quota);
    if (l.quota.has_burst()) text += " burst " + std::to_string(l.quota.burst().count);
    if (l.quota.has_initial()) text += " initial " + std::to_string(l.quota.initial().count);
    return text;
  }
  std::string operator()(const LeakyBucket& l) const {
    std::string text = "leaky_bucket " + Rate(l.quota);
    if (l.queue.count > 0) text += " queue " + std::to_string(l.queue.count);
    if (l.free.count > 0) text += " free " + std::to_string(l.free.count);
    return text;
  }
  std::string operator()(const FixedWindow& l) const {
    std::string text = "fixed_window " + std::to_string(l.permits.count) + "/";
    if (const auto* calendar = std::get_if<Calendar>(&l.window)) {
      text += std::string(algorithm::NameOf(calendar->unit)) + " zone " + calendar->zone;
    } else {
      text += FormatDuration(std::get<Nanos>(l.window));
    }
    if (l.start == WindowStart::kFirstRequest) text += " start first";
    if (l.denied == Denied::kCounted) text += " count_denied";
    return text;
  }
  std::string operator()(const SlidingWindow& l) const { return "sliding_window " + Rate(l.quota); }
  std::string operator()(const SlidingCounters& l) const {
    return "sliding_counters " + Rate(l.quota) + " windows " + std::to_string(l.windows);
  }
  std::string operator()(const SlidingLog& l) const {
    std::string text = "sliding_log " + Rate(l.quota);
    if (l.min_gap > Nanos(0)) text += " min_gap " + FormatDuration(l.min_gap);
    if (l.denied == Denied::kCounted) text += " count_denied";
    return text;
  }
  std::string operator()(const Pacer& l) const {
    std::string text = "pacer " + Rate(l.quota);
    if (l.warm_up > Nanos(0)) text += " warm_up " + FormatDuration(l.warm_up);
    if (l.warm_up > Nanos(0) || l.cold_factor != Pacer{l.quota}.cold_factor) {
      std::array<char, 32> factor;  // the shortest text that reads back as the same number
      const auto end = std::to_chars(factor.begin(), factor.end(), l.cold_factor).ptr;
      text += " cold_factor " + std::string(factor.begin(), end);
    }
    return text + " max_burst " + FormatDuration(l.max_burst);
  }
};

}  // namespace

Result<Limit> Limit::Parse(std::string_view text) { return algorithm::ParseLimit(text, nullptr); }

std::string Limit::ToString() const {
  std::string text;
  for (const Algorithm& part : parts_) {
    if (!text.empty()) text += " + ";
    text += std::visit(Writer{}, part);
  }
  if (soft_percent_ > 0) text += " soft " + std::to_string(soft_percent_) + "%";
  return text;
}

}  // namespace weir
