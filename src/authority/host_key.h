// One key on one host: what can be decided here, what has to be asked, and what is told.
//
// Pure: time and replies are arguments, nothing is sent from here. Whoever owns it (host.h) asks it
// about each request, sends what MakeRequest() returns, and hands it the reply.
//
//                    at hand?      known to be refused?     neither
//     strict          -             deny                     ask: one round trip, exact
//     lease           allow         deny, or paced           ask, and order a supply meanwhile
//     write_back      allow (view)  deny (view)              ask, when too much is untold
//
// A lease is worth its messages only where an exchange moves a few permits. Where it does not, the
// key is asked about each time as in strict, and switches by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "authority/authority.h"
#include "authority/bucket_view.h"
#include "authority/demand_meter.h"
#include "authority/reservation.h"
#include "authority/terms.h"
#include "authority/warm_bucket.h"
#include "weir/units.h"

namespace weir::authority {

enum class Mode : std::uint8_t { kStrict, kLease, kWriteBack };

// What to answer while the authority cannot be reached.
enum class OnFailure : std::uint8_t {
  kAllow,
  kDeny,
  kLocal,  // what this host's last known share of the limit allows
};

struct KeyPolicy {
  Terms terms;
  Mode mode = Mode::kLease;
  OnFailure on_failure = OnFailure::kLocal;
  // Of a host that has never been told one, in millionths: the whole limit.
  std::uint64_t cold_share = WarmBucket::kWhole;

  bool operator==(const KeyPolicy&) const = default;
};

enum class Answer : std::uint8_t {
  kAllow,
  kDeny,
  kNever,  // costs more than the limit can ever hold
  kAsk,    // cannot be known here
};

struct LocalDecision {
  Answer answer = Answer::kAllow;
  Nanos retry_after{0};    // of a refusal
  bool is_fallen = false;  // by the failure policy
};

class HostKey {
 public:
  HostKey(std::string name, const KeyPolicy& policy);

  // The limit has changed. What is held, owed and used stays what it is, in permits. REQUIRES: none
  // of its requests is yet to be sent
  void Adopt(const KeyPolicy& policy);

  // Decides about a request that costs `cost`, if that can be done here.
  LocalDecision Ask(std::uint64_t cost, Instant now);

  // Gives back what was admitted before, for whoever did not use it. Goes back to where it came
  // from if the authority was not told yet, and is told to it otherwise.
  void Refund(std::uint64_t cost, Instant now);

  // What was admitted turned out to cost so much more. It is owed until it is told.
  void Charge(std::uint64_t cost, Instant now);

  // The host is about to end: what it holds goes back, what it owes is told, at once.
  void Leave();

  // The request that is due: a supply runs low, an interval is over, a debt is untold.
  [[nodiscard]] bool IsDue(Instant now) const;
  // What there is to tell and to ask for, and `take` permits for a request that waits. Counts as
  // sent: OnReply() with the same ticket follows.
  SyncRequest MakeRequest(Ticket ticket, std::uint64_t take, Instant now);
  // One take more of the same size, for another request that waits. REQUIRES: it is plain, and was
  // not sent yet
  void Join(SyncRequest& request);
  // The answer to a request that was made at `sent_at` for takes of `take` permits each.
  void OnReply(Ticket ticket, std::uint64_t take, const SyncReply& reply, Instant sent_at,
               Instant now);

  // Decides without the authority. `kUnknown`: it was asked and may have charged for it.
  LocalDecision Fallback(std::uint64_t cost, Outcome outcome, Instant now);

  // Until a request of that cost, which was refused just now, can be admitted: as far as known.
  [[nodiscard]] Nanos RetryAfter(std::uint64_t cost, Instant now) const;

