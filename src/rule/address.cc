#include "rule/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace weir::rule {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
constexpr unsigned kMappedBits = 96;

}  // namespace

std::optional<Address> Address::Parse(std::string_view text) {
  if (text.empty() || text.size() > kLongestText) return std::nullopt;
  if (text.find('\0') != std::string_view::npos) return std::nullopt;  // inet_pton would stop there
  std::array<char, kLongestText + 1> terminated{};
  std::memcpy(terminated.data(), text.data(), text.size());
  Bytes bytes{};
  if (text.find(':') != std::string_view::npos) {
    if (inet_pton(AF_INET6, terminated.data(), bytes.data()) != 1) return std::nullopt;
  } else {
    std::copy(kMapped.begin(), kMapped.end(), bytes.begin());
    if (inet_pton(AF_INET, terminated.data(), bytes.data() + kMapped.size()) != 1) {
      return std::nullopt;
    }
  }
  return Address(bytes);
}

bool Address::is_v4() const { return std::equal(kMapped.begin(), kMapped.end(), bytes_.begin()); }

Address Address::Masked(unsigned bits) const {
  if (is_v4()) bits += kMappedBits;
  Address masked = *this;
  for (unsigned i = 0; i < masked.bytes_.size(); ++i) {
    const unsigned kept = bits > i * 8 ? std::min(bits - i * 8, 8U) : 0;
    masked.bytes_[i] &= static_cast<std::uint8_t>(0xFF00U >> kept);
  }
  return masked;
}

std::string Address::ToString() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (!is_v4()) return inet_ntop(AF_INET6, bytes_.data(), text.data(), text.size());
  // By hand: it is asked for with every request over HTTP, and inet_ntop would print it.
  char* end = text.data();
  for (std::size_t i = kMapped.size(); i < bytes_.size(); ++i) {
    if (i > kMapped.size()) *end++ = '.';
    const unsigned byte = bytes_[i];
    if (byte >= 100) *end++ = static_cast<char>('0' + byte / 100);
    if (byte >= 10) *end++ = static_cast<char>('0' + byte / 10 % 10);
    *end++ = static_cast<char>('0' + byte % 10);
  }
  return {text.data(), static_cast<std::size_t>(end - text.data())};
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
      address->is_v4() && text.find(':') != std::string_view::npos ? kMappedBits : 0;
  if (!bits || *bits < implied || *bits - implied > whole) return std::nullopt;
  const Network network(*address, static_cast<unsigned>(*bits) - implied);
  if (network.address() != *address) return std::nullopt;
  return network;
}

bool Network::Contains(const Address& address) const {
  if (address.is_v4() != address_.is_v4()) return false;
  const Address::Bytes& a = address.bytes();
  const Address::Bytes& b = address_.bytes();
  const unsigned whole = bits_ / 8;
  if (!std::equal(a.begin(), a.begin() + whole, b.begin())) return false;
  const unsigned rest = bits_ % 8;
  return rest == 0 || ((a[whole] ^ b[whole]) & static_cast<std::uint8_t>(0xFF00U >> rest)) == 0;
}

std::string Network::ToString() const {
  const unsigned bits = address_.is_v4() ? bits_ - kMappedBits : bits_;
  return address_.ToString() + "/" + std::to_string(bits);
}

}  // namespace weir::rule
