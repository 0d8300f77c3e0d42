// A strict host with its store, for tests: whoever waits is settled here. And a store whose answers
// take as long as a test likes, get lost, or never were.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authority/local_swap_store.h"
#include "authority/strict_host.h"
#include "weir/limit.h"

namespace weir::authority {

// Holds requests and answers back until it is told to go on.
class SlowStore final : public SwapStore {
 public:
  explicit SlowStore(SwapStore& store) : store_(store) {}

  void Swap(std::span<const SwapRequest> requests, SwapReplies& replies) override {
    for (const SwapRequest& request : requests) {
      Call& call = calls_.emplace_back();
      call.ticket = request.ticket;
      call.replies = &replies;
      for (const SwapKey& key : request.keys) {
        call.texts.insert(call.texts.end(),
                          {std::string(key.name), std::string(key.seen), std::string(key.value)});
        call.times_to_live.push_back(key.ttl);
      }
    }
  }
  [[nodiscard]] std::uint16_t PlaceOf(std::string_view key) const override {
    return store_.PlaceOf(key);
  }

  [[nodiscard]] std::size_t size() const { return calls_.size(); }
  [[nodiscard]] bool is_executed(std::size_t i) const { return calls_[i].is_executed; }
  // Whether that changed something.
  bool Execute(std::size_t i) {
    Call& call = calls_[i];
    std::vector<SwapKey> keys;
    bool writes = false;
    for (std::size_t k = 0; k < call.times_to_live.size(); ++k) {
      keys.push_back({.name = call.texts[3 * k],
                      .seen = call.texts[3 * k + 1],
                      .value = call.texts[3 * k + 2],
                      .ttl = call.times_to_live[k]});
      writes = writes || !keys.back().value.empty();
    }
    const SwapRequest request{.ticket = call.ticket, .keys = keys};
    store_.Swap({&request, 1}, call);
    call.is_executed = true;
    return writes && call.reply.is_as_seen;
  }
  void Answer(std::size_t i) { Finish(i, Outcome::kDone); }
  // Its answer gets lost, or it was never sent.
  void Lose(std::size_t i) { Finish(i, Outcome::kUnknown); }
  void Refuse(std::size_t i) { Finish(i, Outcome::kNotDone); }
  // All that is there, and what comes of it.
  void Settle() {
    while (!calls_.empty()) {
      Execute(0);
      Answer(0);
    }
  }

 private:
  struct Call final : SwapReplies {
    void OnReply(Ticket /*ticket*/, const SwapReply& told) override {
      held.assign(told.held.begin(), told.held.end());
      reply = told;
    }

    Ticket ticket = 0;
    SwapReplies* replies = nullptr;
    std::vector<std::string> texts;  // of each key its name, what was seen, and its value
    std::vector<std::chrono::milliseconds> times_to_live;
    bool is_executed = false;
    SwapReply reply;
    std::vector<std::string> held;
  };

  void Finish(std::size_t i, Outcome outcome) {
    Call call = std::move(calls_[i]);
    calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(i));
    const std::vector<std::string_view> held(call.held.begin(), call.held.end());
    call.reply.held = held;
    call.replies->OnReply(call.ticket,
                          outcome == Outcome::kDone ? call.reply : SwapReply{.outcome = outcome});
  }

  SwapStore& store_;
  std::deque<Call> calls_;
};

class StrictSite final : public SwapReplies {
 public:
  StrictSite(SwapStore& store, StrictHostOptions options, const Instant& now)
      : store_(store), now_(now), host_(std::move(options)) {}

