// Random calls against the reference (tests/reference), and what must hold for each of them.
//
// Every run is told by its seed, which a failure prints together with the calls as a trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "algorithm/plan.h"
#include "algorithm/rate.h"
#include "base/text.h"
#include "base/time.h"
#include "tests/random_limits.h"
#include "tests/reference/limiter.h"
#include "weir/limit.h"
#include "weir/limiter.h"

namespace weir {
namespace {

using random::AnyLimit;
using random::AnyQuota;
using random::CapacityOf;
using random::CountsDenied;
using random::Kind;
using random::QuotaOf;
using random::Random;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

// A limiter and its reference, called in step.
class Pair {
 public:
  Pair(const Limit& limit, Random& random)
      : random_(random),
        limit_(limit),
        now_(random.OneIn(3) ? 0 : random.AnySize(0, 1ULL << 61)),
        limiter_(limit, {}, ToInstant(now_)),
        reference_(limit, ToInstant(now_)) {
    started_ = now_;
    latest_ = now_;
    gives_back_ = random.OneIn(2);
    history_ << "limit " << limit.ToString() << "   # from " << now_ << "ns on\n";
    Measure();
  }

  // One call; what is wrong with its answer, nothing if it is right.
  std::string Step() {
    Move();
    const Permits cost = AnyCost();
    const Instant now = ToInstant(now_);
    switch (random_.Below(12)) {
      case 0:
      case 1: {
        Say("peek", cost);
        return reference_.Peek(cost, now, Heard(limiter_.Peek(cost, now)));
      }
      case 2: {
        Say("take_up_to", cost);
        const Partial partial = limiter_.TakeUpTo(cost, now);
        Heard(partial.decision);
        return reference_.TakeUpTo(cost, now, partial);
      }
      case 3:
        if (random_.OneIn(3)) return Charge();
        break;
      case 4:
        if (random_.OneIn(3)) return Refund();
        break;
      case 5:
      case 6:
        return Reserve(cost);
      case 7:
        if (random_.OneIn(20)) return Change();
        break;
      default:
        break;
    }
    Say("take", cost);
    return reference_.Take(cost, now, Heard(limiter_.Take(cost, now)));
  }

  [[nodiscard]] std::string history() const { return history_.str(); }

 private:
  void Measure() {
    const Algorithm& first = limit_.parts()[0];
    is_log_ = false;
    for (const Algorithm& part : limit_.parts()) {
      is_log_ = is_log_ || std::holds_alternative<SlidingLog>(part);
      if (CountsDenied(part)) gives_back_ = false;
    }
    period_ = static_cast<std::uint64_t>(QuotaOf(first).period().count());
    capacity_ = kMax;
    end_ = std::uint64_t{1} << 62;
    for (const Algorithm& part : limit_.parts()) {
      capacity_ = std::min(capacity_, CapacityOf(part));
      const auto rate = algorithm::Rate::Of(QuotaOf(part), Permits{1});
      // The ring of ticks is not followed all the way round (algorithm/rate.h).
      if (rate) end_ = std::min(end_, latest_ + (std::uint64_t{1} << 62) / rate->ticks_per_nano);
    }
    memory_ = static_cast<std::uint64_t>(algorithm::Plan::Of(limit_)->memory().count());
  }

  void Move() {
    const std::uint64_t interval = std::max<std::uint64_t>(1, period_ / capacity_);
    std::uint64_t step = 0;
    switch (random_.Below(12)) {
      case 0:
        step = 1;
        break;
      case 1:
        step = retry_;
        break;
      case 2:
        step = retry_ - std::min<std::uint64_t>(retry_, 1);
        break;
      case 3:
        step = reset_ + random_.Below(3) - std::min<std::uint64_t>(reset_, 1);
        break;
      case 4:
        step = interval + random_.Below(3) - 1;
        break;
      case 5:
        step = period_ - now_ % period_ + random_.Below(3) - 1;  // the border of a window
        break;
      case 6:
        step = random_.Below(3 * period_ + 1);
        break;
      case 7:
        step = random_.AnySize(0, period_);
        break;
      case 8:
        if (random_.OneIn(4)) {
          const std::uint64_t back = random_.Below(std::min(memory_, period_) + 1);
          now_ = latest_ - std::min(latest_ - started_, back);
          return;
        }
        break;
      default:
        break;
    }
    latest_ = std::min(latest_ + step, end_);
    now_ = latest_;
  }

