#include "wire/resp_template.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "wire/resp_reply.h"

namespace weir::wire {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

}  // namespace

bool RespTemplate::Learn(Arguments arguments, std::size_t first_gap) {
  gaps_ = 0;
  first_needs_ = SIZE_MAX;
  WEIR_CHECK(first_gap > 0 && first_gap < arguments.size());
  WEIR_CHECK((arguments.size() - first_gap) % 2 == 1);
  const std::size_t gaps = (arguments.size() - first_gap) / 2 + 1;
  if (gaps > kMostGaps) return false;
  // Nothing is written of what is too long anyway.
  if (std::any_of(arguments.begin(), arguments.end(),
                  [](std::string_view word) { return word.size() > kMostBytes; })) {
    return false;
  }
  std::string same;
  std::size_t learned = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_gap = i >= first_gap && (i - first_gap) % 2 == 0;
    {
      RespWriter writer(same, RespVersion::k2);
      if (i == 0) writer.Array(arguments.size());
      if (!is_gap) writer.Bulk(arguments[i]);
    }
    if (!is_gap) continue;
    same += '$';
    if (learned + same.size() > kMostBytes) return false;
    std::copy(same.begin(), same.end(), same_.begin() + static_cast<std::ptrdiff_t>(learned));
    row_[(i - first_gap) / 2].before = static_cast<std::uint16_t>(same.size());
    learned += same.size();
    same = kLineEnd;  // the end of what is in the gap
  }
  gaps_ = gaps;
  first_needs_ = row_[0].before + kSmallestGap;
  for (std::size_t i = 0; i < gaps; ++i) {
    const bool is_last = i + 1 == gaps;
    row_[i].behind =
        static_cast<std::uint16_t>(is_last ? kLineEnd.size() : row_[i + 1].before + kSmallestGap);
  }
  return true;
}

}  // namespace weir::wire
