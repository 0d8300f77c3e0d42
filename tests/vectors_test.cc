// Facts from the test suites of other libraries that a trace cannot state: cancelled reservations,
// threads, errors, and sums over many calls. The others are in tests/vectors; docs/vectors.md lists
// all of them, and those in which we differ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "algorithm/rate.h"
#include "weir/limit.h"
#include "weir/limiter.h"

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Instant At(Nanos since_start) { return Instant(since_start); }

Limiter MakeLimiter(const std::string& limit) {
  return Limiter(Limit::Parse(limit).value(), {}, At(0ns));
}

std::string ErrorOf(const std::string& limit) {
  const Result<Limit> parsed = Limit::Parse(limit);
  return parsed ? "no error" : parsed.error().message;
}

// XT-07
TEST(VectorTest, ACancelledLastReservationIsGivenBack) {
  Limiter limiter = MakeLimiter("token_bucket 10/1s burst 2");
  EXPECT_EQ(limiter.Reserve(Permits{2}, Nanos::max(), At(0ms)).wait(), 0ms);
  Reservation r = limiter.Reserve(Permits{2}, Nanos::max(), At(0ms));
  EXPECT_EQ(r.wait(), 200ms);
  limiter.Cancel(r, At(100ms));
  EXPECT_EQ(limiter.Reserve(Permits{2}, Nanos::max(), At(100ms)).wait(), 100ms);
}

// XT-09: x/time/rate gives nothing back where others reserved since, and says 300ms.
TEST(VectorTest, ACancelledReservationIsGivenBackAlthoughOthersCameAfterIt) {
  Limiter limiter = MakeLimiter("token_bucket 10/1s burst 2");
  EXPECT_EQ(limiter.Reserve(Permits{2}, Nanos::max(), At(0ms)).wait(), 0ms);
  Reservation r = limiter.Reserve(Permits{1}, Nanos::max(), At(0ms));
  EXPECT_EQ(r.wait(), 100ms);
  EXPECT_EQ(limiter.Reserve(Permits{1}, Nanos::max(), At(0ms)).wait(), 200ms);
  limiter.Cancel(r, At(0ms));
  EXPECT_EQ(limiter.Reserve(Permits{1}, Nanos::max(), At(0ms)).wait(), 200ms);
}

// XT-11: x/time/rate gives back 2 of the 3 that A took, and says 400ms.
TEST(VectorTest, SeveralCancelledReservationsAreAllGivenBack) {
  Limiter limiter = MakeLimiter("token_bucket 10/1s burst 4");
  EXPECT_EQ(limiter.Reserve(Permits{4}, Nanos::max(), At(0ms)).wait(), 0ms);
  Reservation a = limiter.Reserve(Permits{3}, Nanos::max(), At(0ms));
  Reservation b = limiter.Reserve(Permits{1}, Nanos::max(), At(0ms));
  Reservation c = limiter.Reserve(Permits{1}, Nanos::max(), At(0ms));
  EXPECT_EQ(a.wait(), 300ms);
  EXPECT_EQ(b.wait(), 400ms);
  EXPECT_EQ(c.wait(), 500ms);
  limiter.Cancel(c, At(100ms));
  limiter.Cancel(a, At(100ms));
  EXPECT_EQ(limiter.Reserve(Permits{3}, Nanos::max(), At(100ms)).wait(), 300ms);
}

// XT-13
TEST(VectorTest, AReservationCanBeCancelledByAClockThatWentBack) {
  Limiter limiter = MakeLimiter("token_bucket 10/1s burst 2");
  EXPECT_EQ(limiter.Reserve(Permits{2}, Nanos::max(), At(100ms)).wait(), 0ms);
  Reservation r = limiter.Reserve(Permits{2}, Nanos::max(), At(100ms));
  EXPECT_EQ(r.wait(), 200ms);
  EXPECT_EQ(limiter.Reserve(Permits{1}, Nanos::max(), At(100ms)).wait(), 300ms);
  limiter.Cancel(r, At(0ms));
  EXPECT_EQ(limiter.Reserve(Permits{2}, Nanos::max(), At(100ms)).wait(), 300ms);
}

