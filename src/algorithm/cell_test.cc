#include "algorithm/cell.h"

#include <gtest/gtest.h>

namespace weir::algorithm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kStart{seconds(1'780'315'200)};

// The golden table of redis-cell: 5 at once, 1 per second.
TEST(CellTest, AnswersAsRedisCellDoes) {
  struct Row {
    milliseconds now;
    std::uint64_t cost;
    std::uint64_t remaining;
    milliseconds reset;
    milliseconds retry;
    Verdict verdict;
  };
  constexpr auto kAllow = Verdict::kAllow;
  constexpr auto kDeny = Verdict::kDeny;
  const Row rows[] = {
      {milliseconds(0), 1, 4, seconds(1), seconds(0), kAllow},
      {milliseconds(0), 1, 3, seconds(2), seconds(0), kAllow},
      {milliseconds(0), 1, 2, seconds(3), seconds(0), kAllow},
      {milliseconds(0), 1, 1, seconds(4), seconds(0), kAllow},
      {milliseconds(0), 1, 0, seconds(5), seconds(0), kAllow},
      {milliseconds(0), 1, 0, seconds(5), seconds(1), kDeny},
      {milliseconds(3000), 1, 2, seconds(3), seconds(0), kAllow},
      {milliseconds(3100), 1, 1, milliseconds(3900), seconds(0), kAllow},
      {milliseconds(4000), 1, 1, seconds(4), seconds(0), kAllow},
      {milliseconds(8000), 1, 4, seconds(1), seconds(0), kAllow},
      {milliseconds(9500), 1, 4, seconds(1), seconds(0), kAllow},
      {milliseconds(9500), 0, 4, seconds(1), seconds(0), kAllow},
      {milliseconds(9500), 2, 2, seconds(3), seconds(0), kAllow},
      {milliseconds(9500), 5, 2, seconds(3), seconds(3), kDeny},
  };
  const Cell cell = Cell::Of(Permits{5}, Permits{1}, seconds(1)).value();
  std::uint64_t word = 0;
  for (const Row& row : rows) {
    const Decision decision = cell.Admit(word, Permits{row.cost}, kStart + row.now);
    EXPECT_EQ(decision.verdict, row.verdict);
    EXPECT_EQ(decision.remaining.count, row.remaining);
    EXPECT_EQ(decision.reset_after, row.reset);
    EXPECT_EQ(decision.retry_after, row.retry);
  }
  EXPECT_EQ(cell.Admit(word, Permits{6}, kStart).verdict, Verdict::kNever);
}

TEST(CellTest, RatesFarAboveAThousandPerSecondAreEnforced) {
  for (const std::uint64_t rate : {2'000ULL, 600'000ULL, 30'000'000ULL}) {
    const Cell cell = Cell::Of(Permits{2}, Permits{rate}, seconds(1)).value();
    std::uint64_t word = 0;
    std::uint64_t admitted = 0;
    const std::uint64_t offers = 10 * rate / 100;  // for a hundredth of a second
    for (std::uint64_t i = 0; i < offers; ++i) {
      const auto now = Nanos(static_cast<std::int64_t>(i * 10'000'000 / offers));
      if (cell.Admit(word, Permits{1}, kStart + now)) ++admitted;
    }
    EXPECT_LE(admitted, rate / 100 + 2) << rate;
    EXPECT_GE(admitted, rate / 100 * 98 / 100) << rate;
  }
}

TEST(CellTest, AtRetryAfterItSucceedsAndANanosecondEarlierItDoesNot) {
  const Cell cell = Cell::Of(Permits{2}, Permits{3}, seconds(1)).value();
  std::uint64_t word = 0;
  EXPECT_TRUE(cell.Admit(word, Permits{2}, kStart));
  const Decision denied = cell.Admit(word, Permits{1}, kStart);
  std::uint64_t early = word;
  EXPECT_FALSE(cell.Admit(early, Permits{1}, kStart + denied.retry_after - Nanos(1)));
  EXPECT_TRUE(cell.Admit(word, Permits{1}, kStart + denied.retry_after));
}

TEST(CellTest, AnotherLimitReadsTheSameWord) {
  std::uint64_t word = 0;
  EXPECT_TRUE(
      Cell::Of(Permits{1}, Permits{1}, seconds(10)).value().Admit(word, Permits{1}, kStart));
  const Decision other =
      Cell::Of(Permits{20}, Permits{1}, seconds(1)).value().Admit(word, Permits{0}, kStart);
  EXPECT_EQ(other.remaining.count, 10U);
  EXPECT_EQ(Cell::ForgottenIn(word, kStart), seconds(10));
  EXPECT_EQ(Cell::ForgottenIn(word, kStart + seconds(10)), Nanos(0));
}

TEST(CellTest, NothingOverflows) {
  const Cell huge = Cell::Of(Permits{UINT64_MAX}, Permits{1}, Nanos::max() / 64).value();
  std::uint64_t word = 0;
  const Decision decision = huge.Admit(word, Permits{UINT64_MAX}, kStart);
  EXPECT_EQ(decision.verdict, Verdict::kDeny);  // the arithmetic does not reach that far
  EXPECT_EQ(word, 0U);
  const Cell fast = Cell::Of(Permits{1}, Permits{UINT64_MAX}, Nanos(1)).value();
  EXPECT_TRUE(fast.Admit(word, Permits{1}, kStart));
  EXPECT_FALSE(Cell::Of(Permits{0}, Permits{1}, seconds(1)).ok());
  EXPECT_FALSE(Cell::Of(Permits{1}, Permits{0}, seconds(1)).ok());
  EXPECT_FALSE(Cell::Of(Permits{1}, Permits{1}, seconds(0)).ok());
}

}  // namespace
}  // namespace weir::algorithm
