// One host that enforces limits of any algorithm together with others, to the letter.
//
// The state of each key lies in a store that all hosts reach (swap_store.h). A host has a copy of
// what it last saw there, decides on it with the library's own algorithms, and swaps: if nobody was
// faster, the decision stands; if somebody was, it learns the state and decides again. So what all
// hosts admit is what one limiter would have admitted, in the order of the swaps.
//
//     a key that only this host uses        one round trip for each decision
//     a key that others changed meanwhile   one more for each race that is lost
//     a refusal that is known to hold       none
//
// A key has one swap under way at a time; who asks meanwhile waits, and all of them are decided
// together, in order, before the next one. So races grow with hosts, not with requests. A request
// under several limits is all or nothing: one swap for all its keys, if they are in one place. In a
// Redis Cluster they may not be; then it goes from place to place, and a refusal gives back what
// was taken before.
//
// What is known to hold: a refusal by a state that was seen within the last second, since other
// hosts can only have used more. It says how long to wait as far as this host knows: at least that.
// What was given back, or deleted by hand, is seen a second late.
//
// Pure: it neither sends nor waits, and time is an argument. Whoever runs it does, on one thread:
//
//     Ask(asks, intent, waiter, now)   decided at once, or `waiter` is settled later
//     OnReply(ticket, reply, now)      when the store has answered
//     Tick(now)                        now and then, at least each millisecond while anybody waits
//     TakeRequests(), TakeSettled()    after any of these: what to send, and who has an answer
//
// A decision has a deadline. When it is over, or while the breaker is open, the failure policy of
// each limit answers: kAllow, kDeny, or kLocal, by a state of this host's own, which begins with
// what was last seen and is forgotten when the store answers again (strict_local.h).
//
// Thread safety: none; one host for each event loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "authority/breaker.h"
#include "authority/host.h"
#include "authority/strict_clock.h"
#include "authority/strict_exchange.h"
#include "authority/strict_keys.h"
#include "authority/strict_limit.h"
#include "authority/swap_store.h"
#include "weir/decision.h"
#include "weir/units.h"

namespace weir::authority {

// One of the limits that a request is under.
struct StrictAsk {
  const StrictLimit* limit = nullptr;  // REQUIRES: valid until Ask() returns
  std::string_view key;                // likewise; all hosts name it alike
  Permits cost{1};
};

enum class StrictIntent : std::uint8_t {
  kTake,
  kPeek,  // the same answer, but nothing is taken
};

struct StrictSettled {
  Waiter waiter = 0;
  std::vector<Decision> decisions;  // one for each ask, in order
  bool is_fallen = false;           // by the failure policies
};

struct StrictHostOptions {
  Nanos deadline = std::chrono::milliseconds(10);
  BreakerOptions breaker{};
  std::size_t most_keys = 100'000;    // whose states are remembered; quiet ones are dropped first
  std::size_t most_waiting = 10'000;  // requests; of more the failure policy decides at once
  // Of so many nanoseconds that pass here, one more or one less passes at the store: how well
  // clocks keep pace, 500 millionths being the worst that is called a clock.
  std::int64_t pace = 2'000;
  // Where a key lies; those of one place are swapped together (SwapStore::PlaceOf). Empty: all are
  // in one.
  std::function<std::uint16_t(std::string_view)> place_of{};
  // Stamps are told apart by it: REQUIRES a different one for each host. Chance is good enough.
  std::uint64_t seed = RandomSeed();

  static std::uint64_t RandomSeed();
};

// What was decided and how, since the beginning.
struct StrictCounts {
  std::uint64_t known = 0;             // refusals that needed no asking
  std::uint64_t swaps = 0;             // sent, looks included
  std::uint64_t surprises = 0;         // of those: keys held something else than was thought
  std::uint64_t fallen = 0;            // decided by a failure policy
  std::uint64_t lost_corrections = 0;  // nobody could be told of
};

class StrictHost {
 public:
  explicit StrictHost(StrictHostOptions options);
  StrictHost(const StrictHost&) = delete;
  StrictHost& operator=(const StrictHost&) = delete;

