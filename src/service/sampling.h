// Which of many decisions are looked at closely: all while there are few, one in so many when there
// are more, so that looking costs a fixed part of a thread's time.
//
// An event that is looked at stands for `weight` events: the sum of weights is, on average, the
// number of events. The distance to the next one is drawn at random, so that nothing that comes at
// regular intervals is always seen or never.
//
// Thread safety: one thread counts; none of it is torn if several do.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/time.h"
#include "weir/units.h"

namespace weir {

class Sampling {
 public:
  // About so many are looked at, per second and thread.
  static constexpr std::uint32_t kPerSecond = 1'000;

  explicit Sampling(std::uint64_t seed) : random_(seed | 1) {}

  // Whether it is this event's turn: the one thing that every event costs. After a silence it is,
  // however many were to be passed over while there was more to do.
  bool IsTurn(Instant now) noexcept {
    const std::uint32_t left = left_.load(std::memory_order_relaxed) - 1;
    left_.store(left, std::memory_order_relaxed);
    return left == 0 || now >= latest_.load(std::memory_order_relaxed);
  }

  // What an event whose turn it is stands for. Chooses the next one.
  std::uint64_t Take(Instant now) noexcept {
    const std::uint32_t left = left_.load(std::memory_order_relaxed);
    const std::uint32_t passed = distance_ - std::min(left, distance_);
    const bool was_silent = left != 0;
    const std::uint64_t weight = was_silent ? std::max(passed, 1U) : interval_;
    Adapt(now, was_silent ? std::max(passed, 1U) : interval_);
    // Between 1 and twice the interval less 1: the interval, on average.
    distance_ = interval_ == 1 ? 1 : 1 + static_cast<std::uint32_t>(Random() % (2 * interval_ - 1));
    left_.store(distance_, std::memory_order_relaxed);
    latest_.store(Later(now, kSilence), std::memory_order_relaxed);
    return weight;
  }

  // One in so many is looked at.
  [[nodiscard]] std::uint32_t interval() const noexcept { return interval_; }

 private:
  static constexpr Nanos kRound = std::chrono::milliseconds(100);
  static constexpr Nanos kSilence = std::chrono::seconds(1);
  static constexpr std::uint32_t kPerRound = kPerSecond / 10;
  static constexpr std::uint32_t kLargest = 1U << 20;

  void Adapt(Instant now, std::uint32_t interval) noexcept {
    interval_ = interval;
    ++seen_;
    if (seen_ >= kPerRound && now < Later(round_, kRound)) {
      interval_ = std::min(interval * 2, kLargest);
    } else if (now < Later(round_, kRound) && now >= round_) {
      return;
    } else if (seen_ < kPerRound / 4) {
      interval_ = std::max(interval / 2, 1U);
    }
    seen_ = 0;
    round_ = now;
  }
  std::uint64_t Random() noexcept {  // xorshift64
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  std::atomic<std::uint32_t> left_ = 1;      // events until the next turn
  std::atomic<Instant> latest_ = Instant{};  // its turn comes then, whatever is left
  std::uint32_t distance_ = 1;               // what was left at first
  std::uint32_t interval_ = 1;
  std::uint32_t seen_ = 0;  // in this round
  Instant round_{};         // its beginning
  std::uint64_t random_;
};

}  // namespace weir
