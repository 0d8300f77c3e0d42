#include "rule/regex.h"

#include <algorithm>
#include <utility>

#include "rule/utf8.h"

namespace weir::rule {
namespace {

constexpr std::int64_t kMemory = std::int64_t{1} << 20;  // of one expression
constexpr std::string_view kUnknownCharacter = "\xEF\xBF\xBD";

}  // namespace

RegexValue::RegexValue(std::string_view value) : text_(value) {
  std::size_t bad = FirstInvalidUtf8(value);
  if (bad == std::string_view::npos) return;
  for (; bad != std::string_view::npos; bad = FirstInvalidUtf8(value)) {
    repaired_ += value.substr(0, bad);
    repaired_ += kUnknownCharacter;
    value.remove_prefix(bad + 1);
  }
  repaired_ += value;
  text_ = repaired_;
}

RE2::Options Regex::Options(std::int64_t bytes) {
  RE2::Options options;
  options.set_max_mem(bytes);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_dot_nl(true);
  return options;
}

Result<Regex> Regex::Compile(const std::string& text) {
  if (text.size() > kLongest) {
    return Error{"an expression may have " + std::to_string(kLongest) + " bytes, got " +
                 std::to_string(text.size()) + "; split it into a list of expressions"};
  }
  if (FirstInvalidUtf8(text) != std::string_view::npos) {
    return Error{"an expression must be UTF-8 without NUL; write such bytes as \\x{...}"};
  }
  auto compiled = std::make_unique<const RE2>(text, Options(kMemory));
  if (!compiled->ok()) {
    return Error{"'" + Shown(text) + "' is no RE2 expression: " + Shown(compiled->error()) +
                 "; see https://github.com/google/re2/wiki/Syntax"};
  }
  return Regex(std::move(compiled));
}

std::string RequiredPrefix(const std::string& text) {
  // RE2 tells a prefix only where an expression says that it begins at the start.
  const RE2 anchored("\\A(?:" + text + ")", Regex::Options(kMemory));
  std::string least;
  std::string most;
  constexpr int kMostBytes = 256;
  if (!anchored.ok() || !anchored.PossibleMatchRange(&least, &most, kMostBytes)) return {};
  // What lies between two texts begins as both do. Beyond ASCII the value may have been repaired.
  const auto plain = [](char c) { return c > 0; };
  std::size_t same = 0;
  const std::size_t shorter = std::min(least.size(), most.size());
  while (same < shorter && least[same] == most[same] && plain(least[same])) ++same;
  return least.substr(0, same);
}

}  // namespace weir::rule
