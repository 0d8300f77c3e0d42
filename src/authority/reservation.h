// What a host may spend of a key without asking: credit at hand, and a lease that becomes credit
// evenly while time passes.
//
// The authority counts `total()` as reserved until it is told better. What is missing from it at
// hand was spent, so nothing is counted twice and nothing has to be: spent = total - at hand.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/wide_math.h"
#include "weir/units.h"

namespace weir::authority {

class Reservation {
 public:
  // Moves what has flowed in by `now` from the lease to the credit.
  void Pass(Instant now) {
    if (lease_ == 0) return;
    const Nanos passed = std::max(Nanos(0), now - lease_begin_);
    const std::uint64_t flowed =
        passed >= lease_for_
            ? lease_
            : static_cast<std::uint64_t>(Mul(lease_, static_cast<std::uint64_t>(passed.count())) /
                                         static_cast<std::uint64_t>(lease_for_.count()));
    credit_ += flowed - lease_given_;
    lease_given_ = flowed;
    if (flowed == lease_) lease_ = lease_given_ = 0;
  }

  bool Spend(std::uint64_t permits) {
    if (credit_ < permits) return false;
    credit_ -= permits;
    return true;
  }

  // Puts back what was spent and not told yet, up to `permits`. Returns how many.
  std::uint64_t Unspend(std::uint64_t permits) {
    const std::uint64_t back = std::min(permits, spent());
    credit_ += back;
    return back;
  }

  // A new lease takes what is left of the old one along. REQUIRES: Pass(now)
  void Add(std::uint64_t grant, std::uint64_t lease, Nanos lease_for, Instant now) {
    total_ += grant + lease;
    credit_ += grant;
    if (lease == 0) return;
    lease_ = lease_left() + lease;
    lease_given_ = 0;
    lease_begin_ = now;
    lease_for_ = std::max(lease_for, Nanos(1));
  }

  // Takes up to `permits` away, credit first. Returns how many. REQUIRES: Pass(now)
  std::uint64_t GiveBack(std::uint64_t permits, Instant now) {
    const std::uint64_t from_credit = std::min(credit_, permits);
    credit_ -= from_credit;
    const std::uint64_t from_lease = std::min(lease_left(), permits - from_credit);
    if (from_lease != 0) {
      lease_for_ -= std::min(lease_for_ - Nanos(1), now - lease_begin_);
      lease_ = lease_left() - from_lease;
      lease_given_ = 0;
      lease_begin_ = now;
    }
    total_ -= from_credit + from_lease;
    return from_credit + from_lease;
  }

  // The authority knows now what was spent.
  void Told(std::uint64_t spent) { total_ -= spent; }
  // It does not, after all, or what was given back never arrived.
  void Untold(std::uint64_t spent, std::uint64_t returned) {
    total_ += spent + returned;
    credit_ += returned;
  }

  // Until `permits` are at hand if nobody spends meanwhile; Nanos::max() if the lease is not
  // enough.
  [[nodiscard]] Nanos WaitFor(std::uint64_t permits, Instant now) const {
    if (permits <= credit_) return Nanos(0);
    const std::uint64_t needed = lease_given_ + (permits - credit_);
    if (lease_ == 0 || needed > lease_) return Nanos::max();
    const Uint128 at =
        CeilDiv(Mul(needed, static_cast<std::uint64_t>(lease_for_.count())), Uint128{lease_});
    return std::max(Nanos(1), lease_begin_ + Nanos(static_cast<std::int64_t>(at)) - now);
  }

  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t credit() const { return credit_; }
  [[nodiscard]] std::uint64_t lease_left() const { return lease_ - lease_given_; }
  [[nodiscard]] std::uint64_t at_hand() const { return credit_ + lease_left(); }
  [[nodiscard]] std::uint64_t spent() const { return total_ - at_hand(); }

 private:
  std::uint64_t total_ = 0;
  std::uint64_t credit_ = 0;
  std::uint64_t lease_ = 0;        // from its beginning,
  std::uint64_t lease_given_ = 0;  //   of which this has become credit
  Instant lease_begin_{};
  Nanos lease_for_{1};
};

}  // namespace weir::authority
