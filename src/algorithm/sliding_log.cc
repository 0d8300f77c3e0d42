#include "algorithm/sliding_log.h"

#include <algorithm>
#include <string>

#include "algorithm/answer.h"
#include "algorithm/rate.h"
#include "algorithm/soft.h"
#include "base/wide_math.h"

namespace weir::algorithm {
namespace {

constexpr std::uint64_t kMost = 1'000'000;
// By one entry: so that the sum of a full ring fits. All of it leaves the view at once anyway.
constexpr std::uint64_t kMostOwed = std::uint64_t{1} << 40;

}  // namespace

Result<SlidingLog> SlidingLog::Make(const weir::SlidingLog& limit, std::uint32_t soft_percent) {
  if (auto wrong = WhatIsWrongWith(limit.quota); !wrong.empty()) return Error{std::move(wrong)};
  if (limit.min_gap < Nanos(0)) {
    return Error{"min_gap must not be negative, got " + std::to_string(limit.min_gap.count()) +
                 "ns"};
  }
  SlidingLog made;
  made.period_ = static_cast<std::uint64_t>(limit.quota.period().count());
  made.min_gap_ = static_cast<std::uint64_t>(limit.min_gap.count());
  made.denied_ = limit.denied;
  made.nominal_ = limit.quota.permits().count;
  made.most_ = WithSoft(limit.quota.permits(), soft_percent).count;
  if (made.most_ > kMost) {
    return Error{"sliding_log remembers every request, at most " + std::to_string(kMost) +
                 " of them, got " + std::to_string(made.most_) +
                 ": use sliding_window or token_bucket"};
  }
  return made;
}

std::size_t SlidingLog::EntryAt(const View& view, std::uint64_t index) const {
  return kEntries + 2 * ((view.head + index) % most_);
}

SlidingLog::View SlidingLog::Load(const State& state, std::uint64_t now_ns) const {
  View view{state.Get(kHead), std::min(state.Get(kCount), most_), state.Get(kUsed),
            state.Get(kLast)};
  while (view.count > 0) {
    const std::size_t oldest = EntryAt(view, 0);
    if (SatAdd(state.Get(oldest), period_) > now_ns) break;
    view.used = SatSub(view.used, state.Get(oldest + 1));
    view.head = (view.head + 1) % most_;
    --view.count;
  }
  return view;
}

void SlidingLog::Store(State& state, const View& view) const {
  state.Set(kHead, view.head);
  state.Set(kCount, view.count);
  state.Set(kUsed, view.used);
  state.Set(kLast, view.last);
}

// REQUIRES: at_ns is not before the newest entry.
void SlidingLog::Append(State& state, View& view, std::uint64_t at_ns,
                        std::uint64_t permits) const {
  view.last = at_ns + 1;
  const std::size_t newest = EntryAt(view, view.count + most_ - 1);
  if (view.count > 0 && state.Get(newest) == at_ns) {
    const std::uint64_t before = state.Get(newest + 1);
    const std::uint64_t more = std::min(permits, SatSub(kMostOwed, before));
    state.Set(newest + 1, before + more);
    view.used += more;
    return;
  }
  permits = std::min(permits, kMostOwed);
  if (view.count == most_) permits = MakeRoom(state, view, permits);
  const std::size_t entry = EntryAt(view, view.count);
  state.Set(entry, at_ns);
  state.Set(entry + 1, permits);
  view.used += permits;
  ++view.count;
}

// The ring is full, of what was charged above the limit or refused: the oldest entry is added to
// the one after it, or to the new one if there is no other. Nobody notices, since the others alone
// refuse everybody for as long as the oldest is in view; if permits are given back meanwhile, it is
// against the caller. Returns what the new entry has to hold.
std::uint64_t SlidingLog::MakeRoom(State& state, View& view, std::uint64_t permits) const {
  const std::uint64_t oldest = state.Get(EntryAt(view, 0) + 1);
  view.used -= oldest;
  view.head = (view.head + 1) % most_;
  --view.count;
  if (view.count == 0) return std::min(permits + oldest, kMostOwed);
  const std::size_t second = EntryAt(view, 0);
  const std::uint64_t before = state.Get(second + 1);
  const std::uint64_t after = std::min(before + oldest, kMostOwed);
  state.Set(second + 1, after);
  view.used += after - before;
  return permits;
}

std::uint64_t SlidingLog::FitsAt(const State& state, const View& view, std::uint64_t cost,
                                 std::uint64_t now_ns) const {
  std::uint64_t at = now_ns;
  if (view.last > 0) at = std::max(at, SatAdd(view.last - 1, min_gap_));
  std::uint64_t used = view.used;
  for (std::uint64_t i = 0; i < view.count; ++i) {
    const bool fits = SatAdd(used, cost) <= most_ && view.count - i < most_;
    if (fits) break;
    const std::size_t leaving = EntryAt(view, i);
    used = SatSub(used, state.Get(leaving + 1));
    at = std::max(at, SatAdd(state.Get(leaving), period_));
  }
  return at;
}

std::uint64_t SlidingLog::ResetIn(const View& view, std::uint64_t now_ns) const {
  if (view.last == 0) return 0;
  const std::uint64_t gap_over = SatAdd(view.last - 1, min_gap_);
  const std::uint64_t log_empty = view.count > 0 ? SatAdd(view.last - 1, period_) : 0;
  return SatSub(std::max(gap_over, log_empty), now_ns);
}

Level SlidingLog::LevelIn(const View& view, std::uint64_t now_ns) const {
  const bool ahead = view.last > now_ns + 1;  // something was reserved
  return {ahead ? 0 : SatSub(nominal_, view.used), ResetIn(view, now_ns)};
}

std::uint64_t SlidingLog::Memory() const { return std::max(period_, min_gap_); }

Decision SlidingLog::Admit(State& state, Permits cost, Instant now) const {
  const std::uint64_t now_ns = ToNanos(now);
  View view = Load(state, now_ns);
  const auto level = [&] { return LevelIn(view, now_ns); };
  if (cost.count > most_) return Never(level());
  if (cost.count == 0) return Allow(level());
  const std::uint64_t fits_at = FitsAt(state, view, cost.count, now_ns);
  if (fits_at == now_ns) {
    Append(state, view, now_ns, cost.count);
    Store(state, view);
    return Allow(level(), 0, view.used > nominal_ ? Grace::kSoft : Grace::kNone);
  }
  if (denied_ == Denied::kIgnored || view.last > now_ns + 1) {
    return Deny(level(), fits_at - now_ns);
  }
  Append(state, view, now_ns, cost.count);
  Store(state, view);
  return Deny(level(), FitsAt(state, view, cost.count, now_ns) - now_ns);
}

Decision SlidingLog::Charge(State& state, Permits cost, Instant now) const {
  const std::uint64_t now_ns = ToNanos(now);
  View view = Load(state, now_ns);
  if (cost.count > 0) {
    Append(state, view, std::max(now_ns, SatSub(view.last, 1)), cost.count);
    Store(state, view);
  }
  return Allow(LevelIn(view, now_ns));
}

void SlidingLog::Refund(State& state, Permits cost, Instant now, Instant taken) const {
  View view = Load(state, std::max(ToNanos(now), ToNanos(taken)));
  std::uint64_t left = std::min(cost.count, view.used);
  // From the newest entry that is not younger than what was taken, then from older ones.
  bool changed = false;
  for (std::uint64_t i = view.count; i-- > 0 && left > 0;) {
    const std::size_t entry = EntryAt(view, i);
    if (state.Get(entry) > ToNanos(taken)) continue;
    const std::uint64_t back = std::min(left, state.Get(entry + 1));
    state.Set(entry + 1, state.Get(entry + 1) - back);
    view.used -= back;
    left -= back;
    changed = true;
  }
  // Empty entries at the young end never happened, for the spacing of requests too.
  while (view.count > 0 && state.Get(EntryAt(view, view.count - 1) + 1) == 0) --view.count;
  if (view.count > 0) {
    view.last = state.Get(EntryAt(view, view.count - 1)) + 1;
  } else if (changed) {
    view.last = 0;
  }
  Store(state, view);
}

std::uint64_t SlidingLog::RefundableBy(const State& state, Instant now, Instant taken,
                                       std::size_t writes) const {
  const View view = Load(state, std::max(ToNanos(now), ToNanos(taken)));
  std::size_t left = writes - kEntries;
  std::uint64_t permits = 0;
  for (std::uint64_t i = view.count; i-- > 0;) {
    const std::size_t entry = EntryAt(view, i);
    if (state.Get(entry) > ToNanos(taken) || state.Get(entry + 1) == 0) continue;
    if (left-- == 0) return permits;
    permits = SatAdd(permits, state.Get(entry + 1));
  }
  return kMaxUint64;
}

void SlidingLog::Carry(const SlidingLog& old, const State& from, State& to, Instant now) const {
  const View before = old.Load(from, ToNanos(now));
  View view{};
  for (std::uint64_t i = 0; i < before.count; ++i) {
    const std::size_t entry = old.EntryAt(before, i);
    if (from.Get(entry + 1) > 0) Append(to, view, from.Get(entry), from.Get(entry + 1));
  }
  view.last = before.last;
  Store(to, view);
}

std::uint64_t SlidingLog::ForgottenIn(const State& state, Instant now) const {
  return ResetIn(Load(state, ToNanos(now)), ToNanos(now));
}

}  // namespace weir::algorithm
