#include "base/published.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace weir {
namespace {

// Says how many there are, and notices if it is used when it is gone.
struct Counted {
  Counted(int n, std::atomic<int>& living) : first(n), second(n), alive(living) { ++alive; }
  ~Counted() {
    first = -1;
    second = -2;
    --alive;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  int first;
  int second;
  std::atomic<int>& alive;
};

TEST(PublishedTest, AReaderKeepsWhatItReadsAndTheNextOneGetsTheNewValue) {
  std::atomic<int> alive{0};
  Published<Counted> published(std::make_unique<const Counted>(1, alive));
  {
    const auto old = published.Read();
    published.Publish(std::make_unique<const Counted>(2, alive));
    EXPECT_EQ(old->first, 1);
    EXPECT_EQ(published.Read()->first, 2);
    EXPECT_EQ(alive, 2);
    EXPECT_EQ(published.replaced(), 1U);
  }
  published.Publish(std::make_unique<const Counted>(3, alive));
  EXPECT_EQ(published.replaced(), 0U);
  EXPECT_EQ(alive, 1);
}

TEST(PublishedTest, AsManyMayReadAtATimeAsLike) {
  std::atomic<int> alive{0};
  Published<Counted> published(std::make_unique<const Counted>(1, alive));
  std::vector<Published<Counted>::Reading> readings;
  for (int i = 0; i < 1000; ++i) readings.push_back(published.Read());
  published.Publish(std::make_unique<const Counted>(2, alive));
  EXPECT_EQ(readings.back()->first, 1);
  EXPECT_EQ(alive, 2);
  readings.clear();
  published.Publish(std::make_unique<const Counted>(3, alive));
  EXPECT_EQ(alive, 1);
}

TEST(PublishedTest, WhatWasReadLongAgoAndStillIsKeepsNobodyElseFromReading) {
  std::atomic<int> alive{0};
  Published<Counted> published(std::make_unique<const Counted>(1, alive));
  // So many that going through all of them for each reader would take minutes.
  std::vector<Published<Counted>::Reading> held;
  for (int i = 0; i < 50'000; ++i) held.push_back(published.Read());
  for (int i = 0; i < 1'000'000; ++i) ASSERT_EQ(published.Read()->first, 1);
  for (int i = 0; i < 25'000; ++i) held.pop_back();
  for (int i = 0; i < 25'000; ++i) held.push_back(published.Read());
  published.Publish(std::make_unique<const Counted>(2, alive));
  EXPECT_EQ(alive, 2);
  held.clear();
  published.Publish(std::make_unique<const Counted>(3, alive));
  EXPECT_EQ(alive, 1);
}

TEST(PublishedTest, OneThatTakesThePlaceOfAnotherInMemoryIsAnother) {
  std::atomic<int> alive{0};
  std::optional<Published<Counted>> published;
  for (int round = 0; round < 3; ++round) {
    published.emplace(std::make_unique<const Counted>(round, alive));
    std::vector<Published<Counted>::Reading> readings;
    for (int i = 0; i < 200; ++i) readings.push_back(published->Read());
    EXPECT_EQ(readings.back()->first, round);
  }
}

TEST(ConcurrentPublishedTest, NobodyEverReadsHalfAValueOrOneThatIsGone) {
  std::atomic<int> alive{0};
  std::atomic<bool> over{false};
  {
    Published<Counted> published(std::make_unique<const Counted>(0, alive));
    std::vector<std::thread> readers;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 3; ++t) {
      readers.emplace_back([&] {
        int last = 0;
        while (!over) {
          const auto value = published.Read();
          if (value->first != value->second || value->first < last) ++wrong;
          last = value->first;
        }
      });
    }
    for (int i = 1; i <= 3000; ++i) published.Publish(std::make_unique<const Counted>(i, alive));
    over = true;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(published.Read()->first, 3000);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace weir
