// One host of a cluster: its keys, what it has under way, and what it answers.
//
// Pure as well: it neither sends nor waits. Whoever runs it does, on one thread:
//
//     Ask(key, cost, waiter, now)      decided at once, or kAsk: `waiter` is settled later
//     Refund(key, cost, now)           what was admitted is given back
//     OnReply(ticket, reply, now)      when the authority has answered
//     Tick(now)                        now and then, at least each millisecond while anybody waits
//     TakeRequests(), TakeSettled()    after any of these: what to send, and who has an answer
//
// Who asks for the same at the same instant is asked for together, in one request: on a hot key a
// turn of the loop costs the authority one exchange, however many wait.
//
// A decision that has to be asked for has a deadline. When it is over, or while the breaker is
// open, the failure policy of the key answers; an answer of the authority that comes later still
// moves permits, but nobody waits for it any more.
//
// Thread safety: none; one host for each event loop.
//
// Keys are known by their hashes, so that the name is made only for a key that is new.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "authority/authority.h"
#include "authority/breaker.h"
#include "authority/host_key.h"
#include "weir/keyed_limiter.h"
#include "weir/units.h"

namespace weir::authority {

struct HostOptions {
  Nanos deadline = std::chrono::milliseconds(10);
  BreakerOptions breaker{};
  std::uint64_t seed = 1;          // for the breaker's jitter: a different one for each host
  std::size_t max_keys = 100'000;  // some 500 bytes each
};

// Who waits for a decision; chosen by the caller.
using Waiter = std::uint64_t;

struct Settled {
  Waiter waiter = 0;
  LocalDecision decision;  // never kAsk
};

class Host {
 public:
  explicit Host(const HostOptions& options)
      : options_(options), breaker_(options.breaker, options.seed) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Null if it is not known. A key is valid until another is made.
  [[nodiscard]] HostKey* Find(KeyHash hash) const {
    const auto found = keys_.find(hash);
    return found != keys_.end() ? found->second.get() : nullptr;
  }
  // A key that is not known yet. There is room for so many: another makes room, one that holds and
  // owes nothing if it can be found. Null if all of them have something under way.
  HostKey* Make(KeyHash hash, std::string name, const KeyPolicy& policy);
  // The key of that name, which is made with `policy` if need be; otherwise it has the one it has,
  // which HostKey::Adopt() changes. REQUIRES: there is room
  HostKey& Find(const std::string& name, const KeyPolicy& policy);

  LocalDecision Ask(HostKey& key, std::uint64_t cost, Waiter waiter, Instant now);
  // Gives back what was admitted: for a request that another limit refused, or that used less.
  void Refund(HostKey& key, std::uint64_t cost, Instant now);
  // What was admitted turned out to cost more.
  void Charge(HostKey& key, std::uint64_t cost, Instant now);
  void OnReply(Ticket ticket, const SyncReply& reply, Instant now);
  // Settles whoever waited too long, and makes the requests that are due.
  void Tick(Instant now);
  // Drops keys that are as good as never seen.
  void Forget(Instant now);
  // The last that is asked of it: each Tick() from now on gives back what is held and tells what is
  // owed, until nothing is.
  void Leave();
  // Or until nobody answers.
  [[nodiscard]] bool has_left() const {
    return is_quiet() || breaker_.state() != Breaker::State::kClosed;
  }

  // Requests to send now. Their keys and terms are valid until a key is made or forgotten.
  std::vector<SyncRequest> TakeRequests() { return std::exchange(requests_, {}); }
  std::vector<Settled> TakeSettled() { return std::exchange(settled_, {}); }
  [[nodiscard]] bool has_requests() const { return !requests_.empty(); }
  [[nodiscard]] bool has_settled() const { return !settled_.empty(); }

  [[nodiscard]] const Breaker& breaker() const { return breaker_; }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  // Decisions that a failure policy made.
  [[nodiscard]] std::uint64_t fallen() const { return fallen_; }
  [[nodiscard]] std::size_t under_way() const { return under_way_.size(); }
  // Nothing will be due and nobody waits until Ask() is called again: no need to Tick().
  [[nodiscard]] bool is_quiet() const { return busy_.empty() && under_way_.empty(); }

 private:
  struct Sent {
    HostKey* key;
    std::uint64_t take;
    Waiter waiter;
    Instant at;
    std::vector<Waiter> others{};  // that joined, in order
    bool is_late = false;          // whoever waited has been told something
  };
  struct Deadline {
    Instant at;
    Ticket ticket;
  };

  // Busy keys that are looked at in one Tick(): each gets its turn within an interval.
  static constexpr std::size_t kLooksAtOnce = 4'096;

  struct HashOf {
    std::size_t operator()(const KeyHash& hash) const { return hash.low; }
  };

  template <typename Each>
  static void ForEachWaiter(const Sent& sent, Each each);
  void Watch(HostKey& key);
  void Unwatch(HostKey& key);
  bool TryJoin(HostKey& key, std::uint64_t take, Waiter waiter, Instant now);
  void Send(HostKey& key, std::uint64_t take, Waiter waiter, Instant now);
  LocalDecision Fall(HostKey& key, std::uint64_t cost, Outcome outcome, Instant now) {
    ++fallen_;
    return key.Fallback(cost, outcome, now);
  }
  bool MakeRoom();
  void Settle(Waiter waiter, LocalDecision decision) { settled_.push_back({waiter, decision}); }

  HostOptions options_;
  Breaker breaker_;
  std::unordered_map<KeyHash, std::unique_ptr<HostKey>, HashOf> keys_;
  std::size_t hand_ = 0;        // the bucket of keys_ where room is looked for next
  std::vector<HostKey*> busy_;  // those with something to tell, each once
  std::size_t next_busy_ = 0;   // whose turn it is
  std::unordered_map<Ticket, Sent> under_way_;
  std::deque<Deadline> deadlines_;  // in order: all have the same time
  std::vector<SyncRequest> requests_;
  std::vector<Settled> settled_;
  Ticket last_ticket_ = 0;
  std::uint64_t fallen_ = 0;
};

}  // namespace weir::authority
