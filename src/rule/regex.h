// Regular expressions of rules: RE2, within bounds, without a way around them.
//
// A client chooses the values. So that no choice of bytes slips past `.`, it matches newlines too,
// and each byte that is not UTF-8 counts as one unknown character.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string>
#include <string_view>

#include "weir/result.h"

namespace weir::rule {

// A value as expressions see it. A view: what it looks at must outlive it.
class RegexValue {
 public:
  explicit RegexValue(std::string_view value);
  RegexValue(const RegexValue&) = delete;
  RegexValue& operator=(const RegexValue&) = delete;

  [[nodiscard]] re2::StringPiece text() const { return {text_.data(), text_.size()}; }

 private:
  std::string repaired_;  // empty unless the value is not UTF-8, which is rare
  std::string_view text_;
};

class Regex {
 public:
  static constexpr std::size_t kLongest = 1024;  // bytes of an expression

  static Result<Regex> Compile(const std::string& text);
  // With room for `bytes` of program and cache.
  static RE2::Options Options(std::int64_t bytes);

  // The whole value.
  [[nodiscard]] bool Matches(const RegexValue& value) const {
    return RE2::FullMatch(value.text(), *compiled_);
  }

 private:
  explicit Regex(std::unique_ptr<const RE2> compiled) : compiled_(std::move(compiled)) {}

  std::unique_ptr<const RE2> compiled_;
};

// ASCII that every value begins with that matches `text`, perhaps not all of it. REQUIRES: `text`
// compiles
std::string RequiredPrefix(const std::string& text);

}  // namespace weir::rule
