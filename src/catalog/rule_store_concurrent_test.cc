// Several servers and editors at once on one database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

#include "catalog/rule_store.h"
#include "tests/rule_database.h"

namespace weir::catalog {
namespace {

using std::chrono::milliseconds;

// Runs `work(i)` in so many threads, which begin at the same moment.
template <typename Work>
void AtOnce(int threads, Work work) {
  std::barrier start(threads);
  std::vector<std::jthread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&start, &work, i] {
      start.arrive_and_wait();
      work(i);
    });
  }
}

class RuleStoreConcurrentTest : public testing::TestWithParam<Engine> {};

INSTANTIATE_TEST_SUITE_P(Sqlite, RuleStoreConcurrentTest, testing::Values(Engine::kSqlite));
INSTANTIATE_TEST_SUITE_P(Postgres, RuleStoreConcurrentTest, testing::Values(Engine::kPostgres));

TEST_P(RuleStoreConcurrentTest, ServersThatStartAtOnceOnAnEmptyDatabaseAllComeUp) {
  for (int round = 0; round < 5; ++round) {
    const RuleDatabase database(GetParam());
    AtOnce(4, [&](int i) {
      const auto store = RuleStore::Open(database.url());
      ASSERT_TRUE(store.ok()) << store.error().message;
      RevisionOf((*store)->Apply({{"shop", std::to_string(i), "text", 0}}, {}));
    });
    EXPECT_EQ(database.Open()->ReadAll()->rules.size(), 4U);
    EXPECT_EQ(WhatIsWrongWith(database.url()), "");
  }
}

TEST_P(RuleStoreConcurrentTest, OfEditsFromTheSameVersionExactlyOneWins) {
  constexpr int kEditors = 4;
  constexpr int kRounds = 10;
  const RuleDatabase database(GetParam());
  std::vector<std::unique_ptr<RuleStore>> stores;
  for (int i = 0; i < kEditors; ++i) stores.push_back(database.Open());
  Revision in_force = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<StoreResult<Revision>> results(kEditors);
    AtOnce(kEditors, [&](int i) {
      const std::string text = std::to_string(round) + " of " + std::to_string(i);
      results[static_cast<std::size_t>(i)] =
          stores[static_cast<std::size_t>(i)]->Apply({{"shop", "login", text, in_force}}, {});
    });
    int winners = 0;
    for (const StoreResult<Revision>& result : results) {
      if (std::holds_alternative<Revision>(result)) {
        ++winners;
      } else {
        ASSERT_TRUE(std::holds_alternative<Conflict>(result)) << MessageOf(result);
        EXPECT_EQ(std::get<Conflict>(result).made_from, in_force);
        EXPECT_EQ(std::get<Conflict>(result).in_force, in_force + 1);
      }
    }
    EXPECT_EQ(winners, 1);
    ++in_force;
  }
  EXPECT_EQ(WhatIsWrongWith(database.url()), "");
}

TEST_P(RuleStoreConcurrentTest, AReaderNeverMissesAChangeBeforeOneItHasSeen) {
  constexpr int kWriters = 3;
  constexpr int kChanges = 15;
  const RuleDatabase database(GetParam());
  const std::unique_ptr<RuleStore> reader = database.Open();
  std::atomic<int> writing = kWriters;
  std::jthread writers([&] {
    AtOnce(kWriters, [&](int i) {
      const std::unique_ptr<RuleStore> store = database.Open();
      for (int change = 0; change < kChanges; ++change) {
        const std::string text = std::to_string(change);
        RevisionOf(store->Apply({{"shop", std::to_string(i), text, std::nullopt}}, {}));
      }
      --writing;
    });
  });
  bool last_look = false;
  Revision seen = 0;
  while (!last_look) {
    last_look = writing == 0;
    const std::vector<Change> history = reader->History("shop", "", 1000).value();
    if (history.empty()) continue;
    // As many changes as the youngest has as its number: none is missing that appears later.
    ASSERT_EQ(static_cast<Revision>(history.size()), history.front().revision);
    ASSERT_GE(history.front().revision, seen);
    seen = history.front().revision;
    ASSERT_GE(reader->Latest().value(), seen);
    const auto all = reader->ReadAll().value();
    for (const StoredRule& rule : all.rules) ASSERT_LE(rule.revision, all.revision);
  }
  EXPECT_EQ(seen, kWriters * kChanges);
}

TEST_P(RuleStoreConcurrentTest, AWaitIsEndedByAnotherThread) {
  const RuleDatabase database(GetParam());
  const std::unique_ptr<RuleStore> store = database.Open();
  while (store->WaitForChange(milliseconds(0)).value()) {
  }
  std::jthread other([&] { store->Wake(); });
  EXPECT_FALSE(store->WaitForChange(std::chrono::hours(1)).value());
}

TEST(PostgresConcurrentTest, AChangeIsHeardAtOnceByThoseWhoWait) {
  const RuleDatabase database(Engine::kPostgres);
  const std::unique_ptr<RuleStore> waiting = database.Open();
  EXPECT_TRUE(waiting->WaitForChange(std::chrono::hours(1)).value()) << "nobody listened until now";
  EXPECT_FALSE(waiting->WaitForChange(milliseconds(0)).value());
  std::jthread other([&] {
    RevisionOf(database.Open()->Apply({{"shop", "login", "5/min", 0}}, {}));
  });
  EXPECT_TRUE(waiting->WaitForChange(std::chrono::hours(1)).value());
  EXPECT_EQ(waiting->Latest().value(), 1);
}

}  // namespace
}  // namespace weir::catalog
