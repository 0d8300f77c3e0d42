#include "wire/percent.h"

#include "wire/hex.h"

namespace weir::wire {
namespace {

// The next byte that `text` stands for, which is taken; nothing if it is wrong. REQUIRES: not
// empty.
std::optional<char> TakeByte(std::string_view& text, Plus plus) {
  const char c = text.front();
  if (c != '%') {
    text.remove_prefix(1);
    return c == '+' && plus == Plus::kBlank ? ' ' : c;
  }
  if (text.size() < 3) return std::nullopt;
  const std::optional<char> byte = HexByte(text[1], text[2]);
  text.remove_prefix(3);
  return byte;
}

}  // namespace

std::optional<std::string_view> PercentDecode(std::string_view text, Plus plus,
                                              std::string& storage) {
  const std::size_t first = plus == Plus::kBlank ? text.find_first_of("%+") : text.find('%');
  if (first == std::string_view::npos) return text;
  storage.assign(text.substr(0, first));
  text.remove_prefix(first);
  while (!text.empty()) {
    const std::optional<char> byte = TakeByte(text, plus);
    if (!byte) return std::nullopt;
    storage += *byte;
  }
  return storage;
}

bool PercentDecodesTo(std::string_view encoded, Plus plus, std::string_view plain) {
  while (!encoded.empty() && !plain.empty()) {
    if (TakeByte(encoded, plus) != plain.front()) return false;
    plain.remove_prefix(1);
  }
  return encoded.empty() && plain.empty();
}

}  // namespace weir::wire