  Permits AnyCost() {
    switch (random_.Below(12)) {
      case 0:
        return Permits{0};
      case 1:
        return Permits{random_.AnySize(1, capacity_)};
      case 2:
        return Permits{capacity_};
      case 3:
        return Permits{capacity_ + random_.Below(2)};
      case 4:
        return Permits{remaining_};
      case 5:
        return Permits{remaining_ + 1};
      case 6:
        return Permits{random_.OneIn(8) ? random_.AnySize(1, kMax) : 1};
      default:
        return Permits{random_.OneIn(2) ? 1
                                        : 1 + random_.Below(std::min<std::uint64_t>(capacity_, 8))};
    }
  }

  std::string Charge() {
    // What can be owed is bounded; where the bound is tight, do not go there.
    if (remaining_ == 0 && capacity_ > period_ / 16) return "";
    if (is_log_ && gives_back_) return "";
    const Permits cost{random_.AnySize(0, capacity_)};
    Say("charge", cost);
    const Instant now = ToInstant(now_);
    return reference_.Charge(cost, now, Heard(limiter_.Charge(cost, now)));
  }

  std::string Refund() {
    // From the middle of a log nothing can be taken without a trace.
    if (is_log_ && (!gives_back_ || reference_.SomebodyStandsInLine(ToInstant(now_)))) return "";
    const Permits cost{random_.Below(12)};
    Say("refund", cost);
    limiter_.Refund(cost, ToInstant(now_));
    reference_.Refund(cost, ToInstant(now_));
    return Look();
  }

  std::string Look() {
    const Instant now = ToInstant(now_);
    return reference_.Peek(Permits{0}, now, Heard(limiter_.Peek(Permits{0}, now)));
  }

  std::string Reserve(Permits cost) {
    const Nanos patience(random_.OneIn(3) ? 0 : random_.Below(4 * period_));
    history_ << now_ - started_ << "ns reserve " << cost.count << " timeout "
             << FormatDuration(patience);
    const Reservation reservation = limiter_.Reserve(cost, patience, ToInstant(now_));
    Heard(reservation.decision);
    return reference_.Reserve(cost, patience, ToInstant(now_), reservation);
  }

  // The same algorithm with other numbers, and the same windows where those are counted.
  std::string Change() {
    if (limit_.parts().size() > 1 || std::holds_alternative<Pacer>(limit_.parts()[0])) return "";
    if (is_log_ && !gives_back_) return "";
    const Algorithm& old = limit_.parts()[0];
    for (int attempt = 0; attempt < 100; ++attempt) {
      const Limit next = AnyLimit(random_, static_cast<Kind>(old.index()));
      const Algorithm& part = next.parts()[0];
      if (const auto* bucket = std::get_if<TokenBucket>(&part)) {
        if (bucket->quota.has_initial()) continue;
      }
      if (const auto* counters = std::get_if<SlidingCounters>(&part)) {
        if (counters->windows != std::get<SlidingCounters>(old).windows) continue;
      }
      const bool same_windows = std::holds_alternative<SlidingWindow>(part) ||
                                std::holds_alternative<SlidingCounters>(part);
      if (same_windows && QuotaOf(part).period() != QuotaOf(old).period()) {
        continue;
      }
      // What was used must be small enough for the counters of the new limit.
      if (CapacityOf(part) < 4 * capacity_ &&
          (capacity_ > 1000 || QuotaOf(part).period() < std::chrono::seconds(1))) {
        continue;
      }
      now_ = latest_;
      if (is_log_) gives_back_ = false;
      limit_ = next;
      limiter_.SetLimit(next, ToInstant(now_));
      reference_.SetLimit(next, ToInstant(now_));
      Measure();
      history_ << now_ - started_ << "ns limit " << next.ToString() << "\n"
               << now_ - started_ << "ns peek 0";
      return Look();
    }
    return "";
  }

