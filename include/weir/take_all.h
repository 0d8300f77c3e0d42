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
#include <tuple>
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
inline void Join(Decision& all, Decision one, std::size_t index) {
  one.limit_index = static_cast<std::uint16_t>(index);
  const Grace grace = std::max(all.grace, one.grace);
  const Nanos reset = std::max(all.reset_after, one.reset_after);
  const Nanos wait = std::max(all.wait, one.wait);
  const bool decides = one.verdict != all.verdict ? one.verdict > all.verdict
                       : one.allowed()            ? one.remaining < all.remaining
                                                  : one.retry_after > all.retry_after;
  const Permits remaining = std::min(all.remaining, one.remaining);
  if (decides) all = one;
  all.remaining = remaining;
  all.reset_after = reset;
  all.wait = all.allowed() ? wait : Nanos(0);
  all.grace = all.allowed() ? grace : Grace::kNone;
}

}  // namespace internal

// Decision::limit_index counts the parts from 0: the one that refused the longest, or has the least
// left.
template <TakesPart... Parts>
Decision TakeAllAt(Instant now, Permits cost, Parts&&... parts) {
  Decision all{.remaining = Permits{UINT64_MAX}};
  std::size_t index = 0;
  (internal::Join(all, parts.Peek(cost, now), index++), ...);
  if (all.verdict == Verdict::kNever || cost.count == 0) return all;
  const Nanos patience = all.wait;  // shapers among them may have their queues
  const bool refused = !all.allowed();

  all = {.remaining = Permits{UINT64_MAX}};
  index = 0;
  Reservation taken[sizeof...(Parts)];
  const auto take = [&](auto& part) {
    taken[index] = part.Reserve(cost, patience, now);
    internal::Join(all, taken[index].decision, index);
    ++index;
    // If it is known to be refused, all are asked: some may count refusals, and all have a say.
    return refused || all.allowed();
  };
  if ((take(parts) && ...) && all.allowed()) return all;
  std::size_t held = 0;
  const auto give_back = [&](auto& part) {
    if (held < index && taken[held].allowed()) part.Cancel(taken[held], now);
    ++held;
  };
  (give_back(parts), ...);
  return all;
}

template <TakesPart... Parts>
Decision TakeAll(Permits cost, Parts&&... parts) {
  return TakeAllAt(Clock::now(), cost, std::forward<Parts>(parts)...);
}

}  // namespace weir