// XT-19
TEST(VectorTest, AWaiterThatGivesUpReturnsItsPermits) {
  Limiter limiter = MakeLimiter("token_bucket 10/1s burst 3");
  Reservation first = limiter.Reserve(Permits{2}, Nanos::max(), At(0ms));
  EXPECT_EQ(first.wait(), 0ms);
  EXPECT_EQ(first.decision.remaining, Permits{1});
  Reservation gives_up = limiter.Reserve(Permits{3}, Nanos::max(), At(0ms));
  EXPECT_EQ(gives_up.wait(), 200ms);
  limiter.Cancel(gives_up, At(100ms));
  EXPECT_EQ(limiter.Peek(Permits{0}, At(100ms)).remaining, Permits{2});
  const Reservation last = limiter.Reserve(Permits{2}, Nanos::max(), At(100ms));
  EXPECT_EQ(last.wait(), 0ms);
  EXPECT_EQ(last.decision.remaining, Permits{0});
}

// XT-21, XT-23, XT-27 (intervals of 0 and below), GO-13, RC-05, SE-06
TEST(VectorTest, RatesOfZeroAndWithoutBoundAreErrors) {
  EXPECT_THAT(ErrorOf("token_bucket 3/0s"), HasSubstr("the period must be longer than 0, got 0ns"));
  EXPECT_THAT(ErrorOf("token_bucket 0/1s burst 1"), HasSubstr("at least 1 permit per period"));
  EXPECT_THAT(ErrorOf("token_bucket 0/1ns"), HasSubstr("at least 1 permit per period"));
  EXPECT_THAT(ErrorOf("token_bucket 1/0s"), HasSubstr("the period must be longer than 0, got 0ns"));
  EXPECT_THAT(ErrorOf("leaky_bucket 0/1s queue 1"), HasSubstr("at least 1 permit per period"));
  EXPECT_TRUE(Limit(Quota::Per(1, -1ns)).WhatIsWrong().has_value());
}

// XT-25
TEST(VectorTest, OverFiveSecondsTheRateHolds) {
  Limiter limiter = MakeLimiter("token_bucket 100/1s burst 100");
  int allowed = 0;
  for (Nanos t = 0s; t < 5s; t += 2ms) allowed += limiter.Take(Permits{1}, At(t)).allowed();
  EXPECT_EQ(allowed, 599);
}

// XT-27: x/time/rate goes down to one permit in 292 years, we to one in 146.
TEST(VectorTest, OnePermitMayTake146YearsAndNoMore) {
  constexpr Nanos kLongest{std::int64_t{1} << 62};
  Limiter limiter(Quota::Per(1, kLongest), {}, At(0ns));
  EXPECT_TRUE(limiter.Take(Permits{1}, At(0ns)));
  EXPECT_EQ(limiter.Take(Permits{1}, At(0ns)).retry_after, kLongest);
  const auto wrong = Limit(Quota::Per(1, Nanos::max())).WhatIsWrong();
  ASSERT_TRUE(wrong);
  EXPECT_THAT(wrong->message, HasSubstr("146 years"));
}

// GV-09: Guava cuts its waits to whole microseconds, ours are exact, so they may be 1us apart. The
// caller sleeps what it is told, and then for as long as Guava's does.
TEST(VectorTest, AWarmingPacerFollowsGuavaThroughAChangeOfRate) {
  Limiter limiter = MakeLimiter("pacer 5/1s warm_up 4s cold_factor 10");
  Nanos now = 0s;
  const auto acquire_all = [&](const std::vector<Nanos>& guavas_waits) {
    for (const Nanos expected : guavas_waits) {
      const Nanos wait = limiter.Reserve(Permits{1}, Nanos::max(), At(now)).wait();
      EXPECT_LT(std::chrono::abs(wait - expected), 1us)
          << "at " << now.count() << "ns: " << wait.count();
      now += wait;
    }
  };
  acquire_all({0us, 1752500us, 1257500us, 762500us, 300227us, 200ms, 200ms, 200ms});
  now += 4200ms;
  acquire_all({0us, 1752500us, 1257500us});
  limiter.SetLimit(Limit::Parse("pacer 10/1s warm_up 4s cold_factor 10").value(), At(now));
  acquire_all({762500us, 195625us, 104602us, 100ms, 100ms});
  now += 4100ms;
  acquire_all({0us, 938125us, 814375us, 690625us, 566875us, 443125us, 319375us, 195625us, 104602us,
               100ms, 100ms});
}

