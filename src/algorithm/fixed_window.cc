#include "algorithm/fixed_window.h"

#include <algorithm>
#include <string>

#include "algorithm/answer.h"
#include "algorithm/rate.h"
#include "algorithm/soft.h"
#include "base/wide_math.h"

namespace weir::algorithm {
namespace {

constexpr std::uint64_t LowBits(int bits) { return (std::uint64_t{1} << bits) - 1; }

}  // namespace

Result<FixedWindow> FixedWindow::Make(const weir::FixedWindow& limit, std::uint32_t soft_percent) {
  if (limit.permits.count == 0)
    return Error{"the limit must be at least 1 permit per window, got 0"};
  Result<Windows> windows = Error{};
  if (const Nanos* period = std::get_if<Nanos>(&limit.window)) {
    if (auto wrong = WhatIsWrongWith(Quota::Per(limit.permits.count, *period)); !wrong.empty()) {
      return Error{std::move(wrong)};
    }
    windows = Windows::Equal(*period);
  } else if (limit.start == WindowStart::kFirstRequest) {
    return Error{"a calendar window starts with the calendar: drop 'start first' or give a length"};
  } else {
    windows = Windows::Of(std::get<Calendar>(limit.window));
    if (!windows) return windows.error();
  }

  FixedWindow made(*windows, limit.start);
  made.denied_ = limit.denied;
  made.nominal_ = limit.permits.count;
  made.most_ = WithSoft(limit.permits, soft_percent).count;
  if (limit.start == WindowStart::kEpoch) {
    const std::uint64_t last_number = ToNanos(Instant::max()) / made.windows_.shortest_ns();
    made.used_bits_ = std::min(63, 64 - BitWidth(last_number));
  }
  if (made.most_ > LowBits(made.used_bits_)) {
    return Error{"a window holds at most " + std::to_string(LowBits(made.used_bits_)) +
                 " permits, got " + std::to_string(made.most_)};
  }
  return made;
}

FixedWindow::Held FixedWindow::Load(const State& state, std::uint64_t now_ns) const {
  if (start_ == WindowStart::kFirstRequest) {
    const std::uint64_t period = windows_.longest_ns();
    Held held{{0, now_ns, SatAdd(now_ns, period)}, 0};
    if (state.Get(0) == 0) return held;
    const std::uint64_t start = state.Get(0) - 1;
    const std::uint64_t passed = SatSub(now_ns, start) / period;
    const std::uint64_t used = SatSub(state.Get(1), Saturate(Mul(passed, most_)));
    if (used == 0 && start <= now_ns) return held;  // over, or all of it was given back
    held.window.start_ns = SatAdd(start, Saturate(Mul(passed, period)));
    held.window.end_ns = SatAdd(held.window.start_ns, period);
    held.used = used;
    return held;
  }
  Held held{windows_.At(now_ns), 0};
  const std::uint64_t number = state.Get(0) >> used_bits_;
  const std::uint64_t used = state.Get(0) & LowBits(used_bits_);
  if (number <= held.window.number) {
    held.used = SatSub(used, Saturate(Mul(held.window.number - number, most_)));
  } else {
    held = {{number, windows_.StartOf(number), windows_.StartOf(number + 1)}, used};
  }
  return held;
}

void FixedWindow::Store(State& state, const Held& held) const {
  if (start_ == WindowStart::kFirstRequest) {
    state.Set(0, SatAdd(held.window.start_ns, std::uint64_t{1}));
    state.Set(1, held.used);
  } else {
    state.Set(0, held.window.number << used_bits_ | std::min(held.used, LowBits(used_bits_)));
  }
}

std::uint64_t FixedWindow::StartAfter(const Held& held, std::uint64_t count) const {
  if (start_ == WindowStart::kFirstRequest) {
    return SatAdd(held.window.start_ns, Saturate(Mul(count, windows_.longest_ns())));
  }
  return windows_.StartOf(SatAdd(held.window.number, count));
}

std::uint64_t FixedWindow::ResetIn(const Held& held, std::uint64_t now_ns) const {
  if (held.used == 0 && held.window.start_ns <= now_ns) return 0;
  const std::uint64_t windows = std::max<std::uint64_t>(1, CeilDiv(held.used, most_));
  return SatSub(StartAfter(held, windows), now_ns);
}

std::uint64_t FixedWindow::RemainingIn(const Held& held, std::uint64_t now_ns) const {
  return held.window.start_ns > now_ns ? 0 : SatSub(nominal_, held.used);
}

Decision FixedWindow::Admit(State& state, Permits cost, Instant now) const {
  const std::uint64_t now_ns = ToNanos(now);
  Held held = Load(state, now_ns);
  const auto level = [&] { return Level{RemainingIn(held, now_ns), ResetIn(held, now_ns)}; };
  if (cost.count > most_) return Never(level());
  if (cost.count == 0) return Allow(level());

  const bool begun = held.window.start_ns <= now_ns;
  const std::uint64_t after = SatAdd(held.used, cost.count);
  if (begun && after <= most_) {
    held.used = after;
    Store(state, held);
    return Allow(level(), 0, after > nominal_ ? Grace::kSoft : Grace::kNone);
  }
  if (begun && denied_ == Denied::kCounted && held.used < most_) {
    held.used = most_;
    Store(state, held);
  }
  const std::uint64_t over = SatSub(SatAdd(held.used, cost.count), most_);
  return Deny(level(), SatSub(StartAfter(held, CeilDiv(over, most_)), now_ns));
}

Decision FixedWindow::Charge(State& state, Permits cost, Instant now) const {
  const std::uint64_t now_ns = ToNanos(now);
  Held held = Load(state, now_ns);
  if (cost.count > 0) {
    held.used = std::min(SatAdd(held.used, cost.count), LowBits(used_bits_));
    Store(state, held);
  }
  return Allow({RemainingIn(held, now_ns), ResetIn(held, now_ns)});
}

void FixedWindow::Refund(State& state, Permits cost, Instant now, Instant taken) const {
  Held held = Load(state, std::max(ToNanos(now), ToNanos(taken)));
  if (held.used == 0 || ToNanos(taken) < held.window.start_ns) return;
  held.used = SatSub(held.used, cost.count);
  Store(state, held);
}

void FixedWindow::Carry(const FixedWindow& old, const State& from, State& to, Instant now) const {
  const Held before = old.Load(from, ToNanos(now));
  if (before.used == 0) return;
  // A window that was reserved stays ahead.
  Held held = Load(to, std::max(ToNanos(now), before.window.start_ns));
  if (start_ == old.start_ && start_ == WindowStart::kFirstRequest) {
    held.window.start_ns = before.window.start_ns;  // it goes on, only its end may move
  }
  held.used = std::min(before.used, LowBits(used_bits_));
  Store(to, held);
}

std::uint64_t FixedWindow::ForgottenIn(const State& state, Instant now) const {
  return ResetIn(Load(state, ToNanos(now)), ToNanos(now));
}

}  // namespace weir::algorithm
