// A flood of keys that were never seen before, fifty times what the table holds: memory stays what
// it was, and who is over its limit is not forgotten for it. `make flood` does the same to a
// running server, with a hundred million.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rule/rule_file.h"
#include "service/checker.h"

namespace weir {
namespace {

constexpr std::uint64_t kRoom = 100'000;
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kFlood = 1'000'000;  // each takes ten times as long
#elif defined(__has_feature)
constexpr std::uint64_t kFlood = __has_feature(address_sanitizer) ? 1'000'000 : 5'000'000;
#else
constexpr std::uint64_t kFlood = 5'000'000;
#endif
constexpr int kHonest = 100;
constexpr std::uint64_t kLimit = 10;
constexpr Instant kStart{std::chrono::hours(24 * 365 * 50)};

std::size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class FloodTest : public testing::Test {
 protected:
  FloodTest() {
    rule::Problems problems;
    auto set = rule::ReadRules(
        "namespace: default\nrules: [{name: user, by: [user], limit: token_bucket 10/1h}]",
        "test.yaml", problems);
    EXPECT_TRUE(checker_.Publish({std::move(*set)}, "test").empty());
  }
  bool Allows(const std::string& user, std::uint64_t cost, Instant now) {
    const rule::Attribute attributes[] = {{"user", user}};
    checker_.Check({.space = "default", .attributes = attributes, .cost = Permits{cost}}, now,
                   reply_);
    return reply_.allowed();
  }
  void Charge(const std::string& user, std::uint64_t cost) {
    const rule::Attribute attributes[] = {{"user", user}};
    checker_.Correct({.space = "default", .attributes = attributes}, Checker::Correction::kCharge,
                     Permits{cost}, kStart);
  }

  Checker checker_{std::move(Ledger::Open({.max_keys = kRoom})).value(), {}};
  CheckReply reply_;
};

TEST_F(FloodTest, MemoryStaysAndWhoIsOverItsLimitIsNotForgotten) {
  // What it may take: slots of 16 bytes, two of three in use, in large pages.
  constexpr std::size_t kPage = std::size_t{2} << 20;
  const std::size_t promised = (kRoom * 16 * 100 / 66 / kPage + 1) * kPage;
  EXPECT_LE(checker_.ledger().bytes(), promised);

  std::vector<std::string> honest(kHonest);
  std::vector<std::uint64_t> used(kHonest);
  for (int i = 0; i < kHonest; ++i) {
    honest[i] = "honest " + std::to_string(i);
    // From just short of its limit to far in debt.
    used[i] = kLimit - 1 + i % 10;
    Charge(honest[i], used[i]);
  }
  const std::size_t before = ResidentBytes();
  std::uint64_t flooded = 0;
  std::uint64_t forgotten = 0;
  for (std::uint64_t i = 0; i < kFlood; ++i) {
    // A million a second: nobody gets a permit back before it is over.
    const Instant now = kStart + std::chrono::microseconds(i);
    if (Allows("stranger " + std::to_string(i), 1, now)) ++flooded;
    if (i % 50'000 != 0) continue;
    for (int k = 0; k < kHonest; ++k) {
      if (!Allows(honest[k], 1, now)) continue;
      ++used[k];
      if (used[k] > kLimit) ++forgotten;
    }
  }
  EXPECT_EQ(flooded, kFlood) << "a stranger is within its limit";
  EXPECT_EQ(forgotten, 0U);
  for (int k = 0; k < kHonest; k += 10) {
    EXPECT_EQ(used[k], kLimit) << "the last permit was there for it";
  }
  EXPECT_GE(checker_.ledger().evicted(), kFlood - 2 * kRoom);
  EXPECT_LE(checker_.ledger().bytes(), promised);
  EXPECT_LE(ResidentBytes(), before + promised + (std::size_t{16} << 20));
}

}  // namespace
}  // namespace weir