// GV-21: warm_up = (1 + cold) * 10 / (2 * rate). We round each wait up to a nanosecond.
TEST(VectorTest, TenColdPermitsTakeTheWarmUpTimeHoweverTheyAreSplit) {
  struct Rate {
    std::uint64_t permits;
    Nanos period;
  };
  const std::vector<std::vector<std::uint64_t>> splits = {
      {10}, {1, 9}, {9, 1}, {5, 5}, {1, 2, 3, 4}, {4, 3, 2, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
  for (const int cold : {2, 3, 10}) {
    for (const Rate rate : {Rate{4, 1s}, Rate{2, 1s}, Rate{1, 1s}, Rate{1, 2s}, Rate{1, 10s}}) {
      const Nanos warm_up = (1 + cold) * 5 * rate.period / static_cast<int>(rate.permits);
      for (const std::vector<std::uint64_t>& split : splits) {
        Limiter limiter(Pacer{.quota = Quota::Per(rate.permits, rate.period),
                              .warm_up = warm_up,
                              .cold_factor = static_cast<double>(cold)},
                        {}, At(0s));
        Nanos now = 0s;
        for (const std::uint64_t permits : split) {
          now += limiter.Reserve(Permits{permits}, Nanos::max(), At(now)).wait();
        }
        now += limiter.Reserve(Permits{1}, Nanos::max(), At(now)).wait();
        EXPECT_GE(now, warm_up);
        EXPECT_LE(now, warm_up + Nanos(split.size()));
      }
    }
  }
}

// GO-13
TEST(VectorTest, QuotasOfTheSameRateAreTheSame) {
  const auto interval = [](const Quota& quota) {
    const auto rate = algorithm::Rate::Of(quota, Permits{1}).value();
    return std::pair(rate.ticks_per_permit, rate.ticks_per_nano);
  };
  EXPECT_EQ(interval(Quota::PerHour(60)), interval(Quota::PerMinute(1)));
  EXPECT_EQ(interval(Quota::PerMinute(60)), interval(Quota::PerSecond(1)));
}

// GO-15: governor takes it for one per nanosecond.
TEST(VectorTest, MoreThanOnePermitPerNanosecondIsAnError) {
  EXPECT_THAT(ErrorOf("token_bucket 1000000001/1s"),
              HasSubstr("the rate must be at most 1 permit per nanosecond (1000000000/1s)"));
}

// B4-19, B4-21: bucket4j counts to 2^63 permits whatever their rate.
TEST(VectorTest, WhatTakesLongerThan146YearsToRefillIsAnError) {
  EXPECT_THAT(ErrorOf("token_bucket 100/100ns burst 9223372036854775797"), HasSubstr("146 years"));
  EXPECT_THAT(ErrorOf("token_bucket 2305843009213693951/4611686018427387903ns burst "
                      "4611686018427387903"),
              HasSubstr("146 years"));
}

// R4-07: in resilience4j the waiter's permit is lost.
TEST(VectorTest, AnInterruptedWaiterGivesItsWindowBack) {
  Limiter limiter = MakeLimiter("fixed_window 1/250ms");
  EXPECT_EQ(limiter.Reserve(Permits{1}, 250ms, At(250ms)).wait(), 0ms);
  EXPECT_EQ(limiter.Peek(Permits{1}, At(250ms)).retry_after, 250ms);
  Reservation waiter = limiter.Reserve(Permits{1}, 250ms, At(250ms));
  EXPECT_EQ(waiter.wait(), 250ms);
  EXPECT_EQ(limiter.Peek(Permits{1}, At(250ms)).retry_after, 500ms);
  limiter.Cancel(waiter, At(250ms));
  EXPECT_EQ(limiter.Peek(Permits{1}, At(250ms)).retry_after, 250ms);
}

// FO-07
TEST(VectorTest, AGreedyCallerGetsTheRateAndNoMore) {
  struct Case {
    std::uint64_t rate;
    std::uint64_t cost;
    std::uint64_t burst;
  };
  for (const Case& c :
       {Case{100, 1, 1}, Case{1000, 1, 10}, Case{10000, 1, 100}, Case{10000, 5, 100}}) {
    Limiter limiter(Quota::PerSecond(c.rate).Burst(c.burst).Initial(0), {}, At(0s));
    std::uint64_t consumed = 0;
    for (std::uint64_t ms = 0; ms <= 10'000; ++ms) {
      const Instant now = At(std::chrono::milliseconds(ms));
      ASSERT_EQ(limiter.Take(Permits{c.burst + 1}, now).verdict, Verdict::kNever);
      while (limiter.Take(Permits{c.cost}, now)) consumed += c.cost;
      ASSERT_LE(consumed * 1000, c.rate * ms);
      ASSERT_GE((consumed + 1) * 10'000, 9 * c.rate * ms);
    }
  }
}

// FO-09
TEST(VectorTest, EachWindowAdmitsItsNumberAgain) {
  struct Case {
    int permits;
    Nanos window;
  };
  for (const Case& c : {Case{3, 100ms}, Case{1, 100ms}, Case{15, 150ms}}) {
    Limiter limiter(
        FixedWindow{.permits = Permits{static_cast<std::uint64_t>(c.permits)}, .window = c.window},
        {}, At(0s));
    for (int window = 0; window < 4; ++window) {
      for (int i = 0; i < 2 * c.permits; ++i) {
        EXPECT_EQ(limiter.Take(Permits{1}, At(window * c.window)).allowed(), i < c.permits);
      }
    }
  }
}

// GO-07
TEST(ConcurrentVectorTest, TwentyThreadsShareABurstOfTwenty) {
  Limiter limiter = MakeLimiter("token_bucket 1/50ms burst 20");
  std::atomic<int> allowed = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 20; ++i) {
      threads.emplace_back([&] { allowed += limiter.Take(Permits{1}, At(0s)).allowed(); });
    }
  }
  EXPECT_EQ(allowed, 20);
  EXPECT_EQ(limiter.Take(Permits{1}, At(2ms)).retry_after, 48ms);
  EXPECT_EQ(limiter.Take(Permits{1}, At(1s)).remaining, Permits{19});
}

// FO-09
TEST(ConcurrentVectorTest, ThirtyTwoThreadsShareAWindowOfTwenty) {
  Limiter limiter = MakeLimiter("fixed_window 20/10s");
  std::atomic<int> allowed = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 32; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 40; ++k) allowed += limiter.Take(Permits{1}, At(0s)).allowed();
      });
    }
  }
  EXPECT_EQ(allowed, 20);
}

