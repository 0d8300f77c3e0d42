// Many networks at once: one look into the literal table per length of prefix that occurs.
//
// Thread safety: a finished table is never changed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rule/address.h"
#include "rule/literal_table.h"

namespace weir::rule {

class NetworkTable {
 public:
  // REQUIRES: before the literals are built
  void Add(const Network& network, std::uint32_t number, LiteralTable::Builder& literals);

  [[nodiscard]] bool empty() const { return v4_.empty() && v6_.empty(); }
  // False if none does. By how it begins, which is enough for most that are in none.
  [[nodiscard]] bool MayHold(const Address& address) const {
    const bool is_v4 = address.is_v4();
    const Beginnings& beginnings = is_v4 ? v4_beginnings_ : v6_beginnings_;
    if (beginnings.empty()) return false;
    const unsigned beginning = BeginningOf(address, is_v4);
    return (beginnings[beginning / 64] >> beginning % 64 & 1) != 0;
  }
  // Adds the numbers of the networks that hold the address.
  void Find(const LiteralTable& table, const Address& address, Hits& hits) const;

 private:
  // The networks with so many bits, of the 128 of IPv6.
  struct Length {
    unsigned bits;
    std::array<std::uint64_t, 2> mask;  // of so many bits
    LiteralTable::SetNumber set;
    std::uint64_t marks = 0;  // a bit for each of them: most addresses are in none
  };

  // A bit for each 16 bits that an address in one of them begins with; none if there are none.
  using Beginnings = std::vector<std::uint64_t>;
  static constexpr unsigned kBeginningBits = 16;
  static unsigned BeginningOf(const Address& address, bool is_v4) {
    const std::uint8_t* const first = address.bytes().data() + (is_v4 ? 12 : 0);
    return unsigned{first[0]} << 8 | first[1];
  }
  void NoteBeginnings(const Network& network);

  // Apart, because a network of IPv6 holds no IPv4, however wide it is.
  std::vector<Length> v4_;
  std::vector<Length> v6_;
  Beginnings v4_beginnings_;
  Beginnings v6_beginnings_;
};

}  // namespace weir::rule
