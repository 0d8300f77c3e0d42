// Sliding counters: a counter for each of K equal parts of the period, "60 counters per hour".
// docs/algorithms/sliding_counters.md
//
//     | 3 | 0 | 7 | 1 | 2 |        the limit holds over the K parts that end with the current one;
//     '--- K parts ---' ^now       a part leaves the view as a whole
//
// The state is a ring of K pairs (number of the part + 1, count). A pair whose number is out of
// view counts for nothing, so parts in which nothing happened need not be cleared.
#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithm/state.h"
#include "algorithm/windows.h"
#include "base/time.h"
#include "weir/decision.h"
#include "weir/limit.h"

namespace weir::algorithm {

class SlidingCounters {
 public:
  static Result<SlidingCounters> Make(const weir::SlidingCounters& limit,
                                      std::uint32_t soft_percent);

  [[nodiscard]] std::size_t words() const { return 2 * parts_; }

  Decision Admit(State& state, Permits cost, Instant now) const;
  Decision Charge(State& state, Permits cost, Instant now) const;
  void Refund(State& state, Permits cost, Instant now, Instant taken) const;
  // How much can be refunded by changing `writes` words at most.
  [[nodiscard]] std::uint64_t RefundableBy(const State& state, Instant now, Instant taken,
                                           std::size_t writes) const;
  // Permits used as of now, those above the limit included.
  [[nodiscard]] std::uint64_t Used(const State& state, Instant now) const {
    return Load(state, ToNanos(now)).used;
  }
  void Carry(const SlidingCounters& old, const State& from, State& to, Instant now) const;
  [[nodiscard]] std::uint64_t ForgottenIn(const State& state, Instant now) const;
  [[nodiscard]] std::uint64_t Memory() const { return period_; }

 private:
  // The parts in view end with `last`: the current one, or one ahead that was reserved.
  struct View {
    std::uint64_t last;
    std::uint64_t start_ns;  // of `last`
    std::uint64_t used;
  };

  explicit SlidingCounters(Windows windows) : windows_(std::move(windows)) {}

  [[nodiscard]] View Load(const State& state, std::uint64_t now_ns) const;
  [[nodiscard]] std::uint64_t CountOf(const State& state, std::uint64_t number) const;
  void SetCount(State& state, std::uint64_t number, std::uint64_t count) const;
  [[nodiscard]] std::uint64_t FirstInView(const View& view) const;
  [[nodiscard]] std::uint64_t RemainingIn(const View& view, std::uint64_t now_ns) const;
  [[nodiscard]] std::uint64_t ResetIn(const State& state, const View& view,
                                      std::uint64_t now_ns) const;

  Windows windows_;
  std::uint64_t period_ = 0;
  std::uint64_t parts_ = 1;
  std::uint64_t nominal_ = 0;
  std::uint64_t most_ = 0;  // with what a soft limit lets through above it
};

}  // namespace weir::algorithm
