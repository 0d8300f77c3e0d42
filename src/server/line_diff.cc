#include "server/line_diff.h"

#include <algorithm>
#include <cstdint>

namespace weir {
namespace {

using Lines = std::vector<std::string_view>;

Lines Split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// common[i][j]: how many lines the rest of `a` from i and of `b` from j can have in common.
class Common {
 public:
  Common(const Lines& a, const Lines& b) : width_(b.size() + 1), counts_(width_ * (a.size() + 1)) {
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        counts_[i * width_ + j] =
            a[i] == b[j] ? At(i + 1, j + 1) + 1 : std::max(At(i + 1, j), At(i, j + 1));
      }
    }
  }
  [[nodiscard]] std::uint32_t At(std::size_t i, std::size_t j) const {
    return counts_[i * width_ + j];
  }

 private:
  std::size_t width_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after) {
  const Lines a = Split(before);
  const Lines b = Split(after);
  std::vector<DiffLine> diff;
  std::size_t i = 0;
  std::size_t j = 0;
  constexpr std::size_t kMostWork = 4'000'000;  // the memory it takes; of more, all lines differ
  if (a.size() * b.size() <= kMostWork) {
    const Common common(a, b);
    while (i < a.size() && j < b.size()) {
      if (a[i] == b[j]) {
        diff.push_back({' ', a[i++]});
        ++j;
      } else if (common.At(i + 1, j) >= common.At(i, j + 1)) {
        diff.push_back({'-', a[i++]});
      } else {
        diff.push_back({'+', b[j++]});
      }
    }
  }
  while (i < a.size()) diff.push_back({'-', a[i++]});
  while (j < b.size()) diff.push_back({'+', b[j++]});
  return diff;
}

}  // namespace weir
