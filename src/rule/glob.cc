// Globs, matched by advancing where that is cheap and by sets of states where it is not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "rule/pattern.h"

namespace weir::rule {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

bool IsDoubleStar(std::string_view glob, std::size_t at) { return glob.substr(at, 2) == "**"; }

// Advances through both; where they disagree, the last star takes one character more. The last `*`
// can do all that one before it could, and the last `**` all that any before it could. Gives up
// (and says so by returning nothing) after so many steps: each `**` may start a long search anew.
std::optional<bool> MatchByAdvancing(std::string_view glob, std::string_view value,
                                     std::size_t steps) {
  struct Star {
    std::size_t glob = kNowhere;  // where the glob goes on after it
    std::size_t value = 0;        // where the value did
  };
  Star star;
  Star double_star;
  std::size_t g = 0;
  std::size_t v = 0;
  while (true) {
    if (steps-- == 0) return std::nullopt;
    if (g < glob.size() && glob[g] == '*') {
      if (IsDoubleStar(glob, g)) {
        g += 2;
        double_star = {g, v};
        star = {};
      } else {
        g += 1;
        star = {g, v};
      }
    } else if (v < value.size() && g < glob.size() &&
               (glob[g] == value[v] || (glob[g] == '?' && value[v] != '/'))) {
      ++g;
      ++v;
    } else if (v == value.size() && g == glob.size()) {
      return true;
    } else if (star.glob != kNowhere && star.value < value.size() && value[star.value] != '/') {
      g = star.glob;
      v = ++star.value;
    } else if (double_star.glob != kNowhere && double_star.value < value.size()) {
      g = double_star.glob;
      v = ++double_star.value;
      star = {};
    } else {
      return false;
    }
  }
}

// Which parts of the glob can match the value so far, one character at a time: never more than
// glob times value.
bool MatchByStates(std::string_view glob, std::string_view value) {
  // reached[g]: glob[0, g) matches the value so far.
  std::vector<std::uint8_t> reached(glob.size() + 1);
  const auto pass_stars = [&] {
    for (std::size_t g = 0; g < glob.size(); ++g) {
      if (reached[g] != 0 && glob[g] == '*') reached[g + (IsDoubleStar(glob, g) ? 2 : 1)] = 1;
    }
  };
  reached[0] = 1;
  pass_stars();
  for (const char c : value) {
    std::vector<std::uint8_t> next(glob.size() + 1);
    for (std::size_t g = 0; g < glob.size(); ++g) {
      if (reached[g] == 0) continue;
      if (glob[g] == '*') {
        if (c != '/' || IsDoubleStar(glob, g)) next[g] = 1;
      } else if (glob[g] == c || (glob[g] == '?' && c != '/')) {
        next[g + 1] = 1;
      }
    }
    reached.swap(next);
    pass_stars();
  }
  return reached[glob.size()] != 0;
}

}  // namespace

bool GlobMatches(std::string_view glob, std::string_view value) {
  const std::size_t enough = 16 * (glob.size() + value.size() + 1);
  if (const auto matches = MatchByAdvancing(glob, value, enough)) return *matches;
  return MatchByStates(glob, value);
}

}  // namespace weir::rule
