// What is left of a glob behind its head, ready to be tried.
//
// Nearly always that is one wildcard and some text: `*` of "/products/*", `*/reviews` of
// "/p/*/reviews". Then a look at the end of the value says no to most, and nothing has to be
// searched for but a '/'.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rule/glob_parts.h"
#include "rule/pattern.h"

namespace weir::rule {

class GlobRest {
 public:
  GlobRest() = default;
  explicit GlobRest(const std::string& glob) : text_(glob) {
    GlobParts parts(glob);
    if (parts.wildcards.size() != 1 || !parts.literals[0].empty()) return;
    only_ = parts.wildcards[0];
    text_ = std::move(parts.literals[1]);
  }

  // As GlobMatches() of what it was made from.
  [[nodiscard]] bool Matches(std::string_view value) const {
    if (!only_) return GlobMatches(text_, value);
    if (!value.ends_with(text_)) return false;
    const std::string_view between = value.substr(0, value.size() - text_.size());
    switch (only_->reach) {
      case Wildcard::Reach::kAnything:
        return true;
      case Wildcard::Reach::kExactly:
        if (between.size() != only_->least) return false;
        break;
      case Wildcard::Reach::kSegment:
        if (between.size() < only_->least) return false;
        break;
    }
    return between.find('/') == std::string_view::npos;
  }

 private:
  std::optional<Wildcard> only_;  // if there is but one, and text behind it
  std::string text_;              // that text; otherwise all of it
};

}  // namespace weir::rule
