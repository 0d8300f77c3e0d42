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

  // Apart, because a network of IPv6 holds no IPv4, however wide it is.
  std::vector<Length> v4_;
  std::vector<Length> v6_;
};

}  // namespace weir::rule
