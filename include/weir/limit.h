// What is allowed: a quota, the algorithm that enforces it, and several of them together.
//
// These are plain values that say what the user wants. They are checked, and brought into the form
// the algorithms compute with, when a limiter is made from them.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "weir/result.h"
#include "weir/units.h"

namespace weir {

// `permits` per `period`: a rational number, kept as one. From 1 per year to 1 billion per second.
class Quota {
 public:
  static constexpr Quota Per(std::uint64_t permits, Nanos period) {
    return Quota(Permits{permits}, period);
  }
  static constexpr Quota PerSecond(std::uint64_t n) { return Per(n, std::chrono::seconds(1)); }
  static constexpr Quota PerMinute(std::uint64_t n) { return Per(n, std::chrono::minutes(1)); }
  static constexpr Quota PerHour(std::uint64_t n) { return Per(n, std::chrono::hours(1)); }
  static constexpr Quota PerDay(std::uint64_t n) { return Per(n, std::chrono::hours(24)); }

  // How much may be taken at once. Default: the permits of one period.
  [[nodiscard]] constexpr Quota Burst(std::uint64_t n) const {
    Quota q = *this;
    q.burst_ = Permits{n};
    return q;
  }
  // How much is there at the start. Default: the burst ("starts full").
  [[nodiscard]] constexpr Quota Initial(std::uint64_t n) const {
    Quota q = *this;
    q.initial_ = Permits{n};
    return q;
  }

  [[nodiscard]] constexpr Permits permits() const { return permits_; }
  [[nodiscard]] constexpr Nanos period() const { return period_; }
  [[nodiscard]] constexpr Permits burst() const { return burst_.value_or(permits_); }
  [[nodiscard]] constexpr Permits initial() const { return initial_.value_or(burst()); }
  [[nodiscard]] constexpr bool has_burst() const { return burst_.has_value(); }
  [[nodiscard]] constexpr bool has_initial() const { return initial_.has_value(); }

  bool operator==(const Quota&) const = default;

 private:
  constexpr Quota(Permits permits, Nanos period) : permits_(permits), period_(period) {}

  Permits permits_;
  Nanos period_;
  std::optional<Permits> burst_;
  std::optional<Permits> initial_;
};

// Whether a refused request counts against its client too.
enum class Denied : std::uint8_t { kIgnored, kCounted };

// A bucket that holds `burst` permits and is refilled at the quota's rate. May go into debt.
struct TokenBucket {
  Quota quota;
  bool operator==(const TokenBucket&) const = default;
};

// Constant outflow. Without a queue it is a meter: one request per interval, the rest is refused.
// With one it is a shaper: up to `queue` requests are told how long to wait for their turn, the
// first `free` of them are waved through. (nginx: burst = queue, delay = free, nodelay: free =
// queue.)
struct LeakyBucket {
  Quota quota;
  Permits queue{};
  Permits free{};
  bool operator==(const LeakyBucket&) const = default;
};

enum class WindowStart : std::uint8_t {
  kEpoch,         // windows follow each other from the Unix epoch (or midnight, for calendar ones)
  kFirstRequest,  // a window starts with the first request after the last one ended
};

enum class CalendarUnit : std::uint8_t { kDay, kWeek, kMonth, kYear };

// Days, weeks (from Monday), months and years as they pass in a place, e.g. "Europe/Berlin".
struct Calendar {
  CalendarUnit unit = CalendarUnit::kDay;
  std::string zone = "UTC";
  bool operator==(const Calendar&) const = default;
};

// A counter per window.
struct FixedWindow {
  Permits permits;
  std::variant<Nanos, Calendar> window;
  WindowStart start = WindowStart::kEpoch;
  Denied denied = Denied::kIgnored;
  bool operator==(const FixedWindow&) const = default;
};

// Two counters: this window's, and the one before weighted by how much of it is still in view.
struct SlidingWindow {
  Quota quota;
  bool operator==(const SlidingWindow&) const = default;
};

// `windows` counters for equal parts of the period ("60 counters per hour").
struct SlidingCounters {
  Quota quota;
  std::uint32_t windows = 60;
  bool operator==(const SlidingCounters&) const = default;
};

// The instant of every request of the last period. Exact, at 16 bytes per permit.
struct SlidingLog {
  Quota quota;
  Nanos min_gap{0};  // the least time between two requests
  Denied denied = Denied::kIgnored;
  bool operator==(const SlidingLog&) const = default;
};

// Guava's RateLimiter: evenly spaced permits, the next caller pays for this one. Idle time is
// stored, up to `max_burst` of it (smooth bursty). With `warm_up` the limiter starts cold, at
// `cold_factor` times the interval, and speeds up while it is used (smooth warming up).
struct Pacer {
  Quota quota;
  Nanos max_burst = std::chrono::seconds(1);
  Nanos warm_up{0};
  double cold_factor = 3.0;
  bool operator==(const Pacer&) const = default;
};

using Algorithm = std::variant<TokenBucket, LeakyBucket, FixedWindow, SlidingWindow,
                               SlidingCounters, SlidingLog, Pacer>;

// One limit, or several that act as one: all or nothing, nothing is charged on a refusal.
class Limit {
 public:
  // A quota is a token bucket, and every algorithm is a limit: no need to say so.
  // NOLINTBEGIN(google-explicit-constructor)
  Limit(Quota quota) : Limit(TokenBucket{quota}) {}
  template <typename A>
  requires std::constructible_from<Algorithm, A> Limit(A algorithm)
      : parts_{Algorithm(std::move(algorithm))} {}
  // NOLINTEND(google-explicit-constructor)

  // Every one of `limits` must agree.
  static Limit AllOf(std::initializer_list<Limit> limits) {
    Limit all;
    for (const Limit& limit : limits) all = std::move(all) + limit;
    return all;
  }
  friend Limit operator+(Limit a, const Limit& b) {
    a.parts_.insert(a.parts_.end(), b.parts_.begin(), b.parts_.end());
    if (b.soft_percent_ > a.soft_percent_) a.soft_percent_ = b.soft_percent_;
    return a;
  }

  // Lets `percent` above the limit through and marks it (Grace::kSoft) before it refuses.
  [[nodiscard]] Limit Soft(std::uint32_t percent) const {
    Limit limit = *this;
    limit.soft_percent_ = percent;
    return limit;
  }

  // What a limiter would object to; nothing if the limit is sound.
  [[nodiscard]] std::optional<Error> WhatIsWrong() const;

  // "token_bucket 10/1s burst 3 + fixed_window 500/1h", the notation of docs/traces.md.
  static Result<Limit> Parse(std::string_view text);
  [[nodiscard]] std::string ToString() const;

  [[nodiscard]] const std::vector<Algorithm>& parts() const { return parts_; }
  [[nodiscard]] std::uint32_t soft_percent() const { return soft_percent_; }

  bool operator==(const Limit&) const = default;

 private:
  Limit() = default;

  std::vector<Algorithm> parts_;
  std::uint32_t soft_percent_ = 0;
};

}  // namespace weir
