#include "service/shared_name.h"

#include <openssl/sha.h>

#include <array>
#include <string_view>

#include "base/hex.h"

namespace weir {
namespace {

constexpr std::size_t kLongestValues = 128;  // bytes; longer ones become a digest

// What could be taken for something else in the name, or not be read on a terminal.
constexpr std::string_view kSpecial = "{}|%";
// Domains of Envoy's may be any text; behind their end comes a rule, or '*'.
constexpr std::string_view kSpecialInSpaces = "{}|%*";

void AppendText(std::string_view value, std::string_view special, std::string& out) {
  for (const char c : value) {
    if (c > ' ' && c <= '~' && special.find(c) == std::string_view::npos) {
      out += c;
    } else {
      out += '%';
      AppendHex(static_cast<std::uint8_t>(c), out);
    }
  }
}

}  // namespace

void SharedName::AppendValues(std::string& out) const {
  if (values == nullptr) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i != 0) out += '|';
      AppendText(texts[i], kSpecial, out);
    }
    return;
  }
  const std::size_t begin = out.size();
  for (const rule::CompiledKeyPart& part : counter->key) {
    if (out.size() != begin) out += '|';
    if (part.is_address) {
      const rule::Address& ip = *values->ip();
      out += ip.Masked(ip.is_v4() ? part.bits.v4 : part.bits.v6).ToString();
    } else {
      AppendText((*values)[part.attribute], kSpecial, out);
    }
  }
}

void SharedName::AppendTo(std::string& out) const {
  out += '{';
  AppendText(space->name(), kSpecialInSpaces, out);
  out += '/';
  if (rule != nullptr) {
    out += rule->rule->name;
    out += ':';
    AppendHex(counter->id ^ salt, out);
  } else {
    out += "*:";
    out += unit;
  }
  out += ':';
  const std::size_t begin = out.size();
  AppendValues(out);
  if (out.size() - begin > kLongestValues) {
    const std::string_view whole = std::string_view(out).substr(begin);
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(whole.data()), whole.size(), digest.data());
    out.resize(begin);
    out += "%%";  // no value looks like this
    AppendHex(digest, out);
  }
  out += "}:";
  out += std::to_string(limit);
}

}  // namespace weir
