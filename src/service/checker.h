// The one question that every protocol asks: may this request pass?
//
//   1. find the rules that match the request             rule/rulebook.h
//   2. form a key for each of their counters             rule/key.h
//   3. take from all of them, or from none               limiter/ledger.h
//   4. say what each had to say, and what that means     CheckReply
//
// Rules in shadow are asked when the others have let the request pass: they count and are told, and
// refuse nobody.
//
// Limits that a cluster shares are asked for after those of this host, which get back what they
// gave if the cluster refuses. It may have to be waited for: then the reply says so, whoever asked
// is told when it can go on, and asks the same again with the same reply (service/shared_asks.h).
//
// Thread safety: everything may be called by any number of threads; rules are replaced while others
// decide, and nobody waits for that.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/published.h"
#include "limiter/ledger.h"
#include "rule/attribute.h"
#include "rule/problem.h"
#include "rule/rule.h"
#include "rule/rulebook.h"
#include "service/cluster.h"
#include "service/counting_window.h"
#include "service/rule_counters.h"
#include "service/shared_asks.h"
#include "service/shared_limit.h"
#include "service/watch.h"
#include "weir/decision.h"

namespace weir {

struct CheckPlan;

struct CheckRequest {
  enum class Intent : std::uint8_t {
    kTake,
    kLook,  // would it pass? Nothing is counted, and nobody is banned
  };
  std::string_view space;  // the namespace
  std::span<const rule::Attribute> attributes;
  std::optional<Permits> cost = {};  // if the caller knows better than the rules
  Intent intent = Intent::kTake;
};

// What one limit of one rule said.
struct Finding {
  enum class Why : std::uint8_t { kLimit, kBlocked, kBanned };
  const rule::CompiledRule* rule = nullptr;
  const Limit* limit = nullptr;  // null unless it was a limit
  Decision decision;
  Why why = Why::kLimit;
  bool enforced = true;  // false: in shadow, and nobody was refused for it
};

// The rules in force, with their limits entered in the ledger.
struct ActiveRules {
  std::unique_ptr<const rule::Rulebook> book;
  std::vector<Ledger::LimitHandle> limits;  // by their numbers in the book
  std::vector<std::string> policies;        // the same, in words: service/policy.h
  std::vector<std::string> limit_texts;     // the same, as rules write them
  // For rules that ban, by the time they ban for. Being banned is having used up one per that time.
  std::map<Nanos, Ledger::LimitHandle> bans;
  CountingWindows counting;  // for checks by descriptors
  SharedLimits shared;       // those that a cluster shares
  std::string version;
  bool is_published = false;  // not yet, at the start
  RuleCounters::Lease counters;
};

// May be used again and again, and then allocates nothing. What it points to stays as it is until
// it is used again, released or gone, also if the rules are replaced meanwhile: so a reply that is
// kept keeps the rules it was made by. It must not outlive the Checker.
class CheckReply {
 public:
  CheckReply() = default;
  CheckReply(const CheckReply&) = delete;  // what it tells may lie in it
  CheckReply& operator=(const CheckReply&) = delete;

  // From now on `cluster` is asked for the limits that are shared, and `waiter` is told. Without it
  // such limits are this host's own.
  void Join(Cluster& cluster, CheckWaiter& waiter) {
    cluster_ = &cluster;
    waiter_ = &waiter;
  }
  // Nothing is decided yet. Wait to be told, and ask the same again.
  [[nodiscard]] bool is_waiting() const {
    return shared_.is_waiting() || shared_shadow_.is_waiting();
  }

  // What it says has been told: the next check it is used for is another one. Only after Join();
  // otherwise every check is.
  void Finish() { step_ = Step::kNew; }
  // Lets go of the rules. The reply then says nothing.
  void Release() {
    Clear();
    space_ = nullptr;
    rules_.reset();
  }

  // Whether there are rules for the namespace at all; if not, everything passes.
  [[nodiscard]] bool knows_space() const { return space_ != nullptr; }
  // Those rules; null if there are none.
  [[nodiscard]] const rule::Space* space() const { return space_; }
  [[nodiscard]] bool allowed() const { return !refused_; }
  // The rule of an allow-list that let it pass, if one did.
  [[nodiscard]] const rule::CompiledRule* allowed_by() const { return allowed_by_; }
  // An allowed request acts this long from now.
  [[nodiscard]] Nanos wait() const { return wait_; }
  [[nodiscard]] std::span<const Finding> findings() const { return told_; }
  // What can be taken right after without waiting: the least that an enforced rule has left, which
  // of a refusal need not be the one that decides. REQUIRES: decisive() is not null
  [[nodiscard]] Permits remaining() const { return remaining_; }
  // What the limit of a finding says of itself, as PolicyText(). REQUIRES: it has one
  [[nodiscard]] std::string_view PolicyOf(const Finding& finding) const {
    const ActiveRules& rules = **rules_;
    return rules.policies[static_cast<std::size_t>(finding.limit - rules.book->limits().data())];
  }
  // The finding that decides: of a refusal the one that refuses the longest, otherwise the one of
  // an enforced rule with the fewest permits left. Null if no rule had a say.
  [[nodiscard]] const Finding* decisive() const { return decisive_; }

