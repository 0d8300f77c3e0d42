#include "base/core_counters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace weir {
namespace {

TEST(CoreCountersTest, EveryLineHasAPlaceOfItsOwnAndPadsDouble) {
  std::uint32_t number = 0;
  for (std::uint32_t pad = 0; pad < 6; ++pad) {
    for (std::uint32_t place = 0; place < 256U << pad; ++place, ++number) {
      const CoreCounters::Line line = CoreCounters::LineOf(number);
      ASSERT_EQ(line.pad, pad) << number;
      ASSERT_EQ(line.place, place) << number;
    }
  }
  const CoreCounters::Line last = CoreCounters::LineOf(UINT32_MAX);
  EXPECT_EQ(last.pad, 24U);
  EXPECT_EQ(last.place, 255U);
}

TEST(CoreCountersTest, AColumnOfALineCountsByItself) {
  CoreCounters counters;
  const CoreCounters::Line first = CoreCounters::LineOf(0);
  const CoreCounters::Line far = CoreCounters::LineOf(10'000);
  counters.Add(first, 0);
  counters.Add(first, 7, 5);
  counters.Add(far, 7);
  EXPECT_EQ(counters.Read(first), (CoreCounters::Sums{1, 0, 0, 0, 0, 0, 0, 5}));
  EXPECT_EQ(counters.Read(far), (CoreCounters::Sums{0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(counters.Read(CoreCounters::LineOf(1)), CoreCounters::Sums{});
}

TEST(CoreCountersTest, AThreadMayCountInACellOfItsOwnWithoutLookingForIt) {
  CoreCounters counters;
  const CoreCounters::Line near = CoreCounters::LineOf(0);
  const CoreCounters::Line far = CoreCounters::LineOf(10'000);
  for (const CoreCounters::Line line : {near, far}) {
    CoreCounters::Cell* const cell = counters.CellOf(line, 2);
    ASSERT_NE(cell, nullptr);
    for (int i = 0; i < 3; ++i) CoreCounters::AddOne(*cell);
  }
  counters.Add(near, 2);
  std::thread([&] { CoreCounters::AddOne(*counters.CellOf(far, 2)); }).join();
  EXPECT_EQ(counters.Read(near)[2], 4U);
  EXPECT_EQ(counters.Read(far)[2], 4U);
  EXPECT_EQ(counters.Read(CoreCounters::LineOf(1)), CoreCounters::Sums{});
}

TEST(CoreCountersTest, CountersOfDifferentObjectsAreApart) {
  CoreCounters one;
  CoreCounters other;
  one.Add(CoreCounters::LineOf(3), 2);
  EXPECT_EQ(other.Read(CoreCounters::LineOf(3)), CoreCounters::Sums{});
}

TEST(CoreCountersConcurrentTest, NothingThatThreadsCountIsLost) {
  constexpr std::uint64_t kEach = 20'000;
  constexpr int kThreads = 8;
  CoreCounters counters;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t k = 0; k < kEach; ++k) {
          counters.Add(CoreCounters::LineOf(static_cast<std::uint32_t>(k % 1000)), k % 8);
        }
      });
    }
    // Read while it is counted: never more than all of it.
    EXPECT_LE(counters.Read(CoreCounters::LineOf(1))[1], kThreads * kEach);
  }
  std::uint64_t sum = 0;
  for (std::uint32_t line = 0; line < 1000; ++line) {
    for (const std::uint64_t count : counters.Read(CoreCounters::LineOf(line))) sum += count;
  }
  EXPECT_EQ(sum, kThreads * kEach);
}

TEST(CoreCountersConcurrentTest, AThreadThatEndsLeavesItsCountsAndItsNumber) {
  CoreCounters counters;
  std::uint32_t highest = 0;
  for (int i = 0; i < 2000; ++i) {
    std::thread([&] {
      counters.Add(CoreCounters::LineOf(0), 0);
      highest = std::max(highest, ThreadNumber::Mine());
    }).join();
  }
  EXPECT_EQ(counters.Read(CoreCounters::LineOf(0))[0], 2000U);
  EXPECT_LT(highest, 100U) << "numbers are used again";
}

TEST(CoreCountersConcurrentTest, MoreThreadsThanNumbersShareOneAndLoseNothing) {
  constexpr std::uint64_t kThreads = ThreadNumber::kShared + 40;
  CoreCounters counters;
  std::atomic<std::uint64_t> here{0};
  std::atomic<std::uint64_t> sharing{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        if (ThreadNumber::Mine() == ThreadNumber::kShared) ++sharing;
        ++here;
        here.notify_all();
        // All of them live at once.
        for (auto seen = here.load(); seen < kThreads; seen = here.load()) here.wait(seen);
        for (int k = 0; k < 100; ++k) counters.Add(CoreCounters::LineOf(0), 0);
      });
    }
  }
  EXPECT_GE(sharing, 40U);
  EXPECT_EQ(counters.Read(CoreCounters::LineOf(0))[0], kThreads * 100);
}

}  // namespace
}  // namespace weir
