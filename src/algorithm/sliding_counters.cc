#include "algorithm/sliding_counters.h"

#include <algorithm>
#include <string>

#include "algorithm/answer.h"
#include "algorithm/rate.h"
#include "algorithm/soft.h"
#include "base/wide_math.h"

namespace weir::algorithm {

Result<SlidingCounters> SlidingCounters::Make(const weir::SlidingCounters& limit,
                                              std::uint32_t soft_percent) {
  if (auto wrong = WhatIsWrongWith(limit.quota); !wrong.empty()) return Error{std::move(wrong)};
  constexpr std::uint32_t kMostWindows = 3600;
  if (limit.windows < 1 || limit.windows > kMostWindows) {
    return Error{"windows must be between 1 and " + std::to_string(kMostWindows) + ", got " +
                 std::to_string(limit.windows)};
  }
  if (limit.windows > limit.quota.period().count()) {
    return Error{"a window must be at least 1ns long: " + std::to_string(limit.windows) +
                 " windows do not fit " + std::to_string(limit.quota.period().count()) + "ns"};
  }
  SlidingCounters made(Windows::Equal(limit.quota.period(), limit.windows));
  made.period_ = static_cast<std::uint64_t>(limit.quota.period().count());
  made.parts_ = limit.windows;
  made.nominal_ = limit.quota.permits().count;
  made.most_ = WithSoft(limit.quota.permits(), soft_percent).count;
  return made;
}

std::uint64_t SlidingCounters::CountOf(const State& state, std::uint64_t number) const {
  const std::size_t pair = 2 * (number % parts_);
  return state.Get(pair) == number + 1 ? state.Get(pair + 1) : 0;
}

void SlidingCounters::SetCount(State& state, std::uint64_t number, std::uint64_t count) const {
  const std::size_t pair = 2 * (number % parts_);
  state.Set(pair, number + 1);
  state.Set(pair + 1, count);
}

std::uint64_t SlidingCounters::FirstInView(const View& view) const {
  return SatSub(view.last, parts_ - 1);
}

SlidingCounters::View SlidingCounters::Load(const State& state, std::uint64_t now_ns) const {
  const Windows::Span window = windows_.At(now_ns);
  View view{window.number, window.start_ns, 0};
  for (std::size_t pair = 0; pair < 2 * parts_; pair += 2) {
    if (state.Get(pair) > view.last + 1 && state.Get(pair + 1) > 0) {
      view.last = state.Get(pair) - 1;
      view.start_ns = windows_.StartOf(view.last);
    }
  }
  for (std::size_t pair = 0; pair < 2 * parts_; pair += 2) {
    if (state.Get(pair) > FirstInView(view)) view.used = SatAdd(view.used, state.Get(pair + 1));
  }
  return view;
}

std::uint64_t SlidingCounters::RemainingIn(const View& view, std::uint64_t now_ns) const {
  return view.start_ns > now_ns ? 0 : SatSub(nominal_, view.used);
}

std::uint64_t SlidingCounters::ResetIn(const State& state, const View& view,
                                       std::uint64_t now_ns) const {
  if (view.used == 0) return 0;
  std::uint64_t newest = view.last;
  while (newest > FirstInView(view) && CountOf(state, newest) == 0) --newest;
  return SatSub(windows_.StartOf(newest + parts_), now_ns);
}

Decision SlidingCounters::Admit(State& state, Permits cost, Instant now) const {
  const std::uint64_t now_ns = ToNanos(now);
  View view = Load(state, now_ns);
  const auto level = [&] { return Level{RemainingIn(view, now_ns), ResetIn(state, view, now_ns)}; };
  if (cost.count > most_) return Never(level());
  if (cost.count == 0) return Allow(level());
  const std::uint64_t after = SatAdd(view.used, cost.count);
  if (after <= most_) {
    if (view.start_ns > now_ns) return Deny(level(), view.start_ns - now_ns);
    SetCount(state, view.last, CountOf(state, view.last) + cost.count);
    view.used = after;
    return Allow(level(), 0, after > nominal_ ? Grace::kSoft : Grace::kNone);
  }
  // The oldest parts leave first, until what is left makes room.
  std::uint64_t over = after - most_;
  std::uint64_t leaving = FirstInView(view);
  for (; leaving < view.last; ++leaving) {
    const std::uint64_t count = CountOf(state, leaving);
    if (count >= over) break;
    over -= count;
  }
  return Deny(level(), windows_.StartOf(leaving + parts_) - now_ns);
}

Decision SlidingCounters::Charge(State& state, Permits cost, Instant now) const {
  const std::uint64_t now_ns = ToNanos(now);
  View view = Load(state, now_ns);
  if (cost.count > 0) {
    SetCount(state, view.last, SatAdd(CountOf(state, view.last), cost.count));
    view.used = SatAdd(view.used, cost.count);
  }
  return Allow({RemainingIn(view, now_ns), ResetIn(state, view, now_ns)});
}

void SlidingCounters::Refund(State& state, Permits cost, Instant now, Instant taken) const {
  const View view = Load(state, std::max(ToNanos(now), ToNanos(taken)));
  const std::uint64_t first = FirstInView(view);
  std::uint64_t number = std::min(view.last, windows_.At(ToNanos(taken)).number);
  std::uint64_t left = cost.count;
  // From the part it was taken in, then from older ones.
  for (; left > 0 && number >= first; --number) {
    const std::uint64_t count = CountOf(state, number);
    if (count > 0) SetCount(state, number, SatSub(count, left));
    left = SatSub(left, count);
    if (number == 0) break;
  }
}

std::uint64_t SlidingCounters::RefundableBy(const State& state, Instant now, Instant taken,
                                            std::size_t writes) const {
  const View view = Load(state, std::max(ToNanos(now), ToNanos(taken)));
  std::uint64_t number = std::min(view.last, windows_.At(ToNanos(taken)).number);
  std::uint64_t permits = 0;
  for (std::size_t left = writes; number >= FirstInView(view); --number) {
    const std::uint64_t count = CountOf(state, number);
    if (count > 0 && left-- == 0) return permits;
    permits = SatAdd(permits, count);
    if (number == 0) break;
  }
  return kMaxUint64;
}

void SlidingCounters::Carry(const SlidingCounters& old, const State& from, State& to,
                            Instant now) const {
  const View before = old.Load(from, ToNanos(now));
  if (before.used == 0) return;
  if (period_ == old.period_ && parts_ == old.parts_) {
    for (std::uint64_t n = FirstInView(before); n <= before.last; ++n) {
      if (const std::uint64_t count = old.CountOf(from, n); count > 0) SetCount(to, n, count);
    }
    return;
  }
  // Parts with other borders: all that is in view is used now.
  SetCount(to, windows_.At(std::max(ToNanos(now), before.start_ns)).number, before.used);
}

std::uint64_t SlidingCounters::ForgottenIn(const State& state, Instant now) const {
  return ResetIn(state, Load(state, ToNanos(now)), ToNanos(now));
}

}  // namespace weir::algorithm
