// Time as a limiter sees it when callers bring their own: it never goes back.
//
// An instant before one already seen counts as the latest seen: time stands still until the
// caller's clock has caught up, so that no stretch of time gives credit twice. That is right for a
// clock that is off by a moment. A clock that was set back by more than a limit remembers would
// lock its clients out until then; it is taken for what it is, a new reading of the same moment,
// and from there time goes on. If it turns out later that it was not set back, that is forgotten:
// of two readings of an instant, the one that gives less credit counts.
//
// Thread safety: may be shared. Only instants that go forward write.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/time.h"
#include "base/timeline_state.h"
#include "weir/decision.h"
#include "weir/units.h"

namespace weir {

class Timeline {
 public:
  // A moment on the line, and how far it is ahead of the instant that was asked for.
  struct Moment {
    Instant now;
    Nanos ahead;
  };

  Timeline(TimelineState& state, Nanos memory) : state_(state), memory_ns_(memory.count()) {}

  Moment Follow(Instant now) noexcept {
    const std::int64_t asked = std::max<std::int64_t>(now.time_since_epoch().count(), 0);
    std::int64_t latest = state_.latest_ns.load(std::memory_order_relaxed);
    std::int64_t set_back = state_.set_back_ns.load(std::memory_order_relaxed);
    if (set_back != 0 && asked >= latest) [[unlikely]] {
      set_back = 0;
      state_.set_back_ns.store(0, std::memory_order_relaxed);
    }
    const std::int64_t at = SatAdd(Nanos(asked), Nanos(set_back)).count();
    if (at < latest) [[unlikely]] {
      return Wait(asked, at, latest);
    }
    while (at > latest &&
           !state_.latest_ns.compare_exchange_weak(latest, at, std::memory_order_relaxed)) {
    }
    return {Instant(Nanos(at)), Nanos(0)};
  }

  // The same for instants from a clock that goes forward by itself: there is hardly ever something
  // to guard against, and only now and then something to note.
  Moment FollowClock(Instant now) noexcept {
    constexpr std::int64_t kOften = 1'000'000;  // nanoseconds
    const std::int64_t ahead =
        now.time_since_epoch().count() - state_.latest_ns.load(std::memory_order_relaxed);
    const bool set_back = state_.set_back_ns.load(std::memory_order_relaxed) != 0;
    if (ahead >= 0 && ahead <= kOften && !set_back) [[likely]] {
      return {now, Nanos(0)};
    }
    return FollowFar(now);
  }

  // Notes that time has gone on from `latest` to `now`; false, and nothing is noted, if there is
  // more to it.
  [[gnu::always_inline]] static bool GoesOn(TimelineState& state, std::int64_t latest,
                                            Instant now) noexcept {
    const std::int64_t asked = now.time_since_epoch().count();
    return asked > latest && state.set_back_ns.load(std::memory_order_relaxed) == 0 &&
           state.latest_ns.compare_exchange_strong(latest, asked, std::memory_order_relaxed);
  }

  // Durations in a decision count from the moment; the caller's clock is still behind it.
  static void Adjust(Decision& decision, Nanos ahead) noexcept {
    if (ahead == Nanos(0)) [[likely]] {
      return;
    }
    if (decision.verdict == Verdict::kDeny) {
      decision.retry_after = SatAdd(decision.retry_after, ahead);
    }
    if (decision.wait > Nanos(0)) decision.wait = SatAdd(decision.wait, ahead);
    if (decision.reset_after > Nanos(0)) {
      decision.reset_after = SatAdd(decision.reset_after, ahead);
    }
  }

  void set_memory(Nanos memory) noexcept {
    memory_ns_.store(memory.count(), std::memory_order_relaxed);
  }

 private:
  // Apart, so that what is inlined for all others is short.
  [[gnu::noinline]] Moment FollowFar(Instant now) noexcept { return Follow(now); }
  Moment Wait(std::int64_t asked, std::int64_t at, std::int64_t latest) noexcept {
    if (latest - at <= memory_ns_.load(std::memory_order_relaxed))
      return {Instant(Nanos(latest)), Nanos(latest - at)};
    state_.set_back_ns.store(latest - asked, std::memory_order_relaxed);
    return {Instant(Nanos(latest)), Nanos(0)};
  }

  TimelineState& state_;
  std::atomic<std::int64_t> memory_ns_;
};

}  // namespace weir
