// What an authority does: the account of one key, and how a request changes it.
//
// This is the truth that every implementation equals, a script in Redis too. All numbers are whole
// and stay below 2^53; divisions round down unless stated. `cap` is burst * P, and the bucket holds
//
//     tokens = cap - used - (reserved + reserved_before) * P     ticks, below 0: owed or sold ahead
//
// What is reserved for hosts does not flow back, only what was used does. Hence tokens at the
// authority and permits at hosts are together never more than the burst, whatever hosts do: that is
// what bounds a cluster (docs/cluster.md).
//
//  0. limit     If the account was counted under a limit with other ticks, what was used is
//  converted:
//               used = used * P / per_permit, rounded up. Whatever a larger limit left behind is
//               cut: used to cap + max_debt * P, each of the reserved to 4 * burst.
//  1. time      passed = max(0, now - at), at = now;  used -= min(used, passed * N).
//               A clock that is set back gives nothing, one that is set forward what it says.
//  2. epoch     e = now / epoch. If e = epoch_ + 1: what was reserved before is used now,
//               what is reserved becomes reserved before, demand becomes demand before.
//               If e is any other, or epochs had another length: all that was reserved is used now,
//               and demand is forgotten.
//  3. report    If the request's epoch is e or e - 1, its reservation (spent + returned + kept)
//               leaves reserved or reserved_before (down to 0), `spent` is used, and `kept` is
//               reserved, up to 4 * burst in all. If it is older, it was taken for spent in step 2:
//               not renewed. `debt` is used; at most cap + max_debt * P can be. At last
//               used -= min(used, refund * P): what nobody has used cannot be given back.
//  4. demand    demand_ += demand (at most kMostDemand);
//               all = max(1, expected, demand_ + demand_before_ * (rest of the epoch) / epoch),
//               share = expected * 10^6 / all.
//  5. take      As often as take * P fits the tokens, at most `times`, it is used. The rest of them
//               is refused.
//  6. wanted    t = tokens / P, in permits. If t >= 1 and nothing was refused:
//               grant = min(wanted, max(1, t * share / 10^6)).
//               For what is wanted still, with t as it is after the grant:
//               lease = min(rest, max(0, presale * share / 10^6 - kept), t + presale), at least 0.
//               Both are reserved.
//  7. deny_for  If a take was refused, or something was wanted and nothing given: over = ticks that
//               are missing for max(take, 1) permits,
//               deny_for = min(over, used) / N, rounded up, and at least `horizon` if over > used:
//               then it takes a host that gives back.
#pragma once

#include <cstdint>

#include "authority/authority.h"
#include "authority/terms.h"

namespace weir::authority {

// All zero for a key never seen.
struct Account {
  static constexpr std::uint64_t kMostDemand = 100'000'000;
  static constexpr std::uint64_t kMillion = 1'000'000;

  std::uint64_t used = 0;  // ticks
  std::uint64_t at = 0;    // microseconds of the authority's clock
  std::uint64_t epoch = 0;
  std::uint64_t reserved = 0;         // permits, granted or renewed in this epoch
  std::uint64_t reserved_before = 0;  //   and in the one before
  std::uint64_t demand = 0;           // permits, asked for in this epoch
  std::uint64_t demand_before = 0;    //   and in the one before
  // Of the limit under which all that was counted.
  std::uint64_t per_permit = 0;    // ticks
  std::uint64_t epoch_length = 0;  // microseconds

  bool operator==(const Account&) const = default;
};

// What left the bucket's own arithmetic, for those who check that nothing else did (ticks).
struct Leaks {
  std::uint64_t flowed = 0;    // rate x time, as the authority's clock says
  std::uint64_t overflow = 0;  // of that, and of refunds, while the bucket was full
  std::uint64_t forgiven = 0;  // above what can be owed, or reserved
  std::uint64_t expired = 0;   // reservations that were taken for spent: used, not lost
  std::uint64_t unbacked = 0;  // reported or kept by hosts that the account knew nothing of
};

// Executes `request` at `now` (microseconds of the authority's clock, steps included).
SyncReply Execute(const SyncRequest& request, Account& account, std::uint64_t now,
                  Leaks* leaks = nullptr);

// After this long without a request the account is as good as never seen.
Micros ForgottenIn(const Account& account, const Terms& terms);

}  // namespace weir::authority
