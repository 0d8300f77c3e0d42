// Several limiters, all or nothing: global, tenant and user.
//
//   weir::TakeAll(weir::Permits{1}, global, tenants.At("acme"), users.At("user:7"));
//
// Looks at all of them first, then takes from one after the other; if one refuses, what was taken
// is given back. So nothing is charged on a refusal, and no limit is ever exceeded; in the moment
// in between, others may be refused by a permit that is then given back. (Limits of one limiter,
// Limit::AllOf, are one step and have no such moment.)
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/reservation.h"
#include "weir/units.h"

namespace weir {

template <typename L>
concept TakesPart = requires(L& limiter, Permits cost, Instant now, Reservation& reservation) {
  { limiter.Peek(cost, now) } -> std::same_as<Decision>;
  { limiter.Reserve(cost, Nanos(0), now) } -> std::same_as<Reservation>;
  limiter.Cancel(reservation, now);
};

namespace internal {

// The harsher of two answers, told apart as Decision::limit_index tells.
inline void Join(Decision& all, const Decision& one, std::size_t index) {
  const Grace grace = std::max(all.grace, one.grace);
  const Nanos reset = std::max(all.reset_after, one.reset_after);
  const Nanos wait = std::max(all.wait, one.wait);
  const bool decides = one.verdict != all.verdict ? one.verdict > all.verdict
                       : one.allowed()            ? one.remaining < all.remaining
                                                  : one.retry_after > all.retry_after;
  const Permits remaining = std::min(all.remaining, one.remaining);
  if (decides) {
    all.verdict = one.verdict;
    all.retry_after = one.retry_after;
    all.limit_index = static_cast<std::uint16_t>(index);
  }
  all.remaining = remaining;
  all.reset_after = reset;
  all.wait = all.allowed() ? wait : Nanos(0);
  all.grace = all.allowed() ? grace : Grace::kNone;
}

// All or nothing, over parts that are known by number: `peek(i)`, `reserve(i, wait)`, which is told
// the wait that the look has shown, and `cancel(i, reservation)`. `taken` has room for all, and
// says afterwards what each part said last.
template <typename Peek, typename Reserve, typename Cancel>
Decision TakeParts(std::span<Reservation> taken, const Peek& peek, const Reserve& reserve,
                   const Cancel& cancel) {
  Decision all{.remaining = Permits{UINT64_MAX}};
  for (std::size_t i = 0; i < taken.size(); ++i) {
    taken[i] = {.decision = peek(i)};
    Join(all, taken[i].decision, i);
  }
  if (all.verdict == Verdict::kNever) return all;
  const bool refused = !all.allowed();

  Decision now{.remaining = Permits{UINT64_MAX}};
  std::size_t asked = 0;
  for (; asked < taken.size() && (refused || now.allowed()); ++asked) {
    // If it is known to be refused, only those who refuse are asked: they may count refusals.
    if (refused && taken[asked].allowed()) {
      Join(now, taken[asked].decision, asked);
      continue;
    }
    taken[asked] = reserve(asked, taken[asked].decision.wait);
    Join(now, taken[asked].decision, asked);
  }
  if (now.allowed()) return now;
  for (std::size_t i = 0; i < asked; ++i) {
    if (!taken[i].allowed() || taken[i].cost.count == 0) continue;
    cancel(i, taken[i]);
    taken[i].decision = peek(i);  // what it has left, now that nothing was taken
  }
  all = {.remaining = Permits{UINT64_MAX}};
  for (std::size_t i = 0; i < taken.size(); ++i) Join(all, taken[i].decision, i);
  return all.allowed() ? now : all;
}

}  // namespace internal

// Decision::limit_index counts the parts from 0: the one that refused the longest, or has the least
// left.
template <TakesPart... Parts>
Decision TakeAllAt(Instant now, Permits cost, Parts&&... parts) {
  Reservation taken[sizeof...(Parts)];
  // Calls `use` with the part of number `i`.
  const auto with = [&parts...](std::size_t i, const auto& use) {
    std::size_t number = 0;
    ((number++ == i ? use(parts) : void()), ...);
  };
  const auto peek = [&](std::size_t i) {
    Decision decision;
    with(i, [&](auto& part) { decision = part.Peek(cost, now); });
    return decision;
  };
  const auto reserve = [&](std::size_t i, Nanos wait) {
    // A shaper bounds its own queue, which may have grown since it was looked at.
    const Nanos patience = wait > Nanos(0) ? Nanos::max() : Nanos(0);
    Reservation reservation;
    with(i, [&](auto& part) { reservation = part.Reserve(cost, patience, now); });
    return reservation;
  };
  const auto cancel = [&](std::size_t i, Reservation& reservation) {
    with(i, [&](auto& part) { part.Cancel(reservation, now); });
  };
  return internal::TakeParts(taken, peek, reserve, cancel);
}

template <TakesPart... Parts>
Decision TakeAll(Permits cost, Parts&&... parts) {
  return TakeAllAt(Clock::now(), cost, std::forward<Parts>(parts)...);
}

}  // namespace weir
