#include "rule/address.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace weir::rule {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
}  // namespace

std::optional<Address> Address::Parse(std::string_view text) {
  if (text.size() > kLongestText) return std::nullopt;
  Bytes bytes{};
  std::copy(kMapped.begin(), kMapped.end(), bytes.begin());
  // What holds no colon is no address of IPv6, and what does is none of IPv4.
  if (!ReadIpv4(text, bytes.data() + kMapped.size()) && !ReadIpv6(text, bytes.data())) {
    return std::nullopt;
  }
  return Address(bytes);
}

Address Address::Cut(unsigned bits) const {
  if (is_v4()) bits += kMappedBits;
  const std::array<std::uint64_t, 2> words = {__builtin_bswap64(word(0) & FirstBits(bits, 0)),
                                              __builtin_bswap64(word(1) & FirstBits(bits, 1))};
  Address masked;
  std::memcpy(masked.bytes_.data(), words.data(), sizeof words);
  return masked;
}

char* Address::Write(char* to) const {
  return is_v4() ? WriteIpv4(bytes_.data() + kMapped.size(), to) : WriteIpv6(bytes_.data(), to);
}

std::string Address::ToString() const {
  std::array<char, kLongestText> text;
  return {text.data(), Write(text.data())};
}

std::optional<Network> Network::Parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::optional<Address> address = Address::Parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  const unsigned whole = address->is_v4() ? 32 : 128;
  if (slash == std::string_view::npos) return Network(*address, whole);
  const std::string_view digits = text.substr(slash + 1);
  if (digits.size() > 1 && digits.starts_with('0')) return std::nullopt;  // octal, for some
  const Result<std::uint64_t> bits = ParseCount(digits);
  // "::ffff:10.0.0.0/104" is written in the bits of IPv6.
  const unsigned implied =
      address->is_v4() && text.find(':') != std::string_view::npos ? Address::kMappedBits : 0;
  if (!bits || *bits < implied || *bits - implied > whole) return std::nullopt;
  const Network network(*address, static_cast<unsigned>(*bits) - implied);
  if (network.address() != *address) return std::nullopt;
  return network;
}

std::string Network::ToString() const {
  const unsigned bits = address_.is_v4() ? bits_ - Address::kMappedBits : bits_;
  return address_.ToString() + "/" + std::to_string(bits);
}

}  // namespace weir::rule
