// Pacer: Guava's smooth bursty and smooth warming up. docs/algorithms/pacer.md
//
// Requests go one after the other, and each pays for the one before: the state is when the next one
// may go, and how much idle time is stored up to then. Stored permits of a bursty pacer cost
// nothing. A warming one is the colder the more it has stored, and cold permits take longer:
//
//     time per     ^                /  cold_factor * interval
//     permit       |              /
//                  |            /      taking permits walks from right to left, and the time it
//       interval   |----------'        takes is the area under the line
//                  |          |    |
//                  +----------+----+---> stored permits
//                  0  threshold  most
//
// All is whole numbers: time in ticks of rate.h, permits in the ticks they take at the stable rate.
#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithm/rate.h"
#include "algorithm/state.h"
#include "weir/decision.h"
#include "weir/limit.h"

namespace weir::algorithm {

class Pacer {
 public:
  static Result<Pacer> Make(const weir::Pacer& limit, std::uint32_t soft_percent);

  [[nodiscard]] static std::size_t words() { return 2; }

  // Idle time counts from when the pacer was made.
  void Start(State& state, Instant now) const;
  Decision Admit(State& state, Permits cost, Instant now) const;
  Decision Charge(State& state, Permits cost, Instant now) const;
  void Refund(State& state, Permits cost, Instant now, Instant taken) const;
  void Carry(const Pacer& old, const State& from, State& to, Instant now) const;
  // Permits that were taken ahead of time, rounded up.
  [[nodiscard]] std::uint64_t Used(const State& state, Instant now) const;
  [[nodiscard]] std::uint64_t ForgottenIn(const State& state, Instant now) const;
  [[nodiscard]] std::uint64_t Memory() const;
  // How far ahead a reservation may lie.
  [[nodiscard]] std::uint64_t Foresight() const;

 private:
  // Where things are in the state: one above the tick of the next turn (0: never seen), and what is
  // stored.
  enum : std::size_t { kNextTurn, kStored };

  struct Turn {
    std::uint64_t now;     // ticks
    std::uint64_t ahead;   // ticks until the next turn, 0 if it has come
    std::uint64_t stored;  // at the next turn or now, whichever is later
  };

  Pacer() = default;

  [[nodiscard]] Turn Load(const State& state, Instant now) const;
  void Store(State& state, const Turn& turn) const;
  // Takes `cost` from what is stored, the rest is fresh; the turn after this one moves.
  void Spend(Turn& turn, Permits cost) const;
  [[nodiscard]] std::uint64_t CostOfStored(std::uint64_t stored, std::uint64_t taken) const;
  [[nodiscard]] std::uint64_t StoredIn(std::uint64_t idle) const;
  [[nodiscard]] std::uint64_t IdleFor(std::uint64_t stored) const;
  [[nodiscard]] std::uint64_t NanosFor(std::uint64_t ticks) const;
  [[nodiscard]] std::uint64_t ResetIn(const Turn& turn) const;

  Rate rate_{};
  std::uint64_t live_ = 0;  // how far ahead the next turn can be; what is farther lies in the past
  std::uint64_t most_stored_ = 0;
  std::uint64_t stored_at_first_ = 0;
  // Warming up only.
  std::uint64_t warm_up_ = 0;    // ticks
  std::uint64_t threshold_ = 0;  // stored ticks above which permits cost more
  std::uint64_t cold_milli_ = 1000;
};

}  // namespace weir::algorithm
