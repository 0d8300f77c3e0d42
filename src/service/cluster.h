// One loop's part in a cluster: the limits that many hosts share, and the way to where they lie.
//
//     check -> Ask() -> decided here from what is at hand                        most of the time
//                    -> or asked for: all that a turn of the loop asks goes out together
//                       ... an answer, a deadline, a failure policy ...
//                    -> CheckWaiter::OnSettled(), and the check goes on
//
// Who decides is written once and pure (authority/host.h for leases and write-back,
// authority/strict_host.h for strict); here is what they lack: a clock, a way out, and who waits.
//
// Thread safety: the loop's thread only, but for counts().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "authority/authority.h"
#include "authority/host.h"
#include "authority/strict_host.h"
#include "authority/swap_store.h"
#include "net/loop.h"
#include "service/shared_asks.h"

namespace weir {

struct ClusterOptions {
  Nanos deadline = std::chrono::milliseconds(10);  // of a decision that is asked for
  std::size_t max_keys = 100'000;                  // known at a time, of each kind
  std::uint64_t seed = 1;                          // a different one for each loop of each host
  // Called when nobody answers any more, and when somebody does again. May be empty.
  std::function<void(bool is_cut_off)> when_cut_off = {};
};

// Since the beginning.
struct ClusterCounts {
  std::uint64_t at_hand = 0;    // decided in memory
  std::uint64_t asked = 0;      // had to be asked for
  std::uint64_t late = 0;       // not answered in time, or not asked: decided by the failure policy
  std::uint64_t keys = 0;       // known at the moment
  std::uint64_t under_way = 0;  // at the moment
  std::uint64_t races = 0;      // asked again because another host was faster
  bool is_cut_off = false;      // nobody answers at the moment

  ClusterCounts& operator+=(const ClusterCounts& other);
};

class Cluster final : private authority::Replies, private authority::SwapReplies {
 public:
  enum class Intent : std::uint8_t { kTake, kLook };

  // `loop` outlives it, and it the answers of `authority` and `store`.
  Cluster(net::Loop& loop, authority::Authority& authority, authority::SwapStore& store,
          const ClusterOptions& options);
  ~Cluster() override;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Takes each whole of `asks` or nothing of it, or looks whether it is there. If asks.is_waiting()
  // then, `waiter` is told when it is over; it outlives `asks`, or clears them.
  void Ask(SharedAsks& asks, Intent intent, CheckWaiter& waiter);
  // Gives back what was taken, unless that was done already.
  void GiveBack(SharedAsks& asks) { GiveBack(std::span(asks.asks_)); }

  // A request that passed turned out to cost something else. Nobody waits for this.
  enum class Correction : std::uint8_t { kCharge, kRefund };
  void Correct(const SharedAsk& ask, Correction correction);

  // Nobody asks any more: what is held goes back to the others, and what is owed is told. Then, or
  // if nobody answers, calls `done`.
  void Leave(std::function<void()> done);

  // Of any thread.
  [[nodiscard]] ClusterCounts counts() const;

 private:
  friend class SharedAsks;
  // Of a lease.
  struct Waiting {
    SharedAsks* asks;  // null: whoever waited has gone
    SharedAsk* ask;
    KeyHash key;
    Permits cost;
  };
  // Strict ones of one whole wait together.
  struct WaitingStrictly {
    SharedAsks* asks;
    std::span<SharedAsk> whole;
    bool takes;
  };

  void AskHost(SharedAsk& ask, Intent intent, SharedAsks& asks);
  void AskStrict(std::span<SharedAsk> whole, Intent intent, SharedAsks& asks);
  const std::string& NameOf(const SharedAsk& ask);
  authority::HostKey* KeyOf(const SharedAsk& ask);
  void Tell(authority::LocalDecision local, authority::HostKey* key, SharedAsk& ask) const;
  static void Tell(std::span<const Decision> decisions, bool takes, std::span<SharedAsk> whole);
  void Conclude(SharedAsks& asks);
  void Conclude(std::span<SharedAsk> whole);
  void GiveBack(std::span<SharedAsk> whole);
  void StopWaiting(std::span<SharedAsk> whole, SharedAsks& asks);

  void OnReply(authority::Ticket ticket, const authority::SyncReply& reply) override;
  void OnReply(authority::Ticket ticket, const authority::SwapReply& reply) override;
  void Settle(const authority::Settled& settled);
  void Settle(const authority::StrictSettled& settled);
  void CountAnswers(SharedAsks& asks, std::size_t answers);
  // At the end of a turn in which anything happened, and each millisecond while anything may.
  void RunSoon(Nanos delay);
  void Run();
  void SendRequests();
  void Publish();

  net::Loop& loop_;
  authority::Authority& authority_;
  authority::SwapStore& store_;
  authority::Host host_;
  authority::StrictHost strict_;
  std::unordered_map<authority::Waiter, Waiting> waiting_;
  std::unordered_map<authority::Waiter, WaitingStrictly> waiting_strictly_;
  authority::Waiter last_waiter_ = 0;
  std::vector<CheckWaiter*> woken_;  // to be told, each once
  net::Loop::Timer timer_ = net::Loop::kNoTimer;
  std::function<void(bool is_cut_off)> when_cut_off_;
  std::function<void()> when_left_;  // empty unless it is leaving
  Instant forget_at_{};

  // Room to work in.
  std::string name_;
  std::vector<authority::StrictAsk> strict_asks_;
  std::vector<Decision> decisions_;

  ClusterCounts counting_;
  struct Told {
    std::atomic<std::uint64_t> at_hand{0};
    std::atomic<std::uint64_t> asked{0};
    std::atomic<std::uint64_t> late{0};
    std::atomic<std::uint64_t> keys{0};
    std::atomic<std::uint64_t> under_way{0};
    std::atomic<std::uint64_t> races{0};
    std::atomic<bool> is_cut_off{false};
  } told_;
};

}  // namespace weir
