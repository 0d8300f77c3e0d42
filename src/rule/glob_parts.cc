#include "rule/glob_parts.h"

#include <algorithm>
#include <optional>

namespace weir::rule {
namespace {

using Reach = Wildcard::Reach;

// One wildcard that means both, if there is one.
std::optional<Wildcard> Merged(Wildcard a, Wildcard b) {
  if (a.reach != Reach::kAnything && b.reach != Reach::kAnything) {
    return Wildcard{std::max(a.reach, b.reach), a.least + b.least};
  }
  const auto adds_nothing = [](Wildcard w) { return w.reach != Reach::kExactly && w.least == 0; };
  if (adds_nothing(a) && adds_nothing(b)) return Wildcard{};
  return std::nullopt;
}

}  // namespace

GlobParts::GlobParts(std::string_view glob) {
  while (!glob.empty()) {
    std::size_t taken = 1;
    std::optional<Wildcard> wildcard;
    if (glob.starts_with("**")) {
      wildcard = Wildcard{Reach::kAnything, 0};
      taken = 2;
    } else if (glob.front() == '*') {
      wildcard = Wildcard{Reach::kSegment, 0};
    } else if (glob.front() == '?') {
      wildcard = Wildcard{Reach::kExactly, 1};
    } else {
      literals.back() += glob.front();
    }
    glob.remove_prefix(taken);
    if (!wildcard) continue;
    const bool adjacent = !wildcards.empty() && literals.back().empty();
    const auto merged = adjacent ? Merged(wildcards.back(), *wildcard) : std::nullopt;
    if (merged) {
      wildcards.back() = *merged;
    } else {
      wildcards.push_back(*wildcard);
      literals.emplace_back();
    }
  }
}

std::string GlobParts::TextFrom(std::size_t i) const {
  std::string text;
  for (; i < wildcards.size(); ++i) {
    if (wildcards[i].reach == Reach::kAnything) text += "**";
    if (wildcards[i].reach == Reach::kSegment) text += '*';
    text.append(wildcards[i].least, '?');
    text += literals[i + 1];
  }
  return text;
}

}  // namespace weir::rule
