// An authority and a store of states in memory whose answers come when a test says so.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authority/local_authority.h"
#include "authority/local_swap_store.h"

namespace weir::authority {

class LateAuthority final : public Authority, private Replies {
 public:
  explicit LateAuthority(LocalAuthority& inner) : inner_(inner) {}

  void Sync(std::span<const SyncRequest> requests, Replies& replies) override {
    if (is_dead) return;
    to_ = &replies;
    inner_.Sync(requests, *this);
    if (!is_late) Deliver();
  }
  // All answers that were made so far.
  void Deliver() {
    for (const auto& [replies, ticket, reply] : std::exchange(made_, {})) {
      replies->OnReply(ticket, reply);
    }
  }
  [[nodiscard]] std::size_t waiting() const { return made_.size(); }

  bool is_late = false;  // keeps answers until Deliver()
  bool is_dead = false;  // does not even hear the requests

 private:
  struct Made {
    Replies* replies;
    Ticket ticket;
    SyncReply reply;
  };
  void OnReply(Ticket ticket, const SyncReply& reply) override {
    made_.push_back({to_, ticket, reply});
  }

  LocalAuthority& inner_;
  Replies* to_ = nullptr;
  std::vector<Made> made_;
};

class LateSwapStore final : public SwapStore, private SwapReplies {
 public:
  explicit LateSwapStore(LocalSwapStore& inner) : inner_(inner) {}

  void Swap(std::span<const SwapRequest> requests, SwapReplies& replies) override {
    if (is_dead) return;
    to_ = &replies;
    inner_.Swap(requests, *this);
    if (!is_late) Deliver();
  }
  [[nodiscard]] std::uint16_t PlaceOf(std::string_view key) const override {
    return inner_.PlaceOf(key);
  }
  void Deliver() {
    for (Made& made : std::exchange(made_, {})) {
      const std::vector<std::string_view> held(made.held.begin(), made.held.end());
      made.reply.held = held;
      made.replies->OnReply(made.ticket, made.reply);
    }
  }
  [[nodiscard]] std::size_t waiting() const { return made_.size(); }

  bool is_late = false;
  bool is_dead = false;

 private:
  struct Made {
    SwapReplies* replies;
    Ticket ticket;
    SwapReply reply;
    std::vector<std::string> held;
  };
  void OnReply(Ticket ticket, const SwapReply& reply) override {
    made_.push_back({to_, ticket, reply, {reply.held.begin(), reply.held.end()}});
  }

  LocalSwapStore& inner_;
  SwapReplies* to_ = nullptr;
  std::vector<Made> made_;
};

}  // namespace weir::authority
