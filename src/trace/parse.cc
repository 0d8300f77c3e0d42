#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include "algorithm/limit_text.h"
#include "base/text.h"
#include "trace/trace.h"

namespace weir::trace {
namespace {

using Words = std::vector<std::string_view>;

// Reads the words of a line from left to right; the first problem ends it.
class Reader {
 public:
  explicit Reader(Words words) : words_(std::move(words)) {}

  [[nodiscard]] bool AtEnd() const { return next_ == words_.size(); }
  [[nodiscard]] std::string_view Peek() const {
    return AtEnd() ? std::string_view() : words_[next_];
  }
  std::string_view Next() { return AtEnd() ? std::string_view() : words_[next_++]; }
  bool Skip(std::string_view word) {
    if (Peek() != word) return false;
    ++next_;
    return true;
  }

  Nanos Duration(std::string_view what) {
    if (Skip("0")) return Nanos(0);
    return Value<Nanos>(what, ParseDuration);
  }
  Permits Count(std::string_view what) { return Permits{Value<std::uint64_t>(what, ParseCount)}; }
  // Everything up to the end.
  std::string Rest() {
    std::string rest;
    while (!AtEnd()) rest += (rest.empty() ? "" : " ") + std::string(Next());
    return rest;
  }

  void Complain(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  template <typename T, typename Parse>
  T Value(std::string_view what, Parse parse) {
    const Result<T> value = parse(Next());
    if (value) return *value;
    Complain(std::string(what) + ": " + value.error().message);
    return T{};
  }

  Words words_;
  std::size_t next_ = 0;
  std::string problem_;
};

void ReadVerdict(Reader& in, Expectation& expected) {
  if (in.Skip("allow")) {
    expected.verdict = Verdict::kAllow;
    expected.wait = Nanos(0);
  } else if (in.Skip("deny")) {
    expected.verdict = Verdict::kDeny;
  } else if (in.Skip("never")) {
    expected.verdict = Verdict::kNever;
  } else if (in.Skip("wait")) {
    expected.verdict = Verdict::kAllow;
    expected.wait = in.Duration("wait");
  }
}

Expectation ReadExpectation(Reader& in) {
  Expectation expected;
  ReadVerdict(in, expected);
  while (!in.AtEnd() && in.problem().empty()) {
    if (in.Skip("remaining")) {
      expected.remaining = in.Count("remaining");
    } else if (in.Skip("taken")) {
      expected.taken = in.Count("taken");
    } else if (in.Skip("retry")) {
      expected.retry = in.Duration("retry");
    } else if (in.Skip("reset")) {
      expected.reset = in.Duration("reset");
    } else if (in.Skip("soft")) {
      expected.grace = Grace::kSoft;
    } else {
      in.Complain("unknown expectation '" + std::string(in.Next()) +
                  "': there are allow, deny, never, wait D, then remaining N, taken N, retry D, "
                  "reset D, soft");
    }
  }
  return expected;
}

const std::map<std::string_view, Verb>& Verbs() {
  static const std::map<std::string_view, Verb> kVerbs = {
      {"take", Verb::kTake},       {"peek", Verb::kPeek},     {"take_up_to", Verb::kTakeUpTo},
      {"charge", Verb::kCharge},   {"refund", Verb::kRefund}, {"reserve", Verb::kReserve},
      {"acquire", Verb::kReserve},
  };
  return kVerbs;
}

void ReadLimit(Reader& in, Step& step, const Limit* current) {
  const Result<Limit> limit = algorithm::ParseLimit(in.Rest(), current);
  if (!limit) return in.Complain(limit.error().message);
  step.limit = *limit;
}

// `current` is the limit at hand, if there is one.
Step ReadStep(Reader& in, const Limit* current) {
  Step step;
  if (in.Skip("limit")) {
    step.verb = Verb::kNewLimit;
    ReadLimit(in, step, nullptr);
    return step;
  }
  step.at = Instant(in.Duration("time"));
  if (!in.problem().empty()) return step;
  if (current == nullptr) {
    in.Complain("there is no limit yet: start with a row such as 'limit token_bucket 10/1s'");
    return step;
  }
  if (in.Skip("limit")) {
    step.verb = Verb::kSetLimit;
    ReadLimit(in, step, current);
    return step;
  }
  const std::string_view name = in.Next();
  const auto verb = Verbs().find(name);
  if (verb == Verbs().end()) {
    in.Complain("unknown verb '" + std::string(name) +
                "': there are take, peek, take_up_to, charge, refund, reserve, acquire, limit");
    return step;
  }
  step.verb = verb->second;
  step.permits = in.AtEnd() || in.Peek() == "=>" ? Permits{1} : in.Count(name);
  if (step.verb == Verb::kReserve && in.Skip("timeout")) step.patience = in.Duration("timeout");
  if (in.Skip("=>")) {
    step.expected = ReadExpectation(in);
  } else if (!in.AtEnd()) {
    in.Complain("expected => and what must hold, got '" + std::string(in.Peek()) + "'");
  }
  return step;
}

}  // namespace

Result<Trace> Parse(std::string_view text, const std::string& name) {
  Trace trace;
  std::optional<Limit> current;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (const std::size_t comment = line.find('#'); comment != std::string_view::npos) {
      line = line.substr(0, comment);
    }
    Reader in(SplitWords(line));
    if (in.AtEnd()) continue;
    Step step = ReadStep(in, current ? &*current : nullptr);
    if (!in.problem().empty()) {
      return Error{name + ":" + std::to_string(number) + ": " + in.problem()};
    }
    step.line = number;
    if (step.limit) current = step.limit;
    if (const std::size_t arrow = line.find("=>"); arrow != std::string_view::npos) {
      for (std::string_view word : SplitWords(line.substr(arrow + 2))) {
        step.expected.text += (step.expected.text.empty() ? "" : " ") + std::string(word);
      }
    }
    trace.push_back(std::move(step));
  }
  return trace;
}

Result<Trace> ReadFile(const std::string& path) {
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) {
    return Error{path + ": is a directory, expected a trace file"};
  }
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (file) text << file.rdbuf();
  if (!file) {
    return Error{path +
                 ": cannot be read: " + std::error_code(errno, std::generic_category()).message()};
  }
  return Parse(text.str(), path);
}

}  // namespace weir::trace