  // Nothing is held, owed or under way: no exchange will be due until somebody asks.
  [[nodiscard]] bool IsQuiet() const;
  // And nobody asked for so long that it can be forgotten.
  [[nodiscard]] bool IsIdle(Instant now) {
    return IsQuiet() && meter_.In(meter_.window(), now) == 0;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const KeyPolicy& policy() const { return policy_; }
  [[nodiscard]] bool is_leasing() const { return is_leasing_; }
  [[nodiscard]] const Reservation& reservation() const { return reservation_; }
  [[nodiscard]] std::uint64_t share() const { return share_; }

  // Permits, for those who check that none is lost.
  [[nodiscard]] std::uint64_t debt() const { return debt_ + unreported_; }
  [[nodiscard]] std::uint64_t refund() const { return refund_; }
  [[nodiscard]] std::uint64_t orphaned() const { return orphaned_; }
  [[nodiscard]] std::uint64_t wasted() const { return wasted_; }
  [[nodiscard]] std::uint64_t forgiven() const { return forgiven_; }

  // What is left, as far as this host knows: what it was last told, and what it has at hand.
  [[nodiscard]] std::uint64_t Remaining(Instant now);
  // Until the bucket is full again, if nobody takes from it.
  [[nodiscard]] Nanos ResetAfter(Instant now);
  // Whether a request of that cost would be admitted, as far as this host knows; takes nothing.
  [[nodiscard]] LocalDecision Look(std::uint64_t cost, Instant now);

  // For the host only: where in its list of busy keys this one is, how many requests it has under
  // way for it, and the last take, which others may join.
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  std::size_t busy_place = kNowhere;
  std::uint32_t under_way = 0;
  Ticket last_take = 0;

 private:
  // A request under way that moves the reservation or tells a debt.
  struct Exchange {
    Ticket ticket;
    std::uint64_t debt;
    std::uint64_t refund;
    std::uint64_t unreported;
    std::uint64_t spent;
    std::uint64_t returned;
    std::uint64_t demand;
    bool is_void = false;  // what it carried has expired meanwhile
  };

  LocalDecision AskView(std::uint64_t cost, Instant now);
  void Admit(std::uint64_t cost, Instant now) { warm_.Note(terms(), share_, cost, now); }
  std::uint64_t ExpectedIn(Nanos span, Instant now);
  std::uint64_t Ample(Instant now);
  void Expire(Instant now);
  void Drop();
  void ChooseWay(Instant now);
  void OnExchange(const Exchange& exchange, const SyncReply& reply, Instant sent_at, Instant now);
  [[nodiscard]] const Terms& terms() const { return policy_.terms; }

  std::string name_;
  KeyPolicy policy_;
  DemandMeter meter_;
  DemandMeter rush_;
  WarmBucket warm_;
  BucketView view_;
  Reservation reservation_;
  std::optional<Exchange> exchange_;
  std::uint64_t share_;
  std::uint64_t epoch_ = 0;
  std::uint64_t demand_ = 0;       // untold
  std::uint64_t debt_ = 0;         // admitted by the view, untold
  std::uint64_t unreported_ = 0;   // admitted by the failure policy, untold
  std::uint64_t refund_ = 0;       // given back by whoever asked, untold
  std::uint64_t orphaned_ = 0;     // at hand, but the authority counts it as spent already
  std::uint64_t low_ = 1;          // with less credit than this, more is ordered
  std::uint64_t denied_cost_ = 0;  // refused until:
  Instant denied_until_{};
  Instant expires_{};  // the reservation, and what was orphaned of it
  Instant orphans_expire_{};
  Instant last_exchange_{};
  std::uint64_t wasted_ = 0;    // were at hand and could not be spent
  std::uint64_t forgiven_ = 0;  // were admitted without the authority, and are never told
  int thin_intervals_ = 0;
  std::int64_t told_tokens_;  // in the bucket, when last heard of
  Instant told_at_{};
  bool is_leasing_ = false;
  bool is_leaving_ = false;
  bool is_plentiful_ = true;  // an eighth of the burst was left when last heard of
};

}  // namespace weir::authority
