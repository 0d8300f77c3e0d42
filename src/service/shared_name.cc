#include "service/shared_name.h"

#include <openssl/sha.h>

#include <array>
#include <string_view>

#include "base/hex.h"

namespace weir {
namespace {

constexpr std::size_t kLongestValues = 128;  // bytes; longer ones become a digest

// What could be taken for something else in the name, or not be read on a terminal.
bool IsPlain(char c) {
  return c > ' ' && c <= '~' && std::string_view("{}|%").find(c) == std::string_view::npos;
}

void AppendValue(std::string_view value, std::string& out) {
  for (const char c : value) {
    if (IsPlain(c)) {
      out += c;
    } else {
      out += '%';
      AppendHex(static_cast<std::uint8_t>(c), out);
    }
  }
}

}  // namespace

void SharedName::AppendTo(std::string& out) const {
  out += '{';
  out += space->name();
  out += '/';
  out += rule->rule->name;
  out += ':';
  AppendHex(counter->id ^ salt, out);
  out += ':';
  const std::size_t begin = out.size();
  for (const rule::CompiledKeyPart& part : counter->key) {
    if (out.size() != begin) out += '|';
    if (part.is_address) {
      const rule::Address& ip = *values->ip();
      out += ip.Masked(ip.is_v4() ? part.bits.v4 : part.bits.v6).ToString();
    } else {
      AppendValue((*values)[part.attribute], out);
    }
  }
  if (out.size() - begin > kLongestValues) {
    const std::string_view whole = std::string_view(out).substr(begin);
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(whole.data()), whole.size(), digest.data());
    out.resize(begin);
    out += '%';  // no value looks like this
    AppendHex(digest, out);
  }
  out += "}:";
  out += std::to_string(limit);
}

}  // namespace weir
