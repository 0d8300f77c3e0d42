#include "rule/network_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace weir::rule {
namespace {

class RandomNetworks {
 public:
  explicit RandomNetworks(unsigned seed) : random_(seed) {}

  // Of few different beginnings, so that addresses and networks meet.
  Address NextAddress() {
    Address::Bytes bytes{};
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_() % 3 * 0x55);
    if (random_() % 2 == 0) {
      std::fill_n(bytes.begin(), 10, std::uint8_t{0});
      bytes[10] = bytes[11] = 0xFF;
    }
    return Address(bytes);
  }
  Network NextNetwork() {
    const Address address = NextAddress();
    const unsigned whole = address.is_v4() ? 32 : 128;
    return {address, static_cast<unsigned>(random_() % (random_() % 2 == 0 ? 20 : whole + 1))};
  }

 private:
  std::mt19937 random_;
};

TEST(NetworkTableTest, FindsTheNetworksThatHoldAnAddressAndRulesOutNoneByHowItBegins) {
  std::size_t ruled_out = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomNetworks random(seed);
    NetworkTable networks;
    LiteralTable::Builder literals;
    std::vector<Network> all;
    for (std::uint32_t i = 0; i < 1 + seed % 5; ++i) {
      all.push_back(random.NextNetwork());
      networks.Add(all.back(), i, literals);
    }
    const LiteralTable table = std::move(literals).Build();
    for (int i = 0; i < 200; ++i) {
      const Address address = random.NextAddress();
      std::vector<std::uint32_t> holding;
      for (std::uint32_t n = 0; n < all.size(); ++n) {
        if (all[n].Contains(address)) holding.push_back(n);
      }
      Hits hits;
      networks.Find(table, address, hits);
      std::sort(hits.begin(), hits.end());
      ASSERT_EQ(std::vector<std::uint32_t>(hits.begin(), hits.end()), holding)
          << address.ToString();
      if (networks.MayHold(address)) continue;
      ASSERT_TRUE(holding.empty()) << address.ToString();
      ++ruled_out;
    }
  }
  EXPECT_GT(ruled_out, 10'000U);
}

}  // namespace
}  // namespace weir::rule
