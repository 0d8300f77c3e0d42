#include "authority/strict_host.h"

#include <algorithm>
#include <optional>
#include <random>

#include "authority/strict_take.h"
#include "base/check.h"
#include "base/time.h"

namespace weir::authority {
namespace {

// A refusal by what was seen longer ago than this is asked about again.
constexpr Nanos kTrusted = std::chrono::seconds(1);

using Purpose = StrictRequest::Purpose;

}  // namespace

std::uint64_t StrictHostOptions::RandomSeed() {
  std::random_device chance;
  return std::uint64_t{chance()} << 32 | chance();
}

StrictHost::StrictHost(StrictHostOptions options)
    : options_(std::move(options)),
      breaker_(options_.breaker, options_.seed),
      clock_(options_.pace),
      keys_(options_.most_keys, options_.place_of),
      stamps_(options_.seed) {}

// --- asking --------------------------------------------------------------------------------------

StrictHost::RequestPointer StrictHost::Make(std::span<const StrictAsk> asks, Purpose purpose) {
  auto request = std::make_shared<StrictRequest>();
  request->purpose = purpose;
  request->number = ++last_number_;
  request->parts.reserve(asks.size());
  for (const StrictAsk& ask : asks) {
    request->parts.push_back({.key = keys_.At(ask.key), .limit = *ask.limit, .cost = ask.cost});
    const std::uint16_t place = request->parts.back().key->place;
    const auto known = std::find(request->places.begin(), request->places.end(), place);
    if (known == request->places.end()) request->places.push_back(place);
  }
  return request;
}

bool StrictHost::Ask(std::span<const StrictAsk> asks, StrictIntent intent, Waiter waiter,
                     Instant now, std::span<Decision> decisions) {
  WEIR_CHECK(!asks.empty() && asks.size() == decisions.size());
  if (intent == StrictIntent::kTake && IsKnownRefusal(asks, now, decisions)) {
    ++counts_.known;
    return true;
  }
  const RequestPointer request =
      Make(asks, intent == StrictIntent::kTake ? Purpose::kTake : Purpose::kPeek);
  if (waiters_.size() >= options_.most_waiting || !breaker_.Admits(now)) {
    Fall(*request, now);
    for (std::size_t i = 0; i < decisions.size(); ++i) decisions[i] = request->parts[i].decision;
    return true;
  }
  request->waiter = waiter;
  const bool is_new = waiters_.emplace(waiter, request).second;
  WEIR_CHECK(is_new);
  ForgetOldDeadlines();
  deadlines_.push_back({Later(now, options_.deadline), request});
  Enqueue(request, now);
  return false;
}

// Most are over before anybody looks at the clock.
void StrictHost::ForgetOldDeadlines() {
  while (!deadlines_.empty() && deadlines_.front().request->is_over) deadlines_.pop_front();
  while (!sent_.empty() && !exchanges_.contains(sent_.front().ticket)) sent_.pop_front();
}

// Others can only have used more since. The time may be later than it seems, so it has to be
// refused at the latest that it can be; a retry at the very moment that was promised is asked
// about.
bool StrictHost::IsKnownRefusal(std::span<const StrictAsk> asks, Instant now,
                                std::span<Decision> decisions) {
  if (!clock_.is_known()) return false;
  const Instant earliest = clock_.EarliestAt(now);
  const Instant latest = clock_.LatestAt(now);
  bool is_refused = false;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const StrictAsk& ask = asks[i];
    const StrictKey* const key = keys_.Find(ask.key);
    if (key == nullptr || !key->is_seen || now - key->seen_at > kTrusted) return false;
    if (ask.limit->plan().counts_refusals()) return false;  // this one has to be counted
    const auto decision = key->state.Look(*ask.limit->written(), ask.cost, earliest);
    if (!decision) return false;
    decisions[i] = *decision;
    if (is_refused || decision->allowed()) continue;
    is_refused = !key->state.Look(*ask.limit->written(), ask.cost, latest)->allowed();
  }
  return is_refused;
}

void StrictHost::Refund(std::span<const StrictAsk> asks, Instant now) {
  const RequestPointer refund = Make(asks, Purpose::kRefund);
  for (StrictPart& part : refund->parts) part.taken = Instant::max();
  SendCorrection(refund, now);
}

void StrictHost::Charge(std::span<const StrictAsk> asks, Instant now) {
  SendCorrection(Make(asks, Purpose::kCharge), now);
}

void StrictHost::SendCorrection(const RequestPointer& correction, Instant now) {
  if (correction->parts.empty()) return;
  ++corrections_;
  if (corrections_ > options_.most_waiting || !breaker_.Admits(now)) {
    return DropCorrection(*correction);
  }
  Enqueue(correction, now);
}

void StrictHost::DropCorrection(StrictRequest& correction) {
  correction.is_over = true;
  --corrections_;
  ++counts_.lost_corrections;
}

