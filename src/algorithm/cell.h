// A token bucket whose limit comes with each request, as redis-cell has it.
//
// The word is the instant at which the bucket is full again, and says so by itself, whatever limit
// it was written under: each request may bring another one, and nothing of it is kept. 0 is a key
// never seen.
//
// Instants are counted in sixteenths of a nanosecond since 2024, which lasts until 2060. The time
// of one permit is rounded up to that, so that a rate is never exceeded: at ten million per second
// the error is one part in 1,600, at 1,000 per second one in 16 million.
#pragma once

#include <cstdint>
#include <optional>

#include "weir/decision.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir::algorithm {

class Cell {
 public:
  // `burst` at once (at least 1), and `count` per `period`. What does not fit the arithmetic is as
  // slow as can be counted, never faster than was asked for.
  static Result<Cell> Of(Permits burst, Permits count, Nanos period);

  // A cost of 0 only looks.
  Decision Admit(std::uint64_t& word, Permits cost, Instant now) const noexcept;

  // Until the word says nothing any more.
  static Nanos ForgottenIn(std::uint64_t word, Instant now) noexcept;

  [[nodiscard]] Permits burst() const { return burst_; }

 private:
  Cell(Permits burst, std::uint64_t interval, std::uint64_t capacity)
      : burst_(burst), interval_(interval), capacity_(capacity) {}

  Permits burst_;
  std::uint64_t interval_;  // of one permit
  std::uint64_t capacity_;  // of the burst
};

}  // namespace weir::algorithm
