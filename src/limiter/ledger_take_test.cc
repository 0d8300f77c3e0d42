// Taking from several keys takes fewer steps where limits are simple. What is said must not tell.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "limiter/ledger.h"
#include "limiter/ledger_at_once.h"
#include "weir/keyed_limiter.h"
#include "weir/take_all.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr Instant kStart{hours(24 * 365 * 30)};
constexpr std::size_t kLimits = 3;
using Limits = std::array<const char*, kLimits>;

Limit LimitOf(const char* text) { return Limit::Parse(text).value(); }

// Buckets, windows of one word beside them and alone, and records of several words, which take the
// long way.
constexpr Limits kSets[] = {
    {"token_bucket 7/1s burst 3", "token_bucket 10/1s soft 20%",
     "leaky_bucket 5/1s queue 4 free 2"},
    {"token_bucket 7/1s burst 3", "sliding_window 10/1s", "fixed_window 9/1s"},
    {"fixed_window 9/1s", "sliding_window 8/1s soft 20%", "sliding_window 12/2s"},
    {"sliding_window 8/1s", "leaky_bucket 5/1s queue 4 free 2", "token_bucket 9/1s"},
    {"token_bucket 7/1s burst 3 initial 1", "token_bucket 10/1s", "token_bucket 9/2s initial 0"},
    {"sliding_log 8/1s", "sliding_window 10/1s", "token_bucket 7/1s burst 3"},
};

class LedgerTakeTest : public testing::TestWithParam<Limits> {};

void ExpectSame(const Decision& got, const Decision& expected) {
  EXPECT_EQ(got.verdict, expected.verdict);
  EXPECT_EQ(got.limit_index, expected.limit_index);
  EXPECT_EQ(got.remaining, expected.remaining);
  EXPECT_EQ(got.retry_after, expected.retry_after);
  EXPECT_EQ(got.reset_after, expected.reset_after);
  EXPECT_EQ(got.wait, expected.wait);
  EXPECT_EQ(got.grace, expected.grace);
}

