// Calls of one connection that wait for a cluster: each with its message, which has gone from where
// it was read, and its check, which goes on where it was when it is asked the same again.
//
// Without a cluster nothing ever waits, and there is no room for it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/check_series.h"
#include "service/descriptor_check.h"
#include "wire/grpc_service.h"

namespace weir {

class LateCalls {
 public:
  // Of their messages, and so of what they ask. How many calls there are is bounded by the
  // connection.
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10;

  explicit LateCalls(ClusterSeat seat) : seat_(seat) {
    if (may_wait()) next_ = MakeReply();
  }

  [[nodiscard]] bool may_wait() const { return seat_.cluster != nullptr; }
  [[nodiscard]] bool empty() const { return calls_.empty(); }
  // For the next check. REQUIRES: may_wait()
  [[nodiscard]] DescriptorReply& next() { return *next_; }
  [[nodiscard]] bool HasRoomFor(std::string_view message) const {
    return calls_.empty() || bytes_ + message.size() <= kMostBytes;
  }
  // The check of next() waits, and `call` with it.
  void Add(wire::GrpcCall& call, std::string_view message) {
    bytes_ += message.size();
    calls_.push_back({&call, std::string(message), std::move(next_)});
    if (spare_.empty()) spare_.push_back(MakeReply());
    next_ = std::move(spare_.back());
    spare_.pop_back();
  }

  // Calls `answer(call, message, reply)` for each that can go on. It returns whether that is over,
  // and the reply released.
  template <typename Answer>
  void GoOn(const Answer& answer) {
    for (std::size_t i = 0; i < calls_.size();) {
      Late& late = calls_[i];
      const bool is_over =
          !late.reply->is_waiting() && answer(*late.call, late.message, *late.reply);
      if (is_over) {
        Remove(i);
      } else {
        ++i;
      }
    }
  }
  // The call is over, if it was one of them: nobody is there to be told. `leave(reply)` releases.
  template <typename Leave>
  void Forget(const wire::GrpcCall& call, const Leave& leave) {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].call != &call) continue;
      leave(*calls_[i].reply);
      return Remove(i);
    }
  }
  // The same for all.
  template <typename Leave>
  void ForgetAll(const Leave& leave) {
    for (Late& late : calls_) leave(*late.reply);
    calls_.clear();
    bytes_ = 0;
  }

 private:
  static constexpr std::size_t kSpare = 64;
  struct Late {
    wire::GrpcCall* call;
    std::string message;
    std::unique_ptr<DescriptorReply> reply;
  };

  std::unique_ptr<DescriptorReply> MakeReply() const {
    auto reply = std::make_unique<DescriptorReply>();
    reply->Join(*seat_.cluster, *seat_.waiter);
    return reply;
  }
  // Whose reply is released.
  void Remove(std::size_t place) {
    bytes_ -= calls_[place].message.size();
    if (spare_.size() < kSpare) spare_.push_back(std::move(calls_[place].reply));
    std::swap(calls_[place], calls_.back());
    calls_.pop_back();
  }

  ClusterSeat seat_;
  std::unique_ptr<DescriptorReply> next_;
  std::vector<std::unique_ptr<DescriptorReply>> spare_;  // kept for others
  std::vector<Late> calls_;
  std::size_t bytes_ = 0;
};

}  // namespace weir
