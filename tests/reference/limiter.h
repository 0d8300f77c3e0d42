// The reference for a whole limiter: several limits, the verbs, and clocks that go back. It takes
// the same calls as a weir::Limiter, with its answers, and says what is wrong with them.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "algorithm/plan.h"
#include "algorithm/rate.h"
#include "buckets.h"
#include "model.h"
#include "weir/limit.h"
#include "weir/reservation.h"
#include "windows.h"

namespace weir::reference {

class Limiter {
 public:
  Limiter(const weir::Limit& limit, Instant created) { SetModels(limit, ToWhole(created)); }

  // Each verb returns what is wrong with the answer; nothing if it is right.
  [[nodiscard]] std::string Take(Permits cost, Instant now, const Decision& got) {
    const Moment at = Follow(now);
    const std::string wrong = Admit(cost.count, at, got);
    return wrong.empty() ? CheckLevel(at, got) : wrong;
  }

  [[nodiscard]] std::string Peek(Permits cost, Instant now, const Decision& got) {
    const Moment at = Follow(now);
    Limiter copy(*this);
    const std::string wrong = copy.Admit(cost.count, at, got);
    return wrong.empty() ? CheckLevel(at, got) : wrong;
  }

  [[nodiscard]] std::string TakeUpTo(Permits cost, Instant now, const Partial& got) {
    const Moment at = Follow(now);
    const Whole there = Remaining(at.now);
    Whole taken = std::min(there, Whole(cost.count));
    if (taken > 0 && !Fit(taken, at.now)) taken = 0;  // it is there, but not yet its turn
    if (Whole(got.taken.count) != taken) return Wrong("taken", taken, got.taken.count);
    if (taken == 0 && there == 0) return Peek(Permits{cost.count > 0 ? 1U : 0U}, now, got.decision);
    return Take(Permits{static_cast<std::uint64_t>(std::min(there, Whole(cost.count)))}, now,
                got.decision);
  }

  [[nodiscard]] std::string Charge(Permits cost, Instant now, const Decision& got) {
    const Moment at = Follow(now);
    if (cost.count > 0) {
      for (const auto& model : models_) model->Charge(cost.count, at.now);
    }
    if (got.verdict != Verdict::kAllow) return "a charge was refused";
    return CheckLevel(at, got);
  }

  void Refund(Permits cost, Instant now) {
    const Moment at = Follow(now);
    if (cost.count == 0) return;
    for (const auto& model : models_) model->Remove(cost.count, at.now);
  }

  [[nodiscard]] std::string Reserve(Permits cost, Nanos patience, Instant now,
                                    const weir::Reservation& got) {
    const Moment at = Follow(now);
    const Decision& decision = got.decision;
    if (Never(cost.count)) return Admit(cost.count, at, decision);
    if (!decision.allowed()) {
      if (decision.verdict != Verdict::kDeny) return "never, although it can be had";
      // What can be had at all within the patience can be had at its end, unless it waits even
      // then.
      const Whole patient = std::max(Whole(0), Whole(patience.count()) - at.ahead);
      const Whole end = at.now + std::min(patient, foresight_);
      for (const Whole& then : {at.now, end}) {
        if (Fit(cost.count, then) && then + WaitOf(cost.count, then) <= end) {
          return "a reservation was refused that could be had within the patience";
        }
      }
      // Where only a shaper's queue is too long for the caller's patience, no limit refused.
      if (!Fit(cost.count, end)) Refuse(cost.count, at.now);
      return CheckLevel(at, decision);
    }
    if (got.cost != cost) return Wrong("cost", cost.count, got.cost.count);
    const Whole then = ToWhole(got.taken);
    if (then < at.now) return "a reservation counts for an instant that is over";
    if (cost.count > 0) {
      if (!Fit(cost.count, then))
        return "a reservation counts for an instant at which it does not fit";
      if (then > at.now && Fit(cost.count, then - 1)) return "it could be had earlier";
      Add(cost.count, then);
    }
    const Whole own_wait = cost.count > 0 ? Wait(then) : Whole(0);
    Whole wait = then - at.now + own_wait;
    if (wait > 0) wait += at.ahead;
    if (Whole(decision.wait.count()) != wait) return Wrong("wait", wait, decision.wait.count());
    if (decision.wait > std::max(Nanos(0), patience)) return "waits longer than its patience";
    if (then > at.now) {
      return decision.remaining == Permits{0} ? std::string() : "remaining behind a reservation";
    }
    return CheckLevel(at, decision);
  }