TEST_P(LedgerTakeTest, SeveralLimitsSayWhatLimitersOfTheirOwnWouldSay) {
  const auto ledger = std::move(Ledger::Open({.max_keys = 1000})).value();
  std::vector<Ledger::LimitHandle> entered;
  std::vector<std::unique_ptr<KeyedLimiter>> own;
  for (const char* limit : GetParam()) {
    entered.push_back(ledger->Enter(LimitOf(limit)).value());
    own.push_back(std::make_unique<KeyedLimiter>(LimitOf(limit), KeyedOptions{.max_keys = 1000}));
  }
  std::mt19937 random(7);  // NOLINT(*-msc51-cpp): the same every time
  int refused = 0;
  Instant now = kStart;
  for (int i = 0; i < 20'000; ++i) {
    const Permits cost{random() % 40 == 0 ? 9U : random() % 3};
    const std::string key = "key " + std::to_string(random() % 4);
    now += milliseconds(random() % 100);
    std::array<Ledger::Ask, kLimits> asks;
    std::array<Reservation, kLimits> taken;
    for (std::size_t k = 0; k < asks.size(); ++k) {
      asks[k] = {entered[k].get(), ledger->Hash(std::to_string(k) + key), cost};
    }
    const Decision all = ledger->TakeAll(asks, taken, now);
    if (!all) ++refused;
    const Decision expected =
        TakeAllAt(now, cost, own[0]->At(key), own[1]->At(key), own[2]->At(key));
    ExpectSame(all, expected);
    ASSERT_FALSE(HasFailure()) << i;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 19'000);
}

TEST_P(LedgerTakeTest, OneIsTakenAsAllOfOneAre) {
  const auto one = std::move(Ledger::Open({.max_keys = 1000})).value();
  const auto all = std::move(Ledger::Open({.max_keys = 1000})).value();
  std::mt19937 random(9);  // NOLINT(*-msc51-cpp): the same every time
  for (const char* text : GetParam()) {
    for (const std::string& limit : {std::string(text), std::string(text) + " count_denied"}) {
      const auto parsed = Limit::Parse(limit);
      if (!parsed) continue;  // most do not count refusals
      const auto in_one = one->Enter(*parsed).value();
      const auto in_all = all->Enter(*parsed).value();
      Instant now = kStart;
      for (int i = 0; i < 5'000; ++i) {
        const Permits cost{random() % 40 == 0 ? 9U : random() % 3};
        const std::string key = limit + std::to_string(random() % 4);
        now += milliseconds(random() % 100);
        if (random() % 1000 == 0) now -= milliseconds(500);
        const Decision got = one->TakeOne({in_one.get(), one->Hash(key), cost}, now);
        const Ledger::Ask ask{in_all.get(), all->Hash(key), cost};
        Reservation taken;
        const Decision expected = all->TakeAll({&ask, 1}, {&taken, 1}, now);
        ExpectSame(got, expected);
        ASSERT_FALSE(HasFailure()) << limit << " " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, LedgerTakeTest, testing::ValuesIn(kSets));

// What each limit of a request that passed says is what it would say by itself.
TEST(LedgerTakeWindowTest, AWindowBesideABucketSaysWhatItHasLeftAndCanBeGivenBack) {
  const auto ledger = std::move(Ledger::Open({.max_keys = 1000})).value();
  const auto window = ledger->Enter(LimitOf("sliding_window 10/1h")).value();
  const auto bucket = ledger->Enter(LimitOf("token_bucket 5/1h")).value();
  const std::array<Ledger::Ask, 2> asks = {{{window.get(), ledger->Hash("w"), Permits{2}},
                                            {bucket.get(), ledger->Hash("b"), Permits{2}}}};
  std::array<Reservation, 2> taken;
  EXPECT_TRUE(ledger->TakeAll(asks, taken, kStart));  // keys never seen
  EXPECT_TRUE(ledger->TakeAll(asks, taken, kStart));  // and known ones
  EXPECT_EQ(taken[0].decision.remaining, Permits{6});
  EXPECT_EQ(taken[1].decision.remaining, Permits{1});
  const Decision refused = ledger->TakeAll(asks, taken, kStart);
  EXPECT_EQ(refused.verdict, Verdict::kDeny);
  EXPECT_EQ(refused.limit_index, 1);
  EXPECT_EQ(taken[0].decision.remaining, Permits{6}) << "nothing was taken";

  Reservation given = {.decision = {}, .cost = Permits{2}, .taken = kStart};
  ledger->Cancel(asks[0], given, kStart);
  EXPECT_EQ(ledger->Peek({window.get(), ledger->Hash("w"), Permits{1}}, kStart).remaining,
            Permits{8});
}

// Who comes between the look and the taking of another sends it the long way, and nothing is lost
// or given twice by that.
class ConcurrentLedgerTakeTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kLess = 40'000;
  static constexpr std::uint64_t kMore = 60'000;

  // Calls `take`, which says whether it got something, from several threads and then to the end.
  template <typename Take>
  void ExpectExactly(const Take& take) {
    constexpr std::uint64_t kThreads = 4;
    std::atomic<std::uint64_t> passed = 0;
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t n = 0; n < kLess; ++n) passed += take() ? 1 : 0;
      });
    }
    for (std::thread& thread : threads) thread.join();
    while (take()) ++passed;
    EXPECT_EQ(passed, kLess);
    EXPECT_EQ(ledger_->Peek(asks_[0], kStart).remaining, Permits{0});
    EXPECT_EQ(ledger_->Peek(asks_[1], kStart).remaining, Permits{kMore - kLess});
  }
  bool TakeAll() {
    std::array<Reservation, 2> taken;
    return ledger_->TakeAll(asks_, taken, kStart).allowed();
  }

  const std::unique_ptr<Ledger> ledger_ = std::move(Ledger::Open({.max_keys = 1000})).value();
  const Ledger::LimitHandle less_ = ledger_->Enter(LimitOf("token_bucket 40000/100d")).value();
  const Ledger::LimitHandle more_ = ledger_->Enter(LimitOf("token_bucket 60000/100d")).value();
  const std::array<Ledger::Ask, 2> asks_ = {
      {{less_.get(), ledger_->Hash("less")}, {more_.get(), ledger_->Hash("more")}}};
};

TEST_F(ConcurrentLedgerTakeTest, ManyThreadsTakeFromTwoLimitsWhatThereIsAndNotOneMore) {
  ExpectExactly([&] { return TakeAll(); });
}

TEST_F(ConcurrentLedgerTakeTest, WhoTakesAtOnceAndHasToGiveUpHasTakenNothing) {
  struct Keys {
    std::array<KeyHash, 2> hashes;
    std::array<Ledger::Part, 2> parts;
    std::array<Ledger::Aim, 2> aims;
  };
  struct From {
    const Keys* keys;
    Decision* decisions;
    [[nodiscard]] std::span<const Ledger::Part> parts() const { return keys->parts; }
    [[nodiscard]] const Ledger::Aim* aims() const { return keys->aims.data(); }
    [[nodiscard]] std::span<const KeyHash> hashes() const { return keys->hashes; }
    [[nodiscard]] Decision& DecisionOf(std::size_t i) const { return decisions[i]; }
  };
  Keys keys = {.hashes = {{asks_[0].key, asks_[1].key}},
               .parts = {Ledger::PartOf(*less_, {}, Permits{1}, 0),
                         Ledger::PartOf(*more_, {}, Permits{1}, 1)},
               .aims = {}};
  for (std::size_t i = 0; i < 2; ++i) keys.aims[i] = ledger_->AimAt(keys.parts[i], keys.hashes);
  ExpectExactly([&] {
    std::array<Decision, 2> decisions;
    const Ledger::AtOnce taken = ledger_->TakeAtOnce(From{&keys, decisions.data()}, kStart);
    if (taken.outcome == Ledger::AtOnce::Outcome::kNothing) return TakeAll();
    return taken.outcome == Ledger::AtOnce::Outcome::kAllowed;
  });
}

}  // namespace
}  // namespace weir