  // As many decisions as asks, if they are there already.
  std::optional<std::vector<Decision>> Ask(const std::vector<StrictAsk>& asks, Waiter waiter,
                                           StrictIntent intent = StrictIntent::kTake) {
    std::vector<Decision> decisions(asks.size());
    const bool is_decided = host_.Ask(asks, intent, waiter, now_, decisions);
    Send();
    if (is_decided) return decisions;
    return Settled(waiter);
  }
  void Refund(const std::vector<StrictAsk>& asks) {
    host_.Refund(asks, now_);
    Send();
  }
  void Tick() {
    host_.Tick(now_);
    Send();
  }
  void OnReply(Ticket ticket, const SwapReply& reply) override {
    host_.OnReply(ticket, reply, now_);
    Send();
  }
  // What a waiter was told; nothing yet if it waits still.
  std::optional<std::vector<Decision>> Settled(Waiter waiter) {
    Collect();
    const auto found = settled_.find(waiter);
    if (found == settled_.end()) return std::nullopt;
    std::vector<Decision> decisions = std::move(found->second);
    settled_.erase(found);
    return decisions;
  }
  // Who was told something since the last time, in order.
  std::vector<StrictSettled> TakeSettled() { return host_.TakeSettled(); }

  [[nodiscard]] StrictHost& host() { return host_; }
  [[nodiscard]] std::uint64_t trips() const { return host_.counts().swaps; }

 private:
  void Send() {
    // A store that answers at once leads to more.
    while (host_.has_requests()) store_.Swap(host_.TakeRequests(), *this);
  }
  void Collect() {
    for (StrictSettled& settled : host_.TakeSettled()) {
      const bool is_first = settled_.emplace(settled.waiter, std::move(settled.decisions)).second;
      EXPECT_TRUE(is_first) << settled.waiter << " was settled twice";
    }
  }

  SwapStore& store_;
  const Instant& now_;
  StrictHost host_;
  std::map<Waiter, std::vector<Decision>> settled_;
};

inline StrictLimit LimitOf(const std::string& text, OnFailure on_failure = OnFailure::kLocal) {
  return StrictLimit::Of(Limit::Parse(text).value(), on_failure).value();
}

// Hosts in virtual time over a store in memory, which answers when it is told to.
class StrictSiteTest : public testing::Test {
 protected:
  StrictSiteTest() { options_.deadline = std::chrono::hours(1); }

  StrictSite& Site() {
    if (!site_) site_ = MakeSite(1);
    return *site_;
  }
  std::unique_ptr<StrictSite> MakeSite(std::uint64_t seed) {
    options_.seed = seed;
    return std::make_unique<StrictSite>(store_, options_, now_);
  }
  // Decided by a store that answers at once.
  Decision Take(StrictSite& site, const StrictLimit& limit, std::string_view key, Permits cost) {
    auto decisions = site.Ask({{.limit = &limit, .key = key, .cost = cost}}, 1);
    if (!decisions) {
      store_.Settle();
      decisions = site.Settled(1);
    }
    EXPECT_TRUE(decisions.has_value());
    return decisions->front();
  }
  Decision Take(const StrictLimit& limit, std::string_view key, Permits cost = Permits{1}) {
    return Take(Site(), limit, key, cost);
  }
  Decision Peek(StrictSite& site, const StrictLimit& limit, std::string_view key) {
    auto decisions = site.Ask({{.limit = &limit, .key = key}}, 1, StrictIntent::kPeek);
    store_.Settle();
    if (!decisions) decisions = site.Settled(1);
    return decisions->front();
  }
  std::uint64_t Left(const StrictLimit& limit, std::string_view key) {
    const auto other = MakeSite(99);  // one that knows nothing
    return Peek(*other, limit, key).remaining.count;
  }
  // Round trips of the first site since the last call.
  std::uint64_t Trips() { return Site().trips() - std::exchange(trips_, Site().trips()); }

  Instant now_{std::chrono::seconds(1'000'000)};
  LocalSwapStore memory_{[this] { return now_; }};
  SlowStore store_{memory_};
  StrictHostOptions options_;
  std::unique_ptr<StrictSite> site_;
  std::uint64_t trips_ = 0;
};

}  // namespace weir::authority
