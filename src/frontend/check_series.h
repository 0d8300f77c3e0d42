// The checks of what a client has asked and was not yet told, in their order.
//
// A check may have to wait for a cluster. Whatever comes behind it waits too, since answers keep
// their order. A session then goes through the same requests again as soon as it is told that it
// can go on, and each of them finds its check where it was. So a session needs no second way to
// answer, and what one client asks in one go is asked of the cluster in one go.
//
// Without a cluster nothing ever waits, and there is one reply, used again and again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "service/checker.h"

namespace weir {

// A session's way to a cluster, and who is told for it. Both outlive the session.
struct ClusterSeat {
  Cluster* cluster = nullptr;  // null: there is none
  CheckWaiter* waiter = nullptr;
};

class CheckSeries {
 public:
  // Of one client, ahead of the first that waits.
  static constexpr std::size_t kMost = 64;

  explicit CheckSeries(ClusterSeat seat) : seat_(seat) { Add(); }

  [[nodiscard]] bool may_wait() const { return seat_.cluster != nullptr; }
  [[nodiscard]] Cluster* cluster() const { return seat_.cluster; }
  [[nodiscard]] CheckWaiter* waiter() const { return seat_.waiter; }
  // The first one, for who asks one thing at a time and releases it; always the same if nobody asks
  // ahead.
  [[nodiscard]] CheckReply& first() { return *replies_.front(); }

  // Room for the next check, or the check that was there.
  CheckReply& Next() {
    if (!may_wait()) {
      begun_ = 1;
      return first();
    }
    if (next_ == replies_.size()) Add();
    begun_ = std::max(begun_, next_ + 1);
    return *replies_[next_++];
  }
  // How many there were, and to go back to one.
  [[nodiscard]] std::size_t position() const { return next_; }
  void GoTo(std::size_t position) { next_ = position; }
  [[nodiscard]] bool is_full() const { return next_ >= kMost; }
  // Whether one of those since `position` does.
  [[nodiscard]] bool IsWaiting(std::size_t position = 0) const {
    return std::any_of(replies_.begin() + static_cast<std::ptrdiff_t>(position),
                       replies_.begin() + static_cast<std::ptrdiff_t>(next_),
                       [](const auto& reply) { return reply->is_waiting(); });
  }
  // All up to here were told: what follows is first now.
  void Tell() {
    for (std::size_t i = 0; i < next_; ++i) replies_[i]->Finish();
    std::rotate(replies_.begin(), replies_.begin() + static_cast<std::ptrdiff_t>(next_),
                replies_.begin() + static_cast<std::ptrdiff_t>(begun_));
    begun_ -= next_;
    next_ = 0;
  }
  // Nobody is there to be told: what was taken for those who were not is given back.
  void Abandon(Checker& checker, Instant now) {
    for (std::size_t i = 0; may_wait() && i < begun_; ++i) checker.GiveBack(*replies_[i], now);
    Clear();
  }
  // Nothing is left to be told, or nobody is there who could be. Lets go of the rules.
  void Clear() {
    if (begun_ == 0 && !may_wait()) return;
    first().Release();
    if (may_wait()) replies_.resize(1);
    begun_ = next_ = 0;
  }

 private:
  void Add() {
    replies_.push_back(std::make_unique<CheckReply>());
    if (may_wait()) replies_.back()->Join(*seat_.cluster, *seat_.waiter);
  }

  ClusterSeat seat_;
  std::vector<std::unique_ptr<CheckReply>> replies_;
  std::size_t next_ = 0;
  std::size_t begun_ = 0;  // and not told
};

}  // namespace weir
