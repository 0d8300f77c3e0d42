// Internet addresses and networks of them.
//
// An IPv4 address is kept as the IPv6 address it is mapped to (::ffff:a.b.c.d), so that there is
// one kind of address, and a client is the same client whichever way it is written.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "rule/address_text.h"

namespace weir::rule {

static_assert(std::endian::native == std::endian::little);

class Address {
 public:
  using Bytes = std::array<std::uint8_t, 16>;
  static constexpr std::size_t kLongestText = kLongestAddressText;

  Address() = default;  // ::
  explicit Address(const Bytes& bytes) : bytes_(bytes) {}

  // "10.1.2.3", "2001:db8::1", "::ffff:10.1.2.3". No port, no brackets, no zone, no leading zeros
  // in IPv4 (some read them as octal).
  static std::optional<Address> Parse(std::string_view text);
  // The same for IPv4 alone, which is written in one way only: as Write() does. False if it is
  // none, and `address` is undefined then.
  static bool ParseV4(std::string_view text, Address& address) {
    address.bytes_ = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    return ReadIpv4(text, address.bytes_.data() + kMappedBits / 8);
  }

  [[nodiscard]] bool is_v4() const { return word(0) == 0 && word(1) >> 32 == 0xFFFF; }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  // The address with all but the first `bits` cleared. Bits of IPv4 count from 0 to 32.
  [[nodiscard]] Address Masked(unsigned bits) const {
    return bits >= (is_v4() ? 32U : 128U) ? *this : Cut(bits);
  }
  [[nodiscard]] std::string ToString() const;
  // The same, where the caller says. Returns where it ends. REQUIRES: room for kLongestText.
  char* Write(char* to) const;

  auto operator<=>(const Address&) const = default;

 private:
  friend class Network;

  static constexpr unsigned kMappedBits = 96;  // in front of an address of IPv4

  [[nodiscard]] Address Cut(unsigned bits) const;

  // Those of the first `bits` of an address that lie in one of its halves.
  static constexpr std::uint64_t FirstBits(unsigned bits, unsigned half) {
    const unsigned here = bits - std::min(bits, 64 * half);
    return here == 0 ? 0 : ~std::uint64_t{0} << (64 - std::min(here, 64U));
  }
  // The first or second half as a number, to be compared and masked without a loop over its bytes.
  [[nodiscard]] std::uint64_t word(std::size_t half) const {
    return __builtin_bswap64(raw_word(half));
  }
  [[nodiscard]] std::uint64_t raw_word(std::size_t half) const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + half * sizeof word, sizeof word);
    return word;
  }

  Bytes bytes_{};
};

// "10.0.0.0/8", "2001:db8::/32", or an address alone. A network of IPv6 holds no IPv4: "::/0" is
// all of IPv6, "0.0.0.0/0" (or "::ffff:0:0/96") all of IPv4.
class Network {
 public:
  // Fails on bits beyond the prefix ("10.1.0.0/8"), which are most likely a mistake.
  static std::optional<Network> Parse(std::string_view text);
  // REQUIRES: bits <= 32 for IPv4, 128 for IPv6
  Network(const Address& address, unsigned bits)
      : address_(address.Masked(bits)),
        bits_(bits + (address.is_v4() ? Address::kMappedBits : 0)),
        masks_{__builtin_bswap64(Address::FirstBits(bits_, 0)),
               __builtin_bswap64(Address::FirstBits(bits_, 1))} {}

  [[nodiscard]] bool Contains(const Address& address) const {
    const std::uint64_t differ = ((address.raw_word(0) ^ address_.raw_word(0)) & masks_[0]) |
                                 ((address.raw_word(1) ^ address_.raw_word(1)) & masks_[1]);
    return differ == 0 && (bits_ >= Address::kMappedBits || !address.is_v4());
  }
  [[nodiscard]] const Address& address() const { return address_; }
  // Of the 128 of an IPv6 address, for IPv4 too.
  [[nodiscard]] unsigned bits() const { return bits_; }
  [[nodiscard]] std::string ToString() const;

  bool operator==(const Network&) const = default;

 private:
  Address address_;
  unsigned bits_;
  std::array<std::uint64_t, 2> masks_;  // for the halves of an address, as they lie in memory
};

}  // namespace weir::rule