  void SetLimit(const weir::Limit& limit, Instant now) {
    const Moment at = Follow(now);
    const std::vector<std::unique_ptr<Model>> old = std::exchange(models_, {});
    SetModels(limit, at.now);
    for (std::size_t i = 0; i < std::min(old.size(), models_.size()); ++i) {
      Inherit<Bucket>(*old[i], *models_[i], at.now) ||
          Inherit<FixedWindow>(*old[i], *models_[i], at.now) ||
          Inherit<SlidingWindow>(*old[i], *models_[i], at.now) ||
          Inherit<SlidingCounters>(*old[i], *models_[i], at.now) ||
          Inherit<SlidingLog>(*old[i], *models_[i], at.now);
    }
  }

  // Whether anybody has reserved for later than now.
  [[nodiscard]] bool SomebodyStandsInLine(Instant now) const {
    return std::any_of(models_.begin(), models_.end(), [&](const auto& model) {
      const auto* sum = dynamic_cast<const Sum*>(model.get());
      return sum != nullptr && sum->LastInLine() > ToWhole(now);
    });
  }

 private:
  // An instant as the limiter sees it, and how far it is ahead of the caller's.
  struct Moment {
    Whole now;
    Whole ahead;
  };

  Limiter(const Limiter& other) : foresight_(other.foresight_), latest_(other.latest_) {
    for (const auto& model : other.models_) models_.push_back(model->Clone());
  }

  static Whole ToWhole(Instant at) { return at.time_since_epoch().count(); }
  static std::string Wrong(const std::string& what, const Whole& expected, const Whole& got) {
    return what + " is " + got.str() + ", expected " + expected.str();
  }
  template <typename M>
  static bool Inherit(const Model& old, Model& model, const Whole& at) {
    const auto* from = dynamic_cast<const M*>(&old);
    auto* to = dynamic_cast<M*>(&model);
    if (from != nullptr && to != nullptr) to->Inherit(*from, at);
    return from != nullptr && to != nullptr;
  }

  void SetModels(const weir::Limit& limit, const Whole& created) {
    foresight_ = algorithm::Plan::Of(limit).value().foresight().count();
    for (const Algorithm& part : limit.parts()) {
      models_.push_back(std::visit(
          [&](const auto& l) { return ModelOf(l, limit.soft_percent(), created); }, part));
    }
  }

  static Whole Soft(Permits permits, std::uint32_t percent) {
    return Whole(permits.count) + Whole(permits.count) * percent / 100;
  }
  static EffectiveRate RateOf(const Quota& quota, const Whole& most) {
    const Permits permits{static_cast<std::uint64_t>(most)};
    return EffectiveRate(algorithm::Rate::Of(quota, permits).value());
  }
  static std::unique_ptr<Model> ModelOf(const TokenBucket& l, std::uint32_t soft,
                                        const Whole& created) {
    const Whole burst = l.quota.burst().count;
    const Whole most = Soft(l.quota.burst(), soft);
    return std::make_unique<Bucket>(RateOf(l.quota, most), burst, most,
                                    burst - l.quota.initial().count, most, created);
  }
  static std::unique_ptr<Model> ModelOf(const LeakyBucket& l, std::uint32_t soft,
                                        const Whole& created) {
    const Permits room{l.queue.count + 1};
    const Whole most = Soft(room, soft);
    return std::make_unique<Bucket>(RateOf(l.quota, most), Whole(room.count), most, Whole(0),
                                    Whole(l.free.count + 1), created);
  }
  static std::unique_ptr<Model> ModelOf(const weir::FixedWindow& l, std::uint32_t soft,
                                        const Whole& /*created*/) {
    const Nanos* period = std::get_if<Nanos>(&l.window);
    const Nanos day = std::chrono::hours(24);  // of UTC, the calendar that is this simple
    return std::make_unique<FixedWindow>(Whole(l.permits.count), Soft(l.permits, soft),
                                         Whole((period != nullptr ? *period : day).count()),
                                         l.start, l.denied);
  }
  static std::unique_ptr<Model> ModelOf(const weir::SlidingWindow& l, std::uint32_t soft,
                                        const Whole& /*created*/) {
    return std::make_unique<SlidingWindow>(Whole(l.quota.permits().count),
                                           Soft(l.quota.permits(), soft),
                                           Whole(l.quota.period().count()));
  }
  static std::unique_ptr<Model> ModelOf(const weir::SlidingCounters& l, std::uint32_t soft,
                                        const Whole& /*created*/) {
    return std::make_unique<SlidingCounters>(Whole(l.quota.permits().count),
                                             Soft(l.quota.permits(), soft),
                                             Whole(l.quota.period().count()), Whole(l.windows));
  }
  static std::unique_ptr<Model> ModelOf(const weir::SlidingLog& l, std::uint32_t soft,
                                        const Whole& /*created*/) {
    return std::make_unique<SlidingLog>(
        Whole(l.quota.permits().count), Soft(l.quota.permits(), soft),
        Whole(l.quota.period().count()), Whole(l.min_gap.count()), l.denied);
  }
  // A warming pacer is rounded at every step: property_test.cc compares it in its own way.
  static std::unique_ptr<Model> ModelOf(const weir::Pacer& l, std::uint32_t /*soft*/,
                                        const Whole& created) {
    return std::make_unique<Pacer>(RateOf(l.quota, 1), Whole(l.max_burst.count()), created);
  }

