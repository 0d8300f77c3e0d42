#include "wire/resp_template.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/check.h"
#include "wire/resp_reply.h"

namespace weir::wire {
namespace {

// A command is looked at more closely only if it is short enough to be learned.
bool IsShort(RespTemplate::Arguments arguments) {
  constexpr std::size_t kMostWords = 64;  // as many as there are bits for gaps
  return arguments.size() <= kMostWords &&
         std::all_of(arguments.begin(), arguments.end(),
                     [](std::string_view word) { return word.size() <= RespTemplate::kMostBytes; });
}

}  // namespace

bool RespTemplate::Learn(Arguments arguments, std::uint64_t gaps) {
  WEIR_CHECK((gaps & 1) == 0 && (gaps & gaps << 1) == 0);
  gaps_ = 0;
  first_needs_ = SIZE_MAX;
  if (!IsShort(arguments)) return false;
  std::string same;
  std::size_t learned = 0;
  std::size_t count = 0;
  const auto learn = [&] {
    const bool fits = learned + same.size() <= same_.size();
    if (fits) std::memcpy(same_.data() + learned, same.data(), same.size());
    learned += same.size();
    return fits;
  };
  RespWriter(same, RespVersion::k2).Array(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if ((gaps >> i & 1) == 0) {
      RespWriter(same, RespVersion::k2).Bulk(arguments[i]);
      continue;
    }
    same += '$';
    if (count == kMostGaps || !learn()) return false;
    row_[count++].before = static_cast<std::uint16_t>(same.size());
    same = "\r\n";  // the end of what is in the gap
  }
  if (count == 0 || !learn()) return false;
  rest_ = same.size();
  first_needs_ = row_[0].before + kSmallestGap;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t behind = i + 1 == count ? rest_ : row_[i + 1].before + kSmallestGap;
    row_[i].behind = static_cast<std::uint16_t>(behind);
  }
  gaps_ = count;
  return true;
}

}  // namespace weir::wire