 private:
  friend class Checker;
  // What goes with a key that is asked: which finding its answer is, and where to ban it if it is
  // refused.
  struct Purpose {
    std::uint32_t finding;
    const Ledger::Entered* ban;  // null: it is not banned
    KeyHash ban_key;
  };
  // Keys to be asked, side by side as the ledger wants them, and what came of it.
  struct Asks {
    std::vector<Ledger::Ask> asks;
    std::vector<Purpose> purposes;
    std::vector<Reservation> taken;  // perhaps more of them, from earlier
    bool took = false;

    [[nodiscard]] bool empty() const { return asks.empty(); }
    void clear() {
      asks.clear();
      purposes.clear();
      took = false;
    }
    // Room for what will have come of each.
    std::span<Reservation> Taking() {
      if (taken.size() < asks.size()) taken.resize(asks.size());
      took = true;
      return std::span(taken).first(asks.size());
    }
  };
  void Clear() {
    refused_ = false;
    told_ = {};
    decisive_ = nullptr;
    if (asked_rules_) ForgetRules();
  }
  void ForgetRules();

  std::optional<Published<ActiveRules>::Reading> rules_;
  const rule::Space* space_ = nullptr;
  bool refused_ = false;
  std::span<const Finding> told_;
  const Finding* decisive_ = nullptr;  // one of them
  Permits remaining_{};
  // If a plan was all it took: what was found, from the first on.
  std::array<Finding, Ledger::kMostAtOnce> by_plan_;

  // Otherwise every rule was asked, and from here on something is to be cleared.
  bool asked_rules_ = false;
  const rule::CompiledRule* allowed_by_ = nullptr;
  Nanos wait_{0};
  std::vector<Finding> findings_;

  // On the way to it; kept for the next time.
  std::vector<std::uint32_t> found_;
  Asks enforced_;
  Asks shadow_;
  Asks looks_;  // of which nothing is to be taken

  // How far it has come: it stops where it has to wait for the cluster.
  enum class Step : std::uint8_t { kNew, kAsked, kShadowAsked, kDone };
  Step step_ = Step::kNew;
  Cluster* cluster_ = nullptr;
  CheckWaiter* waiter_ = nullptr;
  SharedAsks shared_;
  std::vector<Purpose> shared_purposes_;  // of each of them
  SharedAsks shared_shadow_;
};

struct CheckerOptions {
  // Elastic rules may be exceeded while this says so.
  std::function<bool()> has_room = {};
  // Counts what rules say, and watches who asks. Without it there is nothing to be seen of either.
  bool observe = true;
  bool has_cluster = false;  // rules may share their limits with other hosts
};

class Checker {
 public:
  Checker(std::unique_ptr<Ledger> ledger, CheckerOptions options);

  // Replaces all rules. What was counted stays counted. With problems nothing changes.
  rule::Problems Publish(std::vector<rule::RuleSet> sets, std::string version);

  void Check(const CheckRequest& request, Instant now, CheckReply& reply);
  // The same in two steps, for who collects only what the rules ask for: Open() finds the rules of
  // a namespace, which `reply` then keeps; null if there are none, and then everything passes.
  // Decide() asks them. Of `request` it takes neither the namespace nor the attributes: `values`
  // are in the order of the schema that Open() found, with the same reply.
  const rule::Space* Open(std::string_view space, CheckReply& reply);
  void Decide(const CheckRequest& request, const rule::Values& values, Instant now,
              CheckReply& reply);
  // The same in three, for who has several to decide: what is known of each before any is decided,
  // and whose memory is then on its way. Good as long as `reply` has the rules of one Open().
  struct Foreseen {
    const CheckPlan* plan = nullptr;  // null: its class cannot be told
    bool by_plan = false;             // the plan may be all it takes, and this is known:
    std::array<KeyHash, Ledger::kMostAtOnce> hashes;
    std::array<Ledger::Aim, Ledger::kMostAtOnce> aims;
  };
  void Foresee(const CheckRequest& request, const rule::Values& values, const CheckReply& reply,
               Foreseen& foreseen);
  void Decide(const CheckRequest& request, const rule::Values& values, const Foreseen& foreseen,
              Instant now, CheckReply& reply) {
    const ByPlan done = foreseen.by_plan ? DecideByPlan(foreseen, now, reply) : ByPlan::kNothing;
    if (done == ByPlan::kAll) [[likely]] {
      return;
    }
    if (done == ByPlan::kAllButShow) return ShowByPlan(request, values, foreseen, now, reply);
    DecideByRules(request, values, foreseen, now, reply);
  }
  // Makes room for the next of them. REQUIRES: no cluster is asked
  static void GoOn(CheckReply& reply) { reply.Clear(); }
  // Undoes what `reply` took, for a request that was to wait and whose sender has gone. Once.
  void GiveBack(CheckReply& reply, Instant now);
  // What became of a request that passed: failures cost something under the rules that count them.
  enum class Outcome : std::uint8_t { kSucceeded, kFailed };
  void Report(const CheckRequest& request, Outcome outcome, Instant now);