  // A clock that goes back by no more than what is remembered stands still.
  Moment Follow(Instant now) {
    const Whole asked = ToWhole(now);
    latest_ = std::max(latest_, asked);
    return {latest_, latest_ - asked};
  }

  [[nodiscard]] bool Never(const Whole& cost) const {
    return std::any_of(models_.begin(), models_.end(),
                       [&](const auto& model) { return cost > model->Most(); });
  }
  [[nodiscard]] bool Fit(const Whole& cost, const Whole& at) const {
    return std::all_of(models_.begin(), models_.end(),
                       [&](const auto& model) { return model->Fits(cost, at); });
  }
  void Add(const Whole& cost, const Whole& at) {
    for (const auto& model : models_) model->Add(cost, at);
  }
  void Refuse(const Whole& cost, const Whole& at) {
    for (const auto& model : models_) model->Refuse(cost, at);
  }
  [[nodiscard]] Whole Remaining(const Whole& at) const {
    Whole least = models_[0]->Remaining(at);
    for (const auto& model : models_) least = std::min(least, model->Remaining(at));
    return least;
  }
  [[nodiscard]] Whole Wait(const Whole& at) const {
    Whole longest = 0;
    for (const auto& model : models_) longest = std::max(longest, model->Wait(at));
    return longest;
  }
  [[nodiscard]] Whole WaitOf(const Whole& cost, const Whole& at) const {
    Limiter copy(*this);
    copy.Add(cost, at);
    return copy.Wait(at);
  }
  [[nodiscard]] bool Forgotten(const Whole& at) const {
    return std::all_of(models_.begin(), models_.end(),
                       [&](const auto& model) { return model->Forgotten(at); });
  }

  // Takes the step and checks verdict, wait and retry.
  std::string Admit(const Whole& cost, const Moment& at, const Decision& got) {
    if (Never(cost)) {
      if (got.verdict != Verdict::kNever) return "expected never";
      return got.retry_after == Nanos::max() ? "" : "a retry after never";
    }
    if (got.verdict == Verdict::kNever) return "never, although it can be had";
    if (cost == 0) {
      if (!got.allowed()) return "a look was refused";
      return got.wait == Nanos(0) && got.retry_after == Nanos(0) ? "" : "a look has to wait";
    }
    if (Fit(cost, at.now)) {
      if (!got.allowed()) return "refused, although it fits";
      Add(cost, at.now);
      if (got.retry_after != Nanos(0)) return "a retry although allowed";
      const bool above = std::any_of(models_.begin(), models_.end(),
                                     [&](const auto& model) { return model->Above(at.now); });
      if (above != (got.grace == Grace::kSoft)) return "grace";
      Whole wait = Wait(at.now);
      if (wait > 0) wait += at.ahead;
      return Whole(got.wait.count()) == wait ? "" : Wrong("wait", wait, got.wait.count());
    }
    if (got.allowed()) return "allowed, although it does not fit";
    Refuse(cost, at.now);
    const Whole retry = Whole(got.retry_after.count()) - at.ahead;
    if (retry <= 0) return "retry at once";
    if (!Fit(cost, at.now + retry)) return "the retry comes too early: " + retry.str();
    if (Fit(cost, at.now + retry - 1)) return "the retry could come earlier: " + retry.str();
    return "";
  }

  [[nodiscard]] std::string CheckLevel(const Moment& at, const Decision& got) const {
    const Whole remaining = Remaining(at.now);
    if (Whole(got.remaining.count) != remaining) {
      return Wrong("remaining", remaining, got.remaining.count);
    }
    if (got.reset_after == Nanos(0)) return Forgotten(at.now) ? "" : "reset at once";
    const Whole reset = Whole(got.reset_after.count()) - at.ahead;
    if (Forgotten(at.now + reset - 1)) return "the reset could come earlier: " + reset.str();
    if (got.reset_after == Nanos::max()) return "";  // or later
    return Forgotten(at.now + reset) ? "" : "the reset comes too early: " + reset.str();
  }

  std::vector<std::unique_ptr<Model>> models_;
  Whole foresight_;  // how far ahead the library lets reservations lie
  Whole latest_ = 0;
};

}  // namespace weir::reference
