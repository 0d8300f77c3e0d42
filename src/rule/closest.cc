#include "rule/closest.h"

#include <algorithm>
#include <vector>

namespace weir::rule {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  // Three rows of the usual table: the one before last is needed for swaps.
  std::vector<std::size_t> older(b.size() + 1);
  std::vector<std::size_t> old(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(older, old);
    std::swap(old, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = old[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({old[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], older[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string Suggest(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t kLongest = 64;  // nobody mistypes so much, and the work stays small
  std::string_view closest;
  std::size_t least = word.size() / 3 + 1;  // a third of it may be wrong
  for (std::string_view candidate : known) {
    if (word.size() > kLongest) break;
    const std::size_t distance = EditDistance(word, candidate);
    if (distance > least || (distance == least && !closest.empty())) continue;
    // One letter for another is a typo in a long word, and another word if it is all there is.
    if (distance >= std::min(word.size(), candidate.size())) continue;
    closest = candidate;
    least = distance;
  }
  if (!closest.empty()) return "did you mean '" + std::string(closest) + "'?";
  std::string all;
  for (std::string_view candidate : known) {
    all += (all.empty() ? "there are " : ", ") + std::string(candidate);
  }
  return all;
}

}  // namespace weir::rule
