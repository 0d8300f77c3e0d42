// The cluster that ships, in virtual time: hosts (authority/host.h) and an authority
// (authority/account.h), with messages between them that may go wrong.
//
// It can be audited at any moment. Nothing is estimated: every permit is in the bucket, reserved
// by a host, on its way, admitted, or in one of the leaks that faults cause and that are counted.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "authority/account.h"
#include "authority/host.h"
#include "authority/host_key.h"
#include "authority/local_authority.h"
#include "sim/events.h"
#include "sim/method.h"
#include "sim/network.h"

namespace weir::sim {

struct ClusterOptions {
  int hosts = 3;
  authority::KeyPolicy policy;
  Nanos one_way = std::chrono::microseconds(500);
  // What a connection takes to notice that an answer does not come.
  Nanos answer_timeout = std::chrono::milliseconds(200);
  std::uint64_t seed = 1;
};

// Where every permit is, in ticks.
struct Audit {
  std::int64_t tokens = 0;  // in the authority's bucket; below 0 it is owed
  std::int64_t held = 0;    // credit, leases and refunds of hosts, on their way included
  std::int64_t admitted = 0;
  std::int64_t debt = 0;      // admitted, not yet told
  std::int64_t overflow = 0;  // flowed in while the bucket was full
  std::int64_t wasted = 0;    // held and lost: messages and hosts that were gone too long
  std::int64_t unpaid = 0;    // admitted and never told: by a failure policy, or told in vain
  std::int64_t burst = 0;
  std::int64_t flowed = 0;  // rate x time

  // 0, always: tokens + held + admitted - debt + overflow + wasted - unpaid = burst + rate x time.
  [[nodiscard]] std::int64_t Imbalance() const {
    return tokens + held + admitted - debt + overflow + wasted - unpaid - burst - flowed;
  }
};

class Cluster final : public Method {
 public:
  Cluster(Events& events, const ClusterOptions& options, OnDecided on_decided);
  ~Cluster() override;

  void Arrive(RequestId id, int host) override { Arrive(id, host, 1); }
  void Arrive(RequestId id, int host, std::uint64_t cost);
  // So many at the same instant, from `first` on: what they ask for is sent together.
  void Rush(RequestId first, std::uint64_t count, int host);
  // Gives back what was admitted there, up to `permits`.
  void Refund(int host, std::uint64_t permits);
  [[nodiscard]] std::uint64_t records() const override { return records_; }

  // What goes wrong.
  Network& network() { return network_; }
  void PauseHost(int host, Nanos time);
  void KillAuthority();  // connections are refused from now on, and all is forgotten
  void StartAuthority();
  void StepAuthorityClock(Nanos step) { authority_clock_ += step; }

  [[nodiscard]] Audit Count() const;
  [[nodiscard]] const authority::HostKey& key(int host) const;
  [[nodiscard]] const authority::Breaker& breaker(int host) const;

 private:
  struct Node;
  struct Message;  // a request on its way, and what became of it

  // The way of a request: from its host, to the authority, and back.
  void Flush(int host);
  void Deliver(int host, const std::shared_ptr<Message>& message);
  void Execute(Message& message);
  void Tell(int host, const std::shared_ptr<Message>& message, const authority::SyncReply& reply);

  void Tick(int host);
  void Settle(int host, authority::Outcome outcome);
  void Ask(RequestId id, int host, std::uint64_t cost);
  void Decide(RequestId id, int host, std::uint64_t cost, const authority::LocalDecision& decision);
  static std::uint64_t Given(const Message& message);
  static authority::Leaks Sum(authority::Leaks a, const authority::Leaks& b);
  [[nodiscard]] Instant HostTime(int host) const;

  Events& events_;
  ClusterOptions options_;
  OnDecided on_decided_;
  Network network_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unordered_set<std::shared_ptr<Message>> open_;     // those whose host has no answer yet
  std::unique_ptr<authority::LocalAuthority> authority_;  // null while it is dead
  authority::Leaks leaks_before_;                         // of those that died
  Nanos authority_clock_;                                 // says this more than ours
  std::uint64_t records_ = 0;
  std::uint64_t admitted_ = 0;  // permits
  std::uint64_t wasted_ = 0;    // permits, by messages
  std::uint64_t unpaid_ = 0;    // likewise
  std::int64_t forgotten_ = 0;  // ticks that an authority took along when it died
};

}  // namespace weir::sim