  // The cost of a request that passed turned out to be another: charges, or gives back, `cost`
  // under all rules that counted it. A charge may leave a debt. `cluster` is told of what it
  // shares.
  using Correction = Cluster::Correction;
  void Correct(const CheckRequest& request, Correction correction, Permits cost, Instant now,
               Cluster* cluster = nullptr);

  [[nodiscard]] Instant Now() const noexcept { return ledger_->Now(); }
  [[nodiscard]] Published<ActiveRules>::Reading rules() const { return active_.Read(); }
  // Rules that are not in force any more, and that somebody still had when others were published.
  [[nodiscard]] std::size_t replaced_rules() const { return active_.replaced(); }
  [[nodiscard]] Ledger& ledger() noexcept { return *ledger_; }
  // Those of rules are with the rules: rules()->counters.
  [[nodiscard]] RuleCounters& counters() noexcept { return counters_; }
  [[nodiscard]] Watch& watch() noexcept { return watch_; }
  [[nodiscard]] bool observes() const noexcept { return options_.observe; }

 private:
  static bool MayBeShort(const CheckRequest& request, const CheckReply& reply) {
    return reply.cluster_ == nullptr && !request.cost &&
           request.intent == CheckRequest::Intent::kTake;
  }

  // A counter of a rule that a request has a key for.
  struct Hit {
    const rule::CompiledRule* rule;
    const rule::Counter* counter;
    const rule::CompiledAllowance* allowance;
    KeyHash key;
    Permits cost;
    bool enforced;
    bool looks_only;  // asked for nothing but whether there is room
  };
  // Calls `use(hit)` for all of them, in the order of the rules.
  template <typename Use>
  void ForEachHit(const CheckRequest& request, const rule::Space& space, const rule::Values& values,
                  std::span<const std::uint32_t> found, Instant now, const Use& use) const;
  // Calls `use(rule, ask, shared)` for every limit of every counter that `request` is counted in,
  // after the fact: asks cost what the request does. `shared` is null of a limit of this host.
  template <typename Use>
  void ForEachAsk(const CheckRequest& request, Instant now, const Use& use) const;
  // What was done of a check of which the plan is known and short. Nothing if it takes more than
  // the plan this time; what is done is counted.
  enum class ByPlan : std::uint8_t { kAll, kAllButShow, kNothing };
  ByPlan DecideByPlan(const Foreseen& foreseen, Instant now, CheckReply& reply);
  bool TakeByPlan(const Foreseen& foreseen, Instant now, CheckReply& reply);
  [[gnu::noinline]] bool IsBanned(const Foreseen& foreseen, Instant now);
  void ShowByPlan(const CheckRequest& request, const rule::Values& values, const Foreseen& foreseen,
                  Instant now, CheckReply& reply);
  // All of any other, or the next step of one that had to wait.
  void DecideByRules(const CheckRequest& request, const rule::Values& values,
                     const Foreseen& foreseen, Instant now, CheckReply& reply);
  // Every rule that was found.
  void Ask(const CheckRequest& request, const rule::Values& values, Instant now, CheckReply& reply);
  void Collect(const Hit& hit, const rule::Values& values, Instant now, CheckReply& reply);
  // What was put aside for the cluster: asks for it, and takes over what has come of it.
  static SharedAsk SharedAskOf(const Hit& hit, std::size_t limit, const ActiveRules& active,
                               const rule::Space& space, const rule::Values& values);
  static void CollectShared(const Hit& hit, CheckReply::Purpose purpose, const rule::Values& values,
                            CheckReply& reply);
  static void AskShared(CheckRequest::Intent intent, SharedAsks& asks, CheckReply& reply);
  void TakeOverShared(CheckRequest::Intent intent, Instant now, CheckReply& reply);
  static void TakeOverSharedShadow(CheckReply& reply);
  static void FindDecisive(CheckReply& reply);
  void Look(const CheckReply::Asks& asks, Instant now, CheckReply& reply);
  void LookOnly(CheckRequest::Intent intent, Instant now, CheckReply& reply);
  void TakeEnforced(Instant now, CheckReply& reply);
  // Whether a refusal may be turned into a pass while there is room.
  static bool MayStretch(const Finding& finding);
  [[nodiscard]] bool HasRoom() const { return options_.has_room && options_.has_room(); }
  void TakeShadow(Instant now, CheckReply& reply);
  void Ban(const CheckReply::Asks& asks, Instant now, CheckReply& reply);
  // Adds the decision to what is watched.
  void Show(const CheckRequest& request, const rule::Values& values, Instant now,
            const CheckReply& reply);

  std::unique_ptr<Ledger> ledger_;
  CheckerOptions options_;
  RuleCounters counters_;  // outlives the rules, which give back what they have of it
  Watch watch_;
  Published<ActiveRules> active_;
};

}  // namespace weir
