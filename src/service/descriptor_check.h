// The question that Envoy asks: are these descriptors within their limits?
//
//   1. find the rule of each descriptor, and drop what others replace     rule/descriptor_tree.h
//   2. count in every window that counts refused requests too             counting_window.h
//   3. take from all other limits, or from none                           limiter/ledger.h
//   4. say where each descriptor stands, and what that means together     DescriptorReply
//
// The answers are those of envoyproxy/ratelimit, wherever rules come from its files. There every
// descriptor is counted by itself, whatever the others say, and a count goes on above its limit: so
// do all windows with `count_denied`. The other limits, which only our own files can name, are all
// or nothing among each other, and are only looked at if a request is refused anyway.
//
// Limits that a cluster shares go the same way: those that are counted by themselves first, then
// those that are all or nothing, after this host's, which get back what they gave if the cluster
// refuses. It may have to be waited for: then the reply says so, whoever asked is told when it can
// go on, and asks the same again with the same reply, which goes on where it was.
//
// Rules without a descriptor are not asked: they are for Checker::Check.
//
// Thread safety: Check() may be called by any number of threads, each with a reply of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rule/descriptor_tree.h"
#include "service/checker.h"
#include "service/limit_unit.h"

namespace weir {

// A limit that comes with a descriptor, and counts instead of any rule's.
struct LimitOverride {
  std::uint32_t requests = 0;
  LimitUnit unit = LimitUnit::kSecond;  // kUnknown limits nothing
};

enum class HitsAre : std::uint8_t { kTaken, kGivenBack };

struct DescriptorAsk {
  std::span<const rule::RequestEntry> entries;
  std::optional<std::uint64_t> hits = {};  // if not the request's; 0 only looks
  HitsAre hits_are = HitsAre::kTaken;
  std::optional<LimitOverride> limit = {};
};

struct DescriptorRequest {
  std::string_view domain;  // the namespace
  std::span<const DescriptorAsk> descriptors;
  std::uint32_t hits = 0;  // 0 counts as 1
};

// A limit as Envoy is told of it.
struct ToldLimit {
  std::uint32_t requests = 0;
  LimitUnit unit = LimitUnit::kUnknown;
  std::string_view name = {};

  bool operator==(const ToldLimit&) const = default;
};

// Where one descriptor stands.
struct DescriptorStatus {
  static constexpr std::uint32_t kUnlimited = 0xFFFF'FFFF;

  bool over = false;
  bool over_in_shadow = false;            // would be over if its rule were enforced
  bool banned = false;                    // over because of a ban that was in force before
  bool in_quota = false;                  // refuses only together with all others that are
  std::optional<ToldLimit> limit = {};    // none: nothing is limited, or it is unlimited
  std::uint32_t remaining = 0;            // kUnlimited, if it is
  std::optional<Nanos> until_reset = {};  // until the window ends; none if that never helps
  // The rule it was found by and that had a say; null for overrides, and where nothing is limited.
  const rule::CompiledRule* rule = nullptr;
};

// May be used again and again, and then allocates nothing. What it points to stays as it is until
// it is used again, released or gone, also if the rules are replaced meanwhile. It must not outlive
// the Checker.
class DescriptorReply {
 public:
  // From now on `cluster` is asked for the limits that are shared, and `waiter` is told. Without it
  // such limits are this host's own.
  void Join(Cluster& cluster, CheckWaiter& waiter) {
    shared_.cluster = &cluster;
    shared_.waiter = &waiter;
  }
  // Nothing is decided yet. Wait to be told, and ask the same again.
  [[nodiscard]] bool is_waiting() const {
    return shared_.alone.is_waiting() || shared_.enforced.is_waiting() ||
           shared_.shadow.is_waiting();
  }

  // Lets go of the rules, and of whatever it waits for. The next check is another one: after Join()
  // this has to be said first.
  void Release() { Clear(); }

  // Whether there were rules to go by, of any namespace, or none were published yet.
  [[nodiscard]] bool has_rules() const { return rules_ && (*rules_)->is_published; }
  [[nodiscard]] bool knows_domain() const { return space_ != nullptr; }
  [[nodiscard]] bool allowed() const { return !refused_; }
  // One for each descriptor, in their order.
  [[nodiscard]] std::span<const DescriptorStatus> statuses() const { return statuses_; }
  // The status that is closest to its limit, or over it; null if no limit was told.
  [[nodiscard]] const DescriptorStatus* decisive() const {
    return decisive_ ? &statuses_[*decisive_] : nullptr;
  }

 private:
  friend class DescriptorChecker;
  // A limit that is all or nothing with others.
  struct Pending {
    Ledger::Ask ask;
    std::uint32_t descriptor;
    std::uint32_t limit;  // its number in the book
  };
  // All that a cluster is asked for.
  struct Shared {
    // Whose answer it is. A limit that came with the request has no number.
    struct Purpose {
      std::uint32_t descriptor;
      std::uint32_t limit;
    };
    Cluster* cluster = nullptr;
    CheckWaiter* waiter = nullptr;
    SharedAsks alone;     // each by itself
    SharedAsks enforced;  // all of them, or none
    SharedAsks shadow;    // all of a descriptor, or none
    std::vector<Purpose> purposes;
    // What the descriptors are counted by, one after the other, and where each ends.
    std::vector<std::string_view> values;
    std::vector<std::size_t> value_ends;

    void Clear();
  };
  // How far it has come: it stops where it has to wait for the cluster.
  enum class Step : std::uint8_t { kNew, kAskedAlone, kAskedEnforced, kAskedShadow, kDone };
  void Clear();

  std::optional<Published<ActiveRules>::Reading> rules_;
  const rule::Space* space_ = nullptr;
  bool refused_ = false;
  std::optional<std::size_t> decisive_;
  std::vector<DescriptorStatus> statuses_;

  // On the way to it; kept for the next time.
  std::vector<rule::DescriptorMatch> matches_;
  std::vector<KeyHash> keys_;
  std::vector<std::string_view> key_values_;
  std::vector<Pending> enforced_;
  std::vector<Pending> shadow_;
  std::vector<Ledger::Ask> asks_;
  std::vector<Reservation> taken_;  // of those that are enforced
  std::vector<Reservation> shadow_taken_;

  Step step_ = Step::kNew;
  bool took_ = false;  // `taken_` can be given back
  Shared shared_;
};

// Of the whole server, as envoyproxy/ratelimit has them.
struct DescriptorOptions {
  bool shadow_mode = false;  // nobody is refused; the statuses say who would be
  bool quota_mode = false;   // every descriptor is in quota mode
};

class DescriptorChecker {
 public:
  // `checker` must outlive this.
  explicit DescriptorChecker(Checker& checker, DescriptorOptions options = {})
      : checker_(checker), options_(options) {}

  // Of a reply that goes on where it was, `request` is the same as before.
  void Check(const DescriptorRequest& request, Instant now, DescriptorReply& reply) const;
  // Whoever asked has gone while `reply` waits: what was to be all or nothing is given back. What
  // counts refused requests stays counted.
  void GiveBack(DescriptorReply& reply, Instant now) const;

 private:
  class Round;
  Checker& checker_;
  DescriptorOptions options_;
};

}  // namespace weir