void StrictHost::Cancel(Waiter waiter, Instant now) {
  const auto found = waiters_.find(waiter);
  if (found == waiters_.end()) return;
  const RequestPointer request = found->second;
  request->is_over = true;
  waiters_.erase(found);
  LeaveQueues(*request);
  if (request->purpose == Purpose::kTake) GiveBack(*request, now);  // what it took elsewhere
}

// Where nothing is under way nobody would ever sweep it out; and who waits behind it can go on.
void StrictHost::LeaveQueues(const StrictRequest& request) {
  for (const StrictPart& part : request.parts) {
    StrictKey& key = *part.key;
    if (key.exchange != nullptr || key.waiting.empty()) continue;
    std::erase_if(key.waiting, [](const RequestPointer& one) { return one->is_over; });
    if (!key.waiting.empty()) stalled_.push_back(part.key);
  }
}

// --- from keys to the store ----------------------------------------------------------------------

void StrictHost::Enqueue(const RequestPointer& request, Instant now) {
  request->is_joined = false;
  std::shared_ptr<StrictKey> first;
  for (const StrictPart& part : request->parts) {
    if (!request->IsHere(part)) continue;
    if (!first) first = part.key;
    auto& waiting = part.key->waiting;
    if (waiting.empty() || waiting.back() != request) waiting.push_back(request);
  }
  Launch(first, now);
}

// Decides about all who wait for the key, and with them those who wait for what they wait for.
void StrictHost::Launch(const std::shared_ptr<StrictKey>& key, Instant now) {
  if (key->exchange != nullptr || key->waiting.empty()) return;
  auto exchange = std::make_unique<StrictExchange>();
  exchange->Claim(key);
  for (std::size_t i = 0; i < exchange->keys.size(); ++i) {  // grows meanwhile
    const std::shared_ptr<StrictKey> claimed = exchange->keys[i];
    for (const RequestPointer& request : claimed->waiting) {
      if (request->is_over || request->is_joined) continue;
      // Who is later than one that has to wait waits too, or that one might wait for ever.
      if (!exchange->Join(request)) break;
    }
  }
  exchange->Close();
  if (exchange->requests.empty()) return exchange->Release();
  Decide(std::move(exchange), Seen::kBefore, now);
}

void StrictHost::Decide(ExchangePointer exchange, Seen seen, Instant now) {
  std::erase_if(exchange->requests, [](const RequestPointer& r) { return r->is_over; });
  if (exchange->requests.empty()) return Release(std::move(exchange), now);
  if (!clock_.is_known()) return Send(std::move(exchange), now, now);  // a look tells the time
  const Instant at = clock_.EarliestAt(now);
  if (seen == Seen::kBefore) exchange->ForgetWhatIsGone(at);
  const bool changes_something = exchange->Decide(at);
  // Nothing is to be written, and what it was decided on has just been said.
  if (!changes_something && seen == Seen::kNow) return Finish(std::move(exchange), now);
  Send(std::move(exchange), at, now);
}

void StrictHost::Send(ExchangePointer exchange, Instant at, Instant now) {
  ++counts_.swaps;
  const Ticket ticket = ++last_ticket_;
  exchange->sent = now;
  exchange->is_late = false;
  requests_.push_back(exchange->MakeRequest(ticket, at, stamps_));
  sent_.push_back({Later(now, options_.deadline), ticket});
  exchanges_.emplace(ticket, std::move(exchange));
}

void StrictHost::OnReply(Ticket ticket, const SwapReply& reply, Instant now) {
  const auto found = exchanges_.find(ticket);
  if (found == exchanges_.end()) return;  // a second answer to the same request
  ExchangePointer exchange = std::move(found->second);
  exchanges_.erase(found);
  const bool is_done = reply.outcome == Outcome::kDone;
  if (!exchange->is_late && is_done) breaker_.Succeeded(now);
  if (!exchange->is_late && !is_done) breaker_.Failed(now);
  if (!is_done) return Fail(std::move(exchange), reply.outcome, now);
  clock_.Learn(reply.now, exchange->sent, now);
  if (!reply.is_as_seen) {
    ++counts_.surprises;
    exchange->Learn(reply, limits_, now);
    return Decide(std::move(exchange), Seen::kNow, now);
  }
  exchange->Keep(now);
  if (exchange->changes_something()) return Finish(std::move(exchange), now);
  Decide(std::move(exchange), Seen::kNow, now);
}

void StrictHost::Tick(Instant now) {
  while (!sent_.empty() && sent_.front().late_at <= now) {
    const auto found = exchanges_.find(sent_.front().ticket);
    sent_.pop_front();
    if (found == exchanges_.end()) continue;
    found->second->is_late = true;
    breaker_.Failed(now);
  }
  while (!deadlines_.empty() && deadlines_.front().at <= now) {
    const RequestPointer request = deadlines_.front().request;
    deadlines_.pop_front();
    if (request->is_over) continue;
    if (IsBehindLate(*request)) breaker_.Failed(now);
    FallAndSettle(*request, now);
  }
  for (const std::shared_ptr<StrictKey>& key : std::exchange(stalled_, {})) Launch(key, now);
}