// UB-03
TEST(VectorTest, GreedyCallersOfAShaperAreEvenlySpaced) {
  Limiter limiter = MakeLimiter("leaky_bucket 7/60s queue 20");
  std::map<Nanos, int> taken_until = {{1s, 0}, {60s, 0}, {120s, 0}};
  for (int i = 0; i < 20; ++i) {
    const Nanos when = limiter.Take(Permits{1}, At(0s)).wait;
    for (auto& [until, taken] : taken_until) taken += when <= until ? 1 : 0;
  }
  EXPECT_EQ(taken_until[1s], 1);
  EXPECT_EQ(taken_until[60s], 8);
  EXPECT_EQ(taken_until[120s], 15);
}

// UB-05: slack is what a pacer stores while it idles.
TEST(VectorTest, SlackIsSpentWhenDemandComes) {
  struct Case {
    Nanos per;
    int slack;
    int taken;
  };
  for (const Case& c : {Case{1s, 10, 130}, Case{1s, 20, 140}, Case{1s, 150, 270},
                        Case{500ms, 10, 230}, Case{500ms, 20, 240}, Case{500ms, 150, 370}}) {
    Limiter slow(Pacer{.quota = Quota::PerSecond(10), .max_burst = 0s}, {}, At(0s));
    Limiter fast(Pacer{.quota = Quota::Per(100, c.per), .max_burst = c.slack * c.per / 100}, {},
                 At(0s));
    // One takes from the slow one and the fast one in turn; from 2s on, two more take from the fast
    // one only. Whoever is ready first goes first.
    struct Taker {
      Nanos ready;
      bool takes_both;
      bool next_is_slow;
    };
    std::array<Taker, 3> takers = {Taker{0s, true, true}, Taker{2s, false, false},
                                   Taker{2s, false, false}};
    int taken = 0;
    for (;;) {
      Taker& taker = *std::min_element(takers.begin(), takers.end(),
                                       [](auto& a, auto& b) { return a.ready < b.ready; });
      if (taker.ready >= 3s) break;
      Limiter& limiter = taker.next_is_slow ? slow : fast;
      taker.ready += limiter.Reserve(Permits{1}, Nanos::max(), At(taker.ready)).wait();
      if (!taker.next_is_slow && taker.ready < 3s) ++taken;
      taker.next_is_slow = taker.takes_both && !taker.next_is_slow;
    }
    EXPECT_EQ(taken, c.taken) << c.slack << " per " << c.per.count() << "ns";
  }
}

