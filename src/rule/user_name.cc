#include "rule/user_name.h"

#include <cstdint>

#include "rule/utf8.h"

namespace weir::rule {

bool IsUserName(std::string_view text) {
  if (text.empty() || text.size() > kLongestUserName) return false;
  if (FirstInvalidUtf8(text) != std::string_view::npos) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return false;
    // U+0080 to U+009F, which some terminals obey.
    if (byte == 0xC2 && static_cast<std::uint8_t>(text[i + 1]) < 0xA0) return false;
  }
  return true;
}

}  // namespace weir::rule
