#include "algorithm/sliding_window.h"

#include <algorithm>
#include <string>

#include "algorithm/answer.h"
#include "algorithm/rate.h"
#include "algorithm/soft.h"
#include "base/wide_math.h"

namespace weir::algorithm {

Result<SlidingWindow> SlidingWindow::Make(const weir::SlidingWindow& limit,
                                          std::uint32_t soft_percent) {
  if (auto wrong = WhatIsWrongWith(limit.quota); !wrong.empty()) return Error{std::move(wrong)};
  SlidingWindow made(Windows::Equal(limit.quota.period()));
  made.period_ = static_cast<std::uint64_t>(limit.quota.period().count());
  made.nominal_ = limit.quota.permits().count;
  made.most_ = WithSoft(limit.quota.permits(), soft_percent).count;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  if (made.most_ > kMost) {
    return Error{"sliding_window counts to at most " + std::to_string(kMost) + " permits, got " +
                 std::to_string(made.most_) + ": use token_bucket for higher rates"};
  }
  const int number_bits = BitWidth(ToNanos(Instant::max()) / made.period_);
  const int count_bits = std::min(32, (64 - number_bits) / 2);
  // One bit to spare, for what is charged above the limit.
  made.packed_ = count_bits > BitWidth(made.most_);
  if (made.packed_) made.count_bits_ = count_bits;
  return made;
}

SlidingWindow::Held SlidingWindow::Load(const State& state, std::uint64_t now_ns) const {
  const Windows::Span window = windows_.At(now_ns);
  Held held{window.number, window.start_ns, 0, 0};
  const std::uint64_t mask = (std::uint64_t{1} << count_bits_) - 1;
  const std::uint64_t counts = state.Get(packed_ ? 0 : 1);
  const std::uint64_t previous = counts >> count_bits_ & mask;
  const std::uint64_t current = counts & mask;
  const std::uint64_t number = packed_ ? counts >> (2 * count_bits_) : state.Get(0);
  if (number > window.number) {
    held = {number, windows_.StartOf(number), previous, current};
  } else if (number == window.number) {
    held.previous = previous;
    held.current = current;
  } else if (number + 1 == window.number) {
    held.previous = current;
  }
  return held;
}

void SlidingWindow::Store(State& state, const Held& held) const {
  const std::uint64_t mask = (std::uint64_t{1} << count_bits_) - 1;
  const std::uint64_t counts =
      std::min(held.previous, mask) << count_bits_ | std::min(held.current, mask);
  if (packed_) {
    state.Set(0, held.number << (2 * count_bits_) | counts);
  } else {
    state.Set(0, held.number);
    state.Set(1, counts);
  }
}

std::uint64_t SlidingWindow::FitsAt(const Held& held, std::uint64_t cost, std::uint64_t at) const {
  // Within the current window: previous * (period - elapsed) <= room * period.
  const auto elapsed_until_fits = [this](std::uint64_t count, std::uint64_t room) {
    if (count == 0) return std::uint64_t{0};
    return SatSub(period_, Saturate(Mul(room, period_) / count));
  };
  if (held.current + cost <= most_) {
    const std::uint64_t elapsed = elapsed_until_fits(held.previous, most_ - held.current - cost);
    return std::max(at, SatAdd(held.start_ns, elapsed));
  }
  // In the next one, where the current counter is the previous one.
  const std::uint64_t elapsed = elapsed_until_fits(held.current, most_ - cost);
  return std::max(at, SatAdd(held.start_ns, period_ + elapsed));
}

std::uint64_t SlidingWindow::RemainingIn(const Held& held, std::uint64_t now_ns) const {
  if (held.start_ns > now_ns) return 0;
  const std::uint64_t left = SatSub(period_, now_ns - held.start_ns);
  const Uint128 used = Mul(held.current, period_) + Mul(held.previous, left);
  const Uint128 limit = Mul(nominal_, period_);
  return used < limit ? static_cast<std::uint64_t>((limit - used) / period_) : 0;
}

std::uint64_t SlidingWindow::ResetIn(const Held& held, std::uint64_t now_ns) const {
  std::uint64_t end = 0;
  if (held.previous > 0) end = SatAdd(held.start_ns, period_);
  if (held.current > 0) end = SatAdd(held.start_ns, 2 * period_);
  return SatSub(end, now_ns);
}

Decision SlidingWindow::Admit(State& state, Permits cost, Instant now) const {
  const std::uint64_t now_ns = ToNanos(now);
  Held held = Load(state, now_ns);
  const auto level = [&] { return Level{RemainingIn(held, now_ns), ResetIn(held, now_ns)}; };
  if (cost.count > most_) return Never(level());
  if (cost.count == 0) return Allow(level());
  const std::uint64_t fits_at = FitsAt(held, cost.count, std::max(now_ns, held.start_ns));
  if (fits_at > now_ns) return Deny(level(), fits_at - now_ns);
  const bool soft = cost.count > RemainingIn(held, now_ns);
  held.current += cost.count;
  Store(state, held);
  return Allow(level(), 0, soft ? Grace::kSoft : Grace::kNone);
}

Decision SlidingWindow::Charge(State& state, Permits cost, Instant now) const {
  Held held = Load(state, ToNanos(now));
  if (cost.count > 0) {
    const std::uint64_t most = (std::uint64_t{1} << count_bits_) - 1;
    held.current = std::min(SatAdd(held.current, cost.count), most);
    Store(state, held);
  }
  return Allow({RemainingIn(held, ToNanos(now)), ResetIn(held, ToNanos(now))});
}

void SlidingWindow::Refund(State& state, Permits cost, Instant now, Instant taken) const {
  Held held = Load(state, std::max(ToNanos(now), ToNanos(taken)));
  const std::uint64_t number = windows_.At(ToNanos(taken)).number;
  std::uint64_t left = cost.count;
  if (number >= held.number) {
    const std::uint64_t back = std::min(left, held.current);
    held.current -= back;
    left -= back;
  }
  if (number + 1 >= held.number) held.previous = SatSub(held.previous, left);
  Store(state, held);
}

void SlidingWindow::Carry(const SlidingWindow& old, const State& from, State& to,
                          Instant now) const {
  Held held = old.Load(from, ToNanos(now));
  if (held.previous == 0 && held.current == 0) return;
  if (period_ != old.period_) {
    // Windows of another length: what is in view now is used now.
    const std::uint64_t seen = old.Used(from, now);
    const Windows::Span window = windows_.At(std::max(ToNanos(now), held.start_ns));
    held = {window.number, window.start_ns, 0, seen};
  }
  Store(to, held);
}

std::uint64_t SlidingWindow::Used(const State& state, Instant now) const {
  const std::uint64_t now_ns = ToNanos(now);
  const Held held = Load(state, now_ns);
  const std::uint64_t left = SatSub(period_, SatSub(now_ns, held.start_ns));
  const Uint128 used = Mul(held.current, period_) + Mul(held.previous, left);
  return Saturate(CeilDiv(used, Uint128{period_}));
}

std::uint64_t SlidingWindow::ForgottenIn(const State& state, Instant now) const {
  return ResetIn(Load(state, ToNanos(now)), ToNanos(now));
}

}  // namespace weir::algorithm