// It was never sent, because nobody answers what was sent before it.
bool StrictHost::IsBehindLate(const StrictRequest& request) {
  return !request.is_joined &&
         std::any_of(request.parts.begin(), request.parts.end(), [](const StrictPart& part) {
           return part.key->exchange != nullptr && part.key->exchange->is_late;
         });
}

// --- what became of it ---------------------------------------------------------------------------

void StrictHost::Finish(ExchangePointer exchange, Instant now) {
  for (const RequestPointer& request : exchange->requests) {
    if (!request->is_over) FinishStage(request, now);
  }
  Release(std::move(exchange), now);
}

void StrictHost::FinishStage(const RequestPointer& request, Instant now) {
  const bool is_refused =
      request->purpose == Purpose::kTake &&
      std::any_of(request->parts.begin(), request->parts.end(), [&](const StrictPart& part) {
        return request->IsHere(part) && !part.decision.allowed();
      });
  if (!is_refused && request->stage + 1 < request->places.size()) {
    ++request->stage;
    return Enqueue(request, now);
  }
  if (request->is_correction()) {
    request->is_over = true;
    --corrections_;
    return;
  }
  if (is_refused) {
    GiveBack(*request, now);
    for (StrictPart& part : request->parts) {  // those that were not asked any more
      if (request->StageOf(part) <= request->stage) continue;
      StrictState state = part.key->state;
      part.decision = state.Peek(part.limit.written(), part.cost, clock_.EarliestAt(now));
    }
  }
  Settle(*request, By::kStore);
}

// It is refused: what was taken in other places before is given back.
void StrictHost::GiveBack(StrictRequest& request, Instant now) {
  const RequestPointer refund = Make({}, Purpose::kRefund);
  for (StrictPart& part : request.parts) {
    if (request.StageOf(part) >= request.stage) continue;
    refund->parts.push_back(part);
    StrictState state = part.key->state;  // what it will be
    state.Refund(part.limit.written(), part.cost, clock_.EarliestAt(now), part.taken);
    part.decision = state.Peek(part.limit.written(), part.cost, clock_.EarliestAt(now));
  }
  refund->places.assign(request.places.begin(),
                        request.places.begin() + static_cast<std::ptrdiff_t>(request.stage));
  SendCorrection(refund, now);
}

void StrictHost::Fail(ExchangePointer exchange, Outcome outcome, Instant now) {
  if (outcome == Outcome::kUnknown) exchange->ForgetWhatWasSent();
  for (const RequestPointer& request : exchange->requests) {
    if (!request->is_over) FallAndSettle(*request, now);
  }
  Release(std::move(exchange), now);
}

void StrictHost::Release(ExchangePointer exchange, Instant now) {
  exchange->Release();
  for (const std::shared_ptr<StrictKey>& key : exchange->keys) {
    if (key->exchange != nullptr || key->waiting.empty()) continue;
    if (breaker_.Admits(now)) {
      Launch(key, now);
      continue;
    }
    for (const RequestPointer& request : std::exchange(key->waiting, {})) {
      if (!request->is_over && !request->is_joined) FallAndSettle(*request, now);
    }
  }
}

void StrictHost::Settle(StrictRequest& request, By by) {
  request.is_over = true;
  StrictSettled settled{
      .waiter = request.waiter, .decisions = {}, .is_fallen = by == By::kFailurePolicy};
  settled.decisions.reserve(request.parts.size());
  for (const StrictPart& part : request.parts) settled.decisions.push_back(part.decision);
  settled_.push_back(std::move(settled));
  LeaveQueues(request);
  waiters_.erase(request.waiter);
}

// --- without the store ---------------------------------------------------------------------------

void StrictHost::FallAndSettle(StrictRequest& request, Instant now) {
  if (request.is_correction()) return DropCorrection(request);
  Fall(request, now);
  Settle(request, By::kFailurePolicy);
}

// All or nothing here too. What was taken in another place counts.
void StrictHost::Fall(StrictRequest& request, Instant now) {
  ++counts_.fallen;
  const Instant at = clock_.is_known() ? clock_.EarliestAt(now) : now;
  bool is_refused = false;
  for (StrictPart& part : request.parts) {
    if (request.StageOf(part) < request.stage) continue;
    part.decision = part.key->Local(at).Peek(part.limit, part.cost, at);
    if (part.limit.on_failure() == OnFailure::kDeny) {
      part.decision.verdict = Verdict::kDeny;
      part.decision.retry_after = std::max(breaker_.next() - now, options_.breaker.probe_every);
    } else if (part.limit.on_failure() == OnFailure::kAllow) {
      part.decision.verdict = Verdict::kAllow;
      part.decision.retry_after = Nanos(0);
    }
    is_refused = is_refused || !part.decision.allowed();
  }
  if (request.purpose != Purpose::kTake) return;
  if (is_refused) return GiveBack(request, now);
  for (StrictPart& part : request.parts) {
    if (request.StageOf(part) < request.stage) continue;
    const Decision taken = part.key->Local(at).Take(part.limit, part.cost, at);
    if (taken.allowed()) part.decision = taken;
  }
}

}  // namespace weir::authority
