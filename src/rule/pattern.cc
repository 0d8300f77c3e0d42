#include "rule/pattern.h"

#include <string>

#include "rule/address.h"
#include "rule/attribute.h"
#include "rule/regex.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

constexpr std::size_t kLongestGlob = 1024;

std::optional<Error> TooLong(const char* what, const std::string& text, std::size_t most) {
  if (text.size() <= most) return std::nullopt;
  return Error{std::string(what) + " may have " + std::to_string(most) + " bytes, got " +
               std::to_string(text.size()) + "; write a shorter one"};
}

}  // namespace

std::optional<Error> WhatIsWrong(const Pattern& pattern) {
  switch (pattern.kind) {
    case PatternKind::kExact:
      return TooLong("a value", pattern.text, Values::kLongest);
    case PatternKind::kPrefix:
      return TooLong("a prefix", pattern.text, Values::kLongest);
    case PatternKind::kGlob:
      return TooLong("a glob", pattern.text, kLongestGlob);
    case PatternKind::kRegex: {
      const Result<Regex> regex = Regex::Compile(pattern.text);
      if (!regex) return regex.error();
      return std::nullopt;
    }
    case PatternKind::kCidr:
      if (Network::Parse(pattern.text)) return std::nullopt;
      return Error{"'" + Shown(pattern.text) +
                   "' is no network; write an address, or one with as many bits as all share and "
                   "zeros behind them, such as 10.0.0.0/8 or 2001:db8::/32"};
    case PatternKind::kPresent:
      break;
  }
  if (pattern.text.empty()) return std::nullopt;
  return Error{"'present' compares with no text, got '" + Shown(pattern.text) +
               "'; write {exact: ...} to compare"};
}

bool Matches(const Pattern& pattern, std::string_view value) {
  if (value.data() == nullptr) return false;
  switch (pattern.kind) {
    case PatternKind::kExact:
      return value == pattern.text;
    case PatternKind::kPrefix:
      return value.starts_with(pattern.text);
    case PatternKind::kGlob:
      return GlobMatches(pattern.text, value);
    case PatternKind::kRegex:
      return Regex::Compile(pattern.text).value().Matches(RegexValue(value));
    case PatternKind::kCidr: {
      const std::optional<Address> address = Address::Parse(value);
      return address && Network::Parse(pattern.text).value().Contains(*address);
    }
    case PatternKind::kPresent:
      break;
  }
  return true;
}

}  // namespace weir::rule