std::string ReadAll(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::set<std::string> IdsIn(const std::string& text, const std::string& pattern) {
  const std::regex id(pattern + "([A-Z][A-Z0-9]-[0-9]{2})");
  std::set<std::string> ids;
  for (std::sregex_iterator it(text.begin(), text.end(), id), end; it != end; ++it) {
    ids.insert((*it)[1]);
  }
  return ids;
}

// docs/vectors.md has a row for each fact: "| XT-01 | library | what | holds or differs | file |".
TEST(VectorTest, TheListOfVectorsAgreesWithTheTests) {
  const std::filesystem::path root = WEIR_SOURCE_DIR;
  std::map<std::string, std::set<std::string>> ids_in_file;
  std::vector<std::filesystem::path> files = {root / "tests" / "vectors_test.cc"};
  for (const auto& entry : std::filesystem::directory_iterator(root / "tests" / "vectors")) {
    files.push_back(entry.path());
  }
  std::set<std::string> shown;
  for (const std::filesystem::path& file : files) {
    // In a trace an id starts a comment; here it may be one of several.
    const bool trace = file.extension() == ".trace";
    const std::set<std::string> ids = IdsIn(ReadAll(file), trace ? "# " : "(?://|,|\\)) ");
    ids_in_file[file.lexically_relative(root).string()] = ids;
    shown.insert(ids.begin(), ids.end());
  }

  std::set<std::string> listed;
  std::stringstream table(ReadAll(root / "docs" / "vectors.md"));
  const std::regex file_name("tests/[a-z0-9_/]+\\.(trace|cc)");
  for (std::string line; std::getline(table, line);) {
    const std::set<std::string> ids = IdsIn(line, "^\\| ");
    if (ids.empty()) continue;
    const std::string id = *ids.begin();
    EXPECT_TRUE(listed.insert(id).second) << id << " is listed twice";
    for (std::sregex_iterator it(line.begin(), line.end(), file_name), end; it != end; ++it) {
      EXPECT_TRUE(ids_in_file[it->str()].contains(id)) << it->str() << " does not show " << id;
      shown.erase(id);
    }
    EXPECT_TRUE(std::regex_search(line, std::regex("\\| (holds|differs|not yet)"))) << line;
  }
  EXPECT_EQ(listed.size(), 97U);
  EXPECT_THAT(shown, testing::IsEmpty())
      << "shown in the tests, but docs/vectors.md does not say so";
}

}  // namespace
}  // namespace weir