  void Say(const char* verb, Permits cost) {
    history_ << now_ - started_ << "ns " << verb << " " << cost.count;
  }
  const Decision& Heard(const Decision& d) {
    history_ << "   # "
             << (d.allowed()                   ? "allow"
                 : d.verdict == Verdict::kDeny ? "deny"
                                               : "never")
             << " remaining " << d.remaining.count << " retry " << d.retry_after.count()
             << " reset " << d.reset_after.count() << " wait " << d.wait.count() << "\n";
    remaining_ = d.remaining.count;
    retry_ = d.verdict == Verdict::kDeny && d.retry_after.count() < (1LL << 60)
                 ? static_cast<std::uint64_t>(d.retry_after.count())
                 : 0;
    reset_ = std::min<std::uint64_t>(static_cast<std::uint64_t>(d.reset_after.count()), 1ULL << 60);
    heard_ = d;
    return heard_;
  }

  Random& random_;
  Limit limit_;
  std::uint64_t now_;
  std::uint64_t started_ = 0;
  std::uint64_t latest_ = 0;
  Limiter limiter_;
  reference::Limiter reference_;
  std::ostringstream history_;
  Decision heard_;

  // A log that was overfull may owe a little more than it should when permits are given back.
  bool is_log_ = false;
  bool gives_back_ = false;
  std::uint64_t period_ = 1;
  std::uint64_t capacity_ = 1;
  std::uint64_t memory_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t remaining_ = 0;
  std::uint64_t retry_ = 0;
  std::uint64_t reset_ = 0;
};

void Agree(const Limit& limit, Random& random, std::uint64_t seed, int steps) {
  Pair pair(limit, random);
  for (int i = 0; i < steps; ++i) {
    const std::string wrong = pair.Step();
    ASSERT_EQ(wrong, "") << "seed " << seed << "\n" << pair.history();
  }
}

class RandomTrace : public testing::TestWithParam<Kind> {};

TEST_P(RandomTrace, AgreesWithTheReference) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    const Limit limit = AnyLimit(random, GetParam());
    Agree(limit, random, seed, 60);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomTrace, random::AllKinds(), random::NameOf);

// All or nothing: what one of them refuses is charged to none.
TEST(RandomTraceOfSeveralLimits, AgreesWithTheReference) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    Limit all = AnyLimit(random, static_cast<Kind>(random.Below(7)));
    const std::uint64_t more = 1 + random.Below(2);
    for (std::uint64_t i = 0; i < more; ++i) {
      all = all + AnyLimit(random, static_cast<Kind>(random.Below(7)));
    }
    if (all.WhatIsWrong()) continue;
    Agree(all, random, seed, 40);
    if (HasFatalFailure()) return;
  }
}

// A warming pacer computes in whole ticks. It may be off by some at each step, and no more.
TEST(RandomTraceOfAWarmingPacer, AgreesWithTheReference) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    const std::uint64_t cold_milli = 1000 + random.AnySize(0, 9000);
    const Pacer limit{.quota = AnyQuota(random),
                      .warm_up = Nanos(random.AnySize(1, 1ULL << 42)),
                      .cold_factor = static_cast<double>(cold_milli) / 1000};
    if (Limit(limit).WhatIsWrong()) continue;
    Limiter limiter(limit, {}, Instant{});
    const auto rate = algorithm::Rate::Of(limit.quota, Permits{1}).value();
    reference::WarmingPacer pacer(reference::EffectiveRate(rate), limit.warm_up.count(),
                                  reference::Number(reference::Whole(cold_milli), 1000));
    const std::uint64_t interval = rate.ticks_per_permit / rate.ticks_per_nano + 1;
    std::uint64_t now = 0;
    std::uint64_t slack = 1;
    for (int i = 0; i < 40 && now < std::uint64_t{1} << 52; ++i) {
      now += random.OneIn(2) ? 0 : random.AnySize(0, 4 * interval);
      const Permits cost{random.OneIn(2) ? 1 : random.AnySize(1, 50)};
      const Reservation reservation = limiter.Reserve(cost, Nanos::max(), ToInstant(now));
      if (!reservation) break;  // too far ahead
      const Nanos wait = reservation.wait();
      const reference::Whole expected = pacer.Acquire(cost.count, now);
      slack += 2 + cold_milli / 1000;
      ASSERT_LE(abs(expected - wait.count()), slack)
          << "seed " << seed << ", step " << i << " of " << Limit(limit).ToString() << ": waits "
          << wait.count() << ", expected " << expected;
      if (random.OneIn(2)) now += static_cast<std::uint64_t>(wait.count());
    }
  }
}

}  // namespace
}  // namespace weir
