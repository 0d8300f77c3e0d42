// Token bucket, leaky bucket and pacer.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "algorithm/rate.h"
#include "model.h"
#include "weir/limit.h"

namespace weir::reference {

// The library's documented rounding: a rate that is not exact is a little lower (algorithm/rate.h),
// and carried or owed amounts are whole ticks.
struct EffectiveRate {
  explicit EffectiveRate(algorithm::Rate rate)
      : per_nano(Whole(rate.ticks_per_nano), Whole(rate.ticks_per_permit)),
        permits_per_tick(1, Whole(rate.ticks_per_permit)),
        ticks_per_nano(rate.ticks_per_nano),
        horizon(rate.Horizon()) {}

  Number per_nano;  // permits
  Number permits_per_tick;
  Whole ticks_per_nano;
  Whole horizon;  // in ticks
};

// Holds `most` permits; what is missing comes in at the rate. May be in debt.
class Bucket : public Sum {
 public:
  Bucket(const EffectiveRate& rate, Whole nominal, Whole most, Whole missing, Whole free,
         Whole created)
      : Sum(std::move(nominal), std::move(most)),
        rate_(rate),
        missing_(missing),
        at_(std::move(created)),
        free_(std::move(free)) {}

  [[nodiscard]] std::unique_ptr<Model> Clone() const override {
    return std::make_unique<Bucket>(*this);
  }

  [[nodiscard]] Number Used(const Whole& at) const override {
    const Number missing = missing_ - Number(at - at_) * rate_.per_nano;
    return missing > 0 ? missing : Number(0);
  }
  void Add(const Whole& cost, const Whole& at) override {
    missing_ = std::min(MostMissing(), Used(at) + Number(cost));
    at_ = at;
  }
  void Remove(const Whole& cost, const Whole& at) override {
    missing_ = std::max(Number(0), Used(at) - Number(cost));
    at_ = at;
  }
  [[nodiscard]] Whole Wait(const Whole& at) const override {
    const Number above = Used(at) - Number(free_);
    return above > 0 ? Ceil(above / rate_.per_nano) : Whole(0);
  }
  // What was missing stays missing, in whole ticks.
  void Inherit(const Bucket& old, const Whole& at) {
    const Number missing = Number(Ceil(old.Used(at) / rate_.permits_per_tick));
    missing_ = std::min(MostMissing(), Number(missing * rate_.permits_per_tick));
    at_ = at;
  }

 private:
  // Debt is bounded, to just below as much again or what can be told from the past.
  [[nodiscard]] Number MostMissing() const {
    const Number debt = rate_.permits_per_tick * Number(rate_.horizon);
    return Number(most_) + std::max(Number(most_), debt) - rate_.permits_per_tick;
  }

  EffectiveRate rate_;
  Number missing_;  // from the bucket, at `at_`
  Whole at_;
  Whole free_;  // what is missing beyond this has to wait
};

// Guava's smooth bursty: each pays for the one before; idle time is stored.
class Pacer : public Model {
 public:
  Pacer(const EffectiveRate& rate, const Whole& max_burst, const Whole& created)
      : rate_(rate), most_stored_(Number(max_burst) * rate.per_nano), turn_(created) {}

  [[nodiscard]] std::unique_ptr<Model> Clone() const override {
    return std::make_unique<Pacer>(*this);
  }
  // The farthest turn there is, is four horizons away; nobody takes more than half of that.
  [[nodiscard]] Whole Most() const override {
    return Floor(rate_.permits_per_tick * Number(2 * rate_.horizon));
  }
  [[nodiscard]] bool Fits(const Whole& /*cost*/, const Whole& at) const override {
    return Number(at) >= turn_;
  }
  [[nodiscard]] Whole Remaining(const Whole& at) const override {
    return Number(at) >= turn_ ? Floor(StoredAt(at)) : Whole(0);
  }
  [[nodiscard]] bool Forgotten(const Whole& at) const override {
    return Number(at) >= turn_ && StoredAt(at) == most_stored_;
  }
  void Add(const Whole& cost, const Whole& at) override {
    const Number stored = StoredAt(at);
    const Number from_stored = std::min(stored, Number(cost));
    const Number next = std::max(turn_, Number(at)) + (Number(cost) - from_stored) / rate_.per_nano;
    turn_ = std::min(next, Number(at) + Number(4 * rate_.horizon, rate_.ticks_per_nano));
    stored_ = stored - from_stored;
  }
  void Charge(const Whole& cost, const Whole& at) override { Add(cost, at); }
  void Remove(const Whole& cost, const Whole& at) override {
    const Number stored = StoredAt(at);
    const Number ahead = std::max(Number(0), turn_ - Number(at));
    const Number sooner = std::min(ahead, Number(cost) / rate_.per_nano);
    turn_ = Number(at) + ahead - sooner;
    stored_ = std::min(most_stored_, stored + Number(cost) - sooner * rate_.per_nano);
  }

 private:
  [[nodiscard]] Number StoredAt(const Whole& at) const {
    if (Number(at) <= turn_) return stored_;
    return std::min(most_stored_, stored_ + (Number(at) - turn_) * rate_.per_nano);
  }

  EffectiveRate rate_;
  Number most_stored_;
  Number turn_;       // when the next one may go
  Number stored_{0};  // at that instant
};

// Guava's smooth warming up, by its definition: the time of a permit is the height of this line at
// what is stored, and taking permits walks along it from right to left.
//
//     cold * interval |            /
//                     |          /
//            interval |---------'
//                     +---------+--+--> stored permits
//                       threshold  most
class WarmingPacer {
 public:
  WarmingPacer(const EffectiveRate& rate, const Whole& warm_up, const Number& cold)
      : interval_(1 / rate.per_nano),
        cold_interval_(interval_ * cold),
        warm_up_(warm_up),
        threshold_(warm_up_ / 2 / interval_),
        most_(threshold_ + 2 * warm_up_ / (interval_ + cold_interval_)),
        stored_(most_) {}

  // How long the caller waits.
  Whole Acquire(const Whole& cost, const Whole& now) {
    if (Number(now) > turn_) {
      stored_ = std::min(most_, Number(stored_ + (Number(now) - turn_) * most_ / warm_up_));
      turn_ = Number(now);
    }
    const Whole wait = Ceil(turn_ - Number(now));
    const Number from_stored = std::min(stored_, Number(cost));
    const Number to = stored_ - from_stored;
    turn_ += AreaUpTo(stored_) - AreaUpTo(to) + (Number(cost) - from_stored) * interval_;
    stored_ = to;
    return wait;
  }

 private:
  [[nodiscard]] Number AreaUpTo(const Number& stored) const {
    const Number cold = std::max(Number(0), Number(stored - threshold_));
    const Number slope = (cold_interval_ - interval_) / (most_ - threshold_);
    return stored * interval_ + cold * cold * slope / 2;
  }

  Number interval_;
  Number cold_interval_;
  Number warm_up_;
  Number threshold_;
  Number most_;
  Number stored_;
  Number turn_{0};
};

}  // namespace weir::reference