  // All of `asks` or none. True: decided, and `decisions` says what each of them had to say. False:
  // `waiter` is settled later with the same. REQUIRES: as many decisions as asks, one at least; no
  // other request waits under the same name.
  bool Ask(std::span<const StrictAsk> asks, StrictIntent intent, Waiter waiter, Instant now,
           std::span<Decision> decisions);
  // Gives back what was taken. Nobody is told; what cannot be given back stays taken.
  void Refund(std::span<const StrictAsk> asks, Instant now);
  // The same for what turned out to cost more: charged even if it leaves a debt.
  void Charge(std::span<const StrictAsk> asks, Instant now);
  // Whoever waits has gone. What was not sent is not sent; what was may be taken.
  void Cancel(Waiter waiter, Instant now);

  void OnReply(Ticket ticket, const SwapReply& reply, Instant now);
  // Settles whoever waited too long.
  void Tick(Instant now);

  // Requests to send now; what they point to is valid until their reply.
  std::vector<SwapRequest> TakeRequests() { return std::exchange(requests_, {}); }
  std::vector<StrictSettled> TakeSettled() { return std::exchange(settled_, {}); }
  [[nodiscard]] bool has_requests() const { return !requests_.empty(); }
  [[nodiscard]] bool has_settled() const { return !settled_.empty(); }

  // Nobody waits and nothing is under way until Ask() is called again: no need to Tick().
  [[nodiscard]] bool is_quiet() const {
    return waiters_.empty() && exchanges_.empty() && stalled_.empty();
  }
  [[nodiscard]] std::size_t waiting() const { return waiters_.size(); }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }  // keys that are remembered
  [[nodiscard]] const Breaker& breaker() const { return breaker_; }
  [[nodiscard]] const StrictCounts& counts() const { return counts_; }

 private:
  using RequestPointer = std::shared_ptr<StrictRequest>;
  using ExchangePointer = std::unique_ptr<StrictExchange>;
  // What a decision is made of: what was seen some time ago, or what an answer has just told.
  enum class Seen : std::uint8_t { kBefore, kNow };
  struct Deadline {
    Instant at;
    RequestPointer request;
  };
  struct Sent {
    Instant late_at;
    Ticket ticket;
  };

  RequestPointer Make(std::span<const StrictAsk> asks, StrictRequest::Purpose purpose);
  void ForgetOldDeadlines();
  bool IsKnownRefusal(std::span<const StrictAsk> asks, Instant now, std::span<Decision> decisions);

  // A request's way: it waits at its keys, is decided with all who wait there, is sent, and done.
  void Enqueue(const RequestPointer& request, Instant now);
  void Launch(const std::shared_ptr<StrictKey>& key, Instant now);
  void Decide(ExchangePointer exchange, Seen seen, Instant now);
  void Send(ExchangePointer exchange, Instant at, Instant now);
  void Finish(ExchangePointer exchange, Instant now);
  void Fail(ExchangePointer exchange, Outcome outcome, Instant now);
  void Release(ExchangePointer exchange, Instant now);

  void LeaveQueues(const StrictRequest& request);
  static bool IsBehindLate(const StrictRequest& request);
  void FinishStage(const RequestPointer& request, Instant now);
  enum class By : std::uint8_t { kStore, kFailurePolicy };
  void Settle(StrictRequest& request, By by);
  void GiveBack(StrictRequest& request, Instant now);
  void SendCorrection(const RequestPointer& correction, Instant now);
  void DropCorrection(StrictRequest& correction);
  // Decides by the failure policies.
  void Fall(StrictRequest& request, Instant now);
  void FallAndSettle(StrictRequest& request, Instant now);

  StrictHostOptions options_;
  Breaker breaker_;
  StrictClock clock_;
  StrictKeys keys_;
  WrittenLimits limits_;
  std::unordered_map<Waiter, RequestPointer> waiters_;
  std::unordered_map<Ticket, ExchangePointer> exchanges_;  // under way
  std::deque<Deadline> deadlines_;                         // in order: all have the same time
  std::deque<Sent> sent_;                                  // likewise
  std::vector<std::shared_ptr<StrictKey>> stalled_;        // whose queue can go on
  std::vector<SwapRequest> requests_;
  std::vector<StrictSettled> settled_;
  std::uint64_t last_number_ = 0;
  std::uint64_t stamps_;
  Ticket last_ticket_ = 0;
  std::size_t corrections_ = 0;  // on their way
  StrictCounts counts_;
};

}  // namespace weir::authority
