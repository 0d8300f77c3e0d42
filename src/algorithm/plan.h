// A limit, checked and ready to compute with: one algorithm, or several that must all agree.
//
// This is where "all or nothing", reservations and looks are made from the one thing an algorithm
// can do, admit a cost at an instant. A reservation is nothing but a request that is admitted at
// the first instant at which it can be.
//
// The state of a key under a plan is the words of its algorithms one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "algorithm/bucket.h"
#include "algorithm/fixed_window.h"
#include "algorithm/pacer.h"
#include "algorithm/sliding_counters.h"
#include "algorithm/sliding_log.h"
#include "algorithm/sliding_window.h"
#include "algorithm/state.h"
#include "weir/limit.h"
#include "weir/reservation.h"
#include "weir/result.h"

namespace weir::algorithm {

class Plan {
 public:
  // Fails with the first limit that makes no sense, and why.
  static Result<Plan> Of(const Limit& limit);

  [[nodiscard]] std::size_t words() const { return words_; }
  // The bucket that is the whole plan, or null: the case worth a shorter way.
  [[nodiscard]] const Bucket* only_bucket() const {
    return parts_.size() == 1 ? std::get_if<Bucket>(&parts_[0].step) : nullptr;
  }

  // Notes that the key is known from `now` on, where that makes a difference later.
  void Start(State& state, Instant now) const;
  // Takes `cost` from every limit, or from none.
  Decision Admit(State& state, Permits cost, Instant now) const;
  // The same answer, but nothing is taken.
  Decision Peek(State& state, Permits cost, Instant now) const;
  // Takes what is there, at most `cost`.
  Partial TakeUpTo(State& state, Permits cost, Instant now) const;
  // Somebody else refused what this plan would admit: it counts where refusals do.
  void CountRefusal(State& state, Permits cost, Instant now) const;
  [[nodiscard]] bool counts_refusals() const { return counts_refusals_; }
  // Takes `cost` at the first instant at which it can be had, if that is within `patience` of now,
  // and not farther away than foresight().
  Reservation Reserve(State& state, Permits cost, Instant now, Nanos patience) const;
  Decision Charge(State& state, Permits cost, Instant now) const;
  // Gives back what one step can, at most `cost`, and says how much that was. If it is less, there
  // is more to give back in another step; 0 says that there is nothing left.
  Permits Refund(State& state, Permits cost, Instant now, Instant taken) const;

  // Writes to the zeroed words `to` what was used under `old`. Limits are matched by their order.
  void Carry(const Plan& old, std::span<const std::uint64_t> from, std::span<std::uint64_t> to,
             Instant now) const;

  // Leaves no bucket in debt, only empty.
  void ForgiveDebt(std::span<std::uint64_t> words, Instant now) const;

  // Until nothing of the state is remembered any more.
  [[nodiscard]] Nanos ForgottenIn(State& state, Instant now) const;
  // The longest that a key without debt is remembered.
  [[nodiscard]] Nanos memory() const { return memory_; }
  // How far ahead reservations may lie: weeks at the oddest rates, decades at most others.
  [[nodiscard]] Nanos foresight() const { return foresight_; }

 private:
  using Step = std::variant<Bucket, FixedWindow, SlidingWindow, SlidingCounters, SlidingLog, Pacer>;
  struct Part {
    Step step;
    std::size_t offset;  // of its words in the state
    Permits nominal;
    std::optional<Step> lenient;  // where refusals count: the same, but they do not
  };

  Plan() = default;

  static Result<Step> Compile(const Algorithm& algorithm, std::uint32_t soft_percent);
  // `refusals` are counted only by the limits that were asked to.
  Decision AdmitAll(State& state, Permits cost, Instant now, Denied refusals) const;
  Decision Refuse(State& state, Permits cost, Instant now, const Decision& why) const;
  // A key never seen is known from `now` on, though it acts later.
  void Begin(State& state, Instant now) const;

  std::vector<Part> parts_;
  bool counts_refusals_ = false;
  std::size_t words_ = 0;
  Nanos memory_{0};
  Nanos foresight_ = Nanos::max();
};

}  // namespace weir::algorithm
