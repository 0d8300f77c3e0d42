// Who holds the truth about a key: the interface between a host and the authority of a cluster.
//
// Many hosts enforce one limit together. The state of a key lies with an authority (memory, Redis,
// a peer), which knows one operation: Sync. A host tells it what it admitted and what it will not
// need, asks for more, and learns how it stands. Every mode is a way to fill in one request:
//
//     strict      take = the cost of one request, nothing else. Decided there, all or nothing;
//                 requests of the same cost that came at once are asked for together (`times`).
//     lease       wanted = permits to keep at hand, so that most requests need no round trip.
//     write_back  debt = what was admitted meanwhile. Nothing is wanted, the level is learned.
//
// What an authority does with a request is stated in account.h, step by step and in whole numbers
// below 2^53, so that a script can do exactly the same. Terms (terms.h) are the limit in those
// numbers; they travel with each request because an authority keeps no rules.
//
// A reservation is what a host has been granted and has neither reported as spent nor returned.
// Each host has one for each key, moved into the current epoch by each request that carries it, so
// a host has at most one such request under way for a key. One that is not renewed is taken for
// spent when it is two epochs old: a dead host keeps nothing, and a lost message loses no count.
//
// No instant crosses this interface, only durations: clocks of hosts need not agree.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "authority/terms.h"

namespace weir::authority {

// Says which request a reply answers. Chosen by the host, unique while it is under way.
using Ticket = std::uint64_t;

struct SyncRequest {
  Ticket ticket = 0;
  std::string_view key{};        // REQUIRES: valid until Sync() returns
  const Terms* terms = nullptr;  // likewise

  // All in permits.
  std::uint64_t take = 0;      // to be consumed now, all of it or nothing; at most the burst
  std::uint64_t times = 1;     // as many takes of that size, one after the other
  std::uint64_t debt = 0;      // admitted without asking, not yet told
  std::uint64_t refund = 0;    // taken or told before, and given back
  std::uint64_t spent = 0;     // of the reservation: admitted since the last exchange,
  std::uint64_t returned = 0;  //   given back,
  std::uint64_t kept = 0;      //   and still at hand; together they are the reservation
  std::uint64_t epoch = 0;     // of the reservation, from the reply that gave it
  std::uint64_t wanted = 0;    // to be added to the reservation, as much of it as can be had
  std::uint64_t demand = 0;    // asked of this host since it last said so, admitted or not
  std::uint64_t expected = 0;  // what this host expects to be asked for in an epoch: its rate

  // Nothing is told, held or wanted: whatever it takes does not depend on who asks.
  [[nodiscard]] bool is_plain() const {
    return (debt | refund | spent | returned | kept | wanted) == 0;
  }
};

// What became of a request. It decides what the host may tell again.
enum class Outcome : std::uint8_t {
  kDone,     // executed; the reply says the rest
  kNotDone,  // surely not executed: never sent, or refused. What it told is told again later.
  kUnknown,  // sent, and no answer: it may have been executed, so it is never sent twice
};

struct SyncReply {
  Outcome outcome = Outcome::kDone;
  std::uint64_t taken = 0;  // how many takes of `times` were there and are consumed: the first
  bool renewed = true;      // `kept` still counts; false: it came too late and is void
  std::uint64_t grant = 0;  // permits to spend at once
  std::uint64_t lease = 0;  // permits to spend evenly over `lease_for`: they flow in meanwhile
  std::uint64_t epoch = 0;  // of the reservation from now on
  Micros lease_for{0};      // counted from when the reply arrives
  Micros deny_for{0};       // nothing was there: until as much as was asked for can be
  std::int64_t tokens = 0;  // what is in the bucket after this; below 0 it is owed
  std::uint64_t share = 0;  // this host's part of the demand, in millionths
};

// Where replies arrive. Called on the thread that called Sync().
class Replies {
 public:
  virtual ~Replies() = default;
  virtual void OnReply(Ticket ticket, const SyncReply& reply) = 0;
};

class Authority {
 public:
  virtual ~Authority() = default;

  // Executes each of `requests`, in order for each key, at most once. For each of them `replies`
  // is told exactly once: before this returns or later, from the loop of the calling thread, in
  // any order. A request without an answer is answered too, with kUnknown, when the connection
  // breaks or after a time that the implementation chooses (seconds; a decision has a deadline of
  // its own, see host.h). `replies` must outlive the answers.
  //
  // Nothing is ever repeated by an implementation, unless it is certain that it was not executed
  // (NOSCRIPT, MOVED, ASK: those say so).
  virtual void Sync(std::span<const SyncRequest> requests, Replies& replies) = 0;
};

}  // namespace weir::authority
