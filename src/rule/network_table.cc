#include "rule/network_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

namespace weir::rule {
namespace {

static_assert(std::endian::native == std::endian::little);

// The address as two words, to be masked without a loop over its bytes.
struct Words {
  explicit Words(const Address& address) {
    std::memcpy(halves.data(), address.bytes().data(), sizeof halves);
    for (std::uint64_t& half : halves) half = __builtin_bswap64(half);
  }
  [[nodiscard]] Words Masked(const std::array<std::uint64_t, 2>& mask) const {
    Words masked = *this;
    masked.halves[0] &= mask[0];
    masked.halves[1] &= mask[1];
    return masked;
  }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(halves.data()), sizeof halves};
  }
  // One of 64 bits.
  [[nodiscard]] std::uint64_t Mark() const {
    return std::uint64_t{1} << ((halves[0] ^ halves[1]) * 0x9E3779B97F4A7C15 >> 58);
  }
  static std::uint64_t FirstBits(unsigned bits) {
    return bits == 0 ? 0 : ~std::uint64_t{0} << (64 - bits);
  }

  std::array<std::uint64_t, 2> halves{};
};

}  // namespace

void NetworkTable::Add(const Network& network, std::uint32_t number,
                       LiteralTable::Builder& literals) {
  std::vector<Length>& lengths = network.address().is_v4() ? v4_ : v6_;
  auto length = std::find_if(lengths.begin(), lengths.end(),
                             [&](const Length& l) { return l.bits == network.bits(); });
  if (length == lengths.end()) {
    const unsigned bits = network.bits();
    length = lengths.insert(length, {bits,
                                     {Words::FirstBits(std::min(bits, 64U)),
                                      Words::FirstBits(bits > 64 ? bits - 64 : 0)},
                                     literals.NewSet()});
  }
  const Words words(network.address());
  length->marks |= words.Mark();
  literals.Add(length->set, words.text(), number);
  NoteBeginnings(network);
}

void NetworkTable::NoteBeginnings(const Network& network) {
  constexpr unsigned kMappedBits = 96;  // in front of an address of IPv4
  const bool is_v4 = network.address().is_v4();
  Beginnings& beginnings = is_v4 ? v4_beginnings_ : v6_beginnings_;
  beginnings.resize((std::size_t{1} << kBeginningBits) / 64);
  const unsigned bits = network.bits() - (is_v4 ? kMappedBits : 0);
  const unsigned first = BeginningOf(network.address(), is_v4);
  const unsigned count = 1U << (kBeginningBits - std::min(bits, kBeginningBits));
  for (unsigned beginning = first; beginning < first + count; ++beginning) {
    beginnings[beginning / 64] |= std::uint64_t{1} << beginning % 64;
  }
}

void NetworkTable::Find(const LiteralTable& table, const Address& address, Hits& hits) const {
  const Words words(address);
  for (const Length& length : address.is_v4() ? v4_ : v6_) {
    const Words masked = words.Masked(length.mask);
    if ((length.marks & masked.Mark()) == 0) continue;
    table.Append(table.Find(length.set, masked.text()).packed, hits);
  }
}

}  // namespace weir::rule
