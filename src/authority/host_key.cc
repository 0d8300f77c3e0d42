#include "authority/host_key.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/wide_math.h"

namespace weir::authority {
namespace {

constexpr std::uint64_t kMillion = WarmBucket::kWhole;
// What flows to a host between two exchanges for them to be worth it; twice that to begin, less for
// three times to end.
constexpr std::uint64_t kThin = 2;
constexpr int kThinIntervals = 3;
// A rush is believed from this many requests on: fewer are chance.
constexpr std::uint64_t kRush = 8;
// A round trip on the safe side, for which a supply must last when more is ordered.
constexpr Nanos kOrderAhead = std::chrono::milliseconds(2);

bool IsSlow(const Terms& terms) { return terms.PermitsIn(terms.interval) < kThin; }

// Slow keys are seen over as long a time as the authority looks at them.
Nanos MeterWindow(const Terms& terms) {
  return IsSlow(terms) ? Nanos(terms.epoch) : Nanos(2 * terms.interval);
}

}  // namespace

HostKey::HostKey(std::string name, const KeyPolicy& policy)
    : name_(std::move(name)),
      policy_(policy),
      meter_(MeterWindow(policy.terms)),
      rush_(Nanos(policy.terms.interval) / 4),
      share_(policy.cold_share),
      told_tokens_(static_cast<std::int64_t>(policy.terms.burst)) {}

void HostKey::Adopt(const KeyPolicy& policy) {
  const std::uint64_t per_permit = terms().ticks_per_permit;
  policy_ = policy;
  warm_.Convert(per_permit, terms().ticks_per_permit);
  view_.Convert(per_permit, terms().ticks_per_permit);
  meter_ = DemandMeter(MeterWindow(terms()));
  rush_ = DemandMeter(Nanos(terms().interval) / 4);
  if (policy_.mode != Mode::kLease) is_leasing_ = false;
  denied_until_ = Instant{};  // was refused under the limit before
  const std::uint64_t owed = std::min(unreported_, terms().burst);
  forgiven_ += std::exchange(unreported_, owed) - owed;
}

LocalDecision HostKey::Ask(std::uint64_t cost, Instant now) {
  if (cost > terms().burst) return {Answer::kNever, Nanos::max()};
  meter_.Add(cost, now);
  rush_.Add(cost, now);
  demand_ += cost;
  if (policy_.mode == Mode::kWriteBack) return AskView(cost, now);

  Expire(now);
  if (orphaned_ >= cost) {
    orphaned_ -= cost;
    Admit(cost, now);
    return {};
  }
  reservation_.Pass(now);
  if (reservation_.Spend(cost)) {
    Admit(cost, now);
    return {};
  }
  if (now < denied_until_ && cost >= denied_cost_) return {Answer::kDeny, denied_until_ - now};
  // Paced by its lease, unless there is plenty where that came from.
  const Nanos wait = reservation_.WaitFor(cost, now);
  if (is_leasing_ && wait != Nanos::max() && !is_plentiful_) return {Answer::kDeny, wait};
  return {Answer::kAsk};
}

LocalDecision HostKey::AskView(std::uint64_t cost, Instant now) {
  const std::uint64_t untold = debt_ + (exchange_ ? exchange_->debt : 0);
  const std::uint64_t most = std::max<std::uint64_t>(1, terms().presale);
  if (const Nanos wait = view_.WaitFor(terms(), cost, now); wait > Nanos(0)) {
    return {Answer::kDeny, wait};
  }
  if (untold + cost > most) return {Answer::kAsk};
  view_.Take(terms(), cost, now);
  debt_ += cost;
  Admit(cost, now);
  return {};
}

void HostKey::Refund(std::uint64_t cost, Instant now) {
  warm_.Undo(terms(), cost);
  denied_until_ = now;  // was refused by an authority that did not know of this
  const std::uint64_t from_debt = std::min(cost, debt_);
  debt_ -= from_debt;
  view_.Undo(terms(), from_debt);
  cost -= from_debt;
  const std::uint64_t from_unreported = std::min(cost, unreported_);
  unreported_ -= from_unreported;
  cost -= from_unreported;
  Expire(now);
  cost -= reservation_.Unspend(cost);
  refund_ += cost;
}

void HostKey::Charge(std::uint64_t cost, Instant now) {
  // More than this the authority forgives anyway.
  const std::uint64_t owed = std::min(cost, SatSub(terms().burst + terms().max_debt, debt_));
  debt_ += owed;
  view_.Owe(terms(), owed, now);
  Admit(owed, now);
}

void HostKey::Leave() {
  is_leaving_ = true;
  demand_ = 0;  // claims nothing any more
  wasted_ += std::exchange(orphaned_, 0);
}

bool HostKey::IsDue(Instant now) const {
  if (exchange_) return false;
  if (is_leaving_) return debt() != 0 || refund_ != 0 || reservation_.total() != 0;
  const bool has_news = demand_ != 0 || debt() != 0 || refund_ != 0 || reservation_.total() != 0;
  const bool is_over = now - last_exchange_ >= terms().interval;
  if (policy_.mode == Mode::kWriteBack) {
    const std::uint64_t part = Saturate(Mul(terms().presale, share_) / kMillion);
    return (is_over && has_news) || debt_ >= std::max<std::uint64_t>(1, part);
  }
  if (!is_leasing_) {
    return is_over && (debt() != 0 || refund_ != 0 || reservation_.total() != 0);
  }
  if (is_over) return has_news;
  if (now < denied_until_ || reservation_.lease_left() != 0) return false;
  return reservation_.credit() < low_ && demand_ != 0;
}

SyncRequest HostKey::MakeRequest(Ticket ticket, std::uint64_t take, Instant now) {
  SyncRequest request{.ticket = ticket, .key = name_, .terms = &policy_.terms, .take = take};
  request.expected = meter_.In(terms().epoch, now);  // a rush is no claim to a share
  request.demand = std::exchange(demand_, 0);
  if (exchange_) return request;  // one at a time moves the reservation

  Expire(now);
  reservation_.Pass(now);
  ChooseWay(now);
  const std::uint64_t ample = is_leasing_ && !is_leaving_ ? Ample(now) : 0;
  if (reservation_.at_hand() > ample) {
    request.returned = reservation_.GiveBack(reservation_.at_hand() - ample, now);
  } else {
    request.wanted = ample - reservation_.at_hand();
  }
  request.spent = reservation_.spent();
  request.kept = reservation_.at_hand();
  request.epoch = epoch_;
  // What flowed in meanwhile need not be told: the authority counted that time as well.
  const std::uint64_t owed = std::min(unreported_, warm_.Owed(terms(), share_, now));
  forgiven_ += std::exchange(unreported_, 0) - owed;
  request.debt = debt_ + owed;
  request.refund = refund_;
  last_exchange_ = now;
  if (policy_.mode != Mode::kWriteBack && request.is_plain()) return request;

  exchange_ = Exchange{.ticket = ticket,
                       .debt = std::exchange(debt_, 0),
                       .refund = std::exchange(refund_, 0),
                       .unreported = owed,
                       .spent = request.spent,
                       .returned = request.returned,
                       .demand = request.demand};
  reservation_.Told(request.spent);
  return request;
}

void HostKey::Join(SyncRequest& request) {
  ++request.times;
  request.demand += std::exchange(demand_, 0);
}

void HostKey::OnReply(Ticket ticket, std::uint64_t take, const SyncReply& reply, Instant sent_at,
                      Instant now) {
  if (reply.outcome == Outcome::kDone) {
    if (reply.share != 0) share_ = reply.share;
    told_tokens_ = reply.tokens;
    told_at_ = now;
    is_plentiful_ = 8 * reply.tokens >= static_cast<std::int64_t>(terms().burst);
    if (reply.deny_for > Micros(0)) {
      // It holds from when it was said, which was not before it was asked.
      denied_until_ = sent_at + reply.deny_for;
      denied_cost_ = std::max<std::uint64_t>(1, take);
    }
  }
  if (exchange_ && exchange_->ticket == ticket) {
    const Exchange exchange = *exchange_;
    exchange_.reset();
    OnExchange(exchange, reply, sent_at, now);
  }
  if (reply.outcome == Outcome::kDone) Admit(take * reply.taken, now);
}

void HostKey::OnExchange(const Exchange& exchange, const SyncReply& reply, Instant sent_at,
                         Instant now) {
  switch (reply.outcome) {
    case Outcome::kNotDone:
      if (exchange.is_void) {
        wasted_ += exchange.returned;
      } else {
        reservation_.Untold(exchange.spent, exchange.returned);
      }
      debt_ += exchange.debt;
      refund_ += exchange.refund;
      unreported_ += exchange.unreported;
      demand_ += exchange.demand;
      return;
    case Outcome::kUnknown:
      // Whether it arrived or not, the authority has it reserved until it takes it for spent: it
      // can be spent here as long as before, but never again be told.
      Expire(now);
      reservation_.Pass(now);
      orphaned_ += reservation_.credit();
      orphans_expire_ = expires_;
      reservation_.Spend(reservation_.credit());
      Drop();
      return;
    case Outcome::kDone:
      break;
  }
  if (policy_.mode == Mode::kWriteBack) view_.Learn(terms(), reply.tokens, debt_, now);
  if (!reply.renewed) Drop();
  reservation_.Pass(now);
  reservation_.Add(reply.grant, reply.lease, reply.lease_for, now);
  epoch_ = reply.epoch;
  expires_ = sent_at + terms().epoch * 3 / 4;
  low_ = std::max({std::uint64_t{1}, reply.grant / 5, ExpectedIn(kOrderAhead, now)});
}

LocalDecision HostKey::Fallback(std::uint64_t cost, Outcome outcome, Instant now) {
  constexpr bool kFallen = true;
  if (policy_.on_failure == OnFailure::kDeny) return {Answer::kDeny, terms().interval, kFallen};
  if (policy_.on_failure == OnFailure::kLocal && !warm_.HasRoom(terms(), share_, cost, now)) {
    return {Answer::kDeny, warm_.WaitFor(terms(), share_, cost, now), kFallen};
  }
  Admit(cost, now);
  if (outcome == Outcome::kNotDone) {
    const std::uint64_t told_later = std::min(cost, SatSub(terms().burst, unreported_));
    unreported_ += told_later;
    forgiven_ += cost - told_later;
  }
  return {Answer::kAllow, Nanos(0), kFallen};
}

Nanos HostKey::RetryAfter(std::uint64_t cost, Instant now) const {
  const Nanos paced = reservation_.WaitFor(cost, now);
  const Nanos denied = denied_until_ - now;
  return std::max(Nanos(1), is_leasing_ && paced != Nanos::max() ? paced : denied);
}

std::uint64_t HostKey::Remaining(Instant now) {
  if (policy_.mode == Mode::kWriteBack) return view_.Left(terms(), now);
  reservation_.Pass(now);
  const Nanos passed = std::clamp<Nanos>(now - told_at_, Nanos(0), std::chrono::minutes(1));
  const std::uint64_t flowed = terms().PermitsIn(std::chrono::floor<Micros>(passed));
  const auto there = static_cast<std::uint64_t>(std::max<std::int64_t>(0, told_tokens_));
  return std::min(terms().burst, there + flowed + orphaned_ + reservation_.at_hand());
}

Nanos HostKey::ResetAfter(Instant now) {
  const Uint128 missing = Mul(terms().burst - Remaining(now), terms().ticks_per_permit);
  return Micros(static_cast<std::int64_t>(CeilDiv(missing, Uint128{terms().ticks_per_micro})));
}

LocalDecision HostKey::Look(std::uint64_t cost, Instant now) {
  if (cost > terms().burst) return {Answer::kNever, Nanos::max()};
  if (policy_.mode == Mode::kWriteBack) {
    const Nanos wait = view_.WaitFor(terms(), cost, now);
    return wait > Nanos(0) ? LocalDecision{Answer::kDeny, wait} : LocalDecision{};
  }
  Expire(now);
  reservation_.Pass(now);
  if (orphaned_ >= cost || reservation_.credit() >= cost) return {};
  if (now < denied_until_ && cost >= denied_cost_) return {Answer::kDeny, denied_until_ - now};
  return {};
}

bool HostKey::IsQuiet() const {
  const bool tells_demand = is_leasing_ || policy_.mode == Mode::kWriteBack;
  return !exchange_ && debt() == 0 && refund_ == 0 && reservation_.total() == 0 && orphaned_ == 0 &&
         (demand_ == 0 || !tells_demand);
}

std::uint64_t HostKey::ExpectedIn(Nanos span, Instant now) {
  const std::uint64_t lately = meter_.In(span, now);
  const auto rush = Saturate(Mul(rush_.Rush(kRush, now), static_cast<std::uint64_t>(span.count())) /
                             static_cast<std::uint64_t>(rush_.window().count()));
  return std::max(lately, rush);
}

// What it is good to have at hand. As long as there is plenty, enough for a rush: what hosts hold
// takes nothing from anybody then, and cannot add to the burst ever.
std::uint64_t HostKey::Ample(Instant now) {
  const std::uint64_t needed = ExpectedIn(terms().horizon, now);
  if (!is_plentiful_) return needed + needed / 4;
  return std::max(4 * needed, terms().presale / 16);
}

// A host that was paused finds that its permits are not its own any more.
void HostKey::Expire(Instant now) {
  if (reservation_.total() != 0 && now >= expires_) {
    Drop();
    if (exchange_) exchange_->is_void = true;
  }
  if (orphaned_ != 0 && now >= orphans_expire_) wasted_ += std::exchange(orphaned_, 0);
}

void HostKey::Drop() {
  wasted_ += reservation_.at_hand();
  reservation_ = Reservation();
}

void HostKey::ChooseWay(Instant now) {
  if (policy_.mode != Mode::kLease || terms().presale == 0) return;
  const std::uint64_t flows = Saturate(Mul(terms().PermitsIn(terms().interval), share_) / kMillion);
  const bool is_asked = ExpectedIn(terms().interval, now) != 0;
  if (flows >= 2 * kThin && is_asked) is_leasing_ = true;
  if (flows >= kThin && is_asked) {
    thin_intervals_ = 0;
  } else if (is_leasing_ && ++thin_intervals_ >= kThinIntervals) {
    is_leasing_ = false;
  }
}

}  // namespace weir::authority
