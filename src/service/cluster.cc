#include "service/cluster.h"

#include <algorithm>
#include <utility>

namespace weir {
namespace {

using authority::Answer;
using authority::HostKey;
using authority::LocalDecision;

constexpr Nanos kTick = std::chrono::milliseconds(1);
constexpr Nanos kForgetEvery = std::chrono::seconds(10);

}  // namespace

void SharedAsks::Clear() {
  if (cluster_ != nullptr && waiting_ != 0) cluster_->StopWaiting(asks_, *this);
  asks_.clear();
}

std::span<SharedAsk> SharedAsks::WholeFrom(std::size_t first) {
  std::size_t last = first + 1;
  while (last < asks_.size() && asks_[last].whole == asks_[first].whole) ++last;
  return std::span(asks_).subspan(first, last - first);
}

ClusterCounts& ClusterCounts::operator+=(const ClusterCounts& other) {
  at_hand += other.at_hand;
  asked += other.asked;
  late += other.late;
  keys += other.keys;
  under_way += other.under_way;
  races += other.races;
  is_cut_off |= other.is_cut_off;
  return *this;
}

Cluster::Cluster(net::Loop& loop, authority::Authority& authority, authority::SwapStore& store,
                 const ClusterOptions& options)
    : loop_(loop),
      authority_(authority),
      store_(store),
      host_({.deadline = options.deadline, .seed = options.seed, .max_keys = options.max_keys}),
      strict_({.deadline = options.deadline,
               .most_keys = options.max_keys,
               .place_of = [&store](std::string_view key) { return store.PlaceOf(key); }}),
      when_cut_off_(options.when_cut_off) {}

Cluster::~Cluster() { loop_.Cancel(timer_); }

// --- asking
// ---------------------------------------------------------------------------------------

void Cluster::Ask(SharedAsks& asks, Intent intent, CheckWaiter& waiter) {
  asks.cluster_ = this;
  asks.waiter_ = &waiter;
  for (std::size_t first = 0; first < asks.asks_.size();) {
    const std::span<SharedAsk> whole = asks.WholeFrom(first);
    first += whole.size();
    bool refused = false;
    bool is_strict = false;
    for (SharedAsk& ask : whole) {
      if (ask.limit->strict) {
        is_strict = true;
      } else if (!refused) {
        AskHost(ask, intent, asks);
        refused = ask.waiter == 0 && !ask.decision.allowed();
      }
    }
    if (is_strict && !refused) AskStrict(whole, intent, asks);
    if (refused) StopWaiting(whole, asks);  // for the others
  }
  if (!asks.is_waiting()) Conclude(asks);
  RunSoon(host_.has_requests() || strict_.has_requests() ? Nanos(0) : kTick);
}

const std::string& Cluster::NameOf(const SharedAsk& ask) {
  if (!ask.called.empty()) return ask.called;
  name_.clear();
  ask.name.AppendTo(name_);
  return name_;
}

HostKey* Cluster::KeyOf(const SharedAsk& ask) {
  HostKey* key = host_.Find(ask.key);
  if (key == nullptr) {
    return host_.Make(ask.key, NameOf(ask), ask.limit->policy);
  }
  if (key->policy() != ask.limit->policy) {
    SendRequests();  // those under the limit before
    key->Adopt(ask.limit->policy);
  }
  return key;
}

void Cluster::AskHost(SharedAsk& ask, Intent intent, SharedAsks& asks) {
  const Instant now = loop_.now();
  HostKey* const key = KeyOf(ask);
  if (key == nullptr) {  // nothing is known of it, and there is no room to learn
    ++counting_.late;
    HostKey unknown("", ask.limit->policy);
    Tell(unknown.Fallback(ask.cost.count, authority::Outcome::kUnknown, now), &unknown, ask);
    return;
  }
  if (intent == Intent::kLook || ask.cost == Permits{0}) {
    Tell(key->Look(ask.cost.count, now), key, ask);
    return;
  }
  const authority::Waiter waiter = ++last_waiter_;
  const LocalDecision decision = host_.Ask(*key, ask.cost.count, waiter, now);
  if (decision.answer == Answer::kAsk) {
    ++counting_.asked;
    waiting_.emplace(waiter, Waiting{&asks, &ask, ask.key, ask.cost});
    ask.waiter = waiter;
    ++asks.waiting_;
    return;
  }
  ++counting_.at_hand;
  Tell(decision, key, ask);
  ask.is_taken = ask.decision.allowed() && !ask.is_fallen;
}

void Cluster::AskStrict(std::span<SharedAsk> whole, Intent intent, SharedAsks& asks) {
  strict_asks_.clear();
  for (SharedAsk& ask : whole) {
    if (!ask.limit->strict) continue;
    if (ask.called.empty()) ask.name.AppendTo(ask.called);
    strict_asks_.push_back({.limit = &*ask.limit->strict, .key = ask.called, .cost = ask.cost});
  }
  decisions_.assign(strict_asks_.size(), {});
  const bool takes = intent == Intent::kTake;
  const authority::Waiter waiter = ++last_waiter_;
  const std::uint64_t fallen = strict_.counts().fallen;
  const bool is_decided = strict_.Ask(
      strict_asks_, takes ? authority::StrictIntent::kTake : authority::StrictIntent::kPeek, waiter,
      loop_.now(), decisions_);
  const bool is_fallen = is_decided && strict_.counts().fallen != fallen;
  ++(is_decided ? counting_.at_hand : counting_.asked);
  if (is_decided) {
    Tell(decisions_, takes && !is_fallen, whole);
    for (SharedAsk& ask : whole) ask.is_fallen |= is_fallen && ask.limit->strict;
    return;
  }
  waiting_strictly_.emplace(waiter, WaitingStrictly{&asks, whole, takes});
  for (SharedAsk& ask : whole) {
    if (!ask.limit->strict) continue;
    ask.waiter = waiter;
    ++asks.waiting_;
  }
}

// `key` is null if it was forgotten meanwhile.
void Cluster::Tell(LocalDecision local, HostKey* key, SharedAsk& ask) const {
  ask.decision = {};
  ask.decision.verdict = local.answer == Answer::kAllow  ? Verdict::kAllow
                         : local.answer == Answer::kDeny ? Verdict::kDeny
                                                         : Verdict::kNever;
  ask.decision.retry_after = local.retry_after;
  ask.is_fallen = local.is_fallen;
  if (key == nullptr) return;
  ask.decision.remaining = Permits{key->Remaining(loop_.now())};
  ask.decision.reset_after = key->ResetAfter(loop_.now());
}

// What the strict ones of a whole had to say. They are all or nothing.
void Cluster::Tell(std::span<const Decision> decisions, bool takes, std::span<SharedAsk> whole) {
  const bool is_taken = takes && std::all_of(decisions.begin(), decisions.end(),
                                             [](const Decision& one) { return one.allowed(); });
  for (SharedAsk& ask : whole) {
    if (!ask.limit->strict) continue;
    ask.decision = decisions.front();
    ask.is_taken = is_taken;
    decisions = decisions.subspan(1);
  }
}

void Cluster::Conclude(SharedAsks& asks) {
  for (std::size_t first = 0; first < asks.asks_.size();) {
    const std::span<SharedAsk> whole = asks.WholeFrom(first);
    first += whole.size();
    Conclude(whole);
  }
}

// All that is known of a whole: if one of them refuses, nothing of it stays taken.
void Cluster::Conclude(std::span<SharedAsk> whole) {
  const auto refuses = [](const SharedAsk& ask) { return !ask.decision.allowed(); };
  if (std::any_of(whole.begin(), whole.end(), refuses)) GiveBack(whole);
}

void Cluster::GiveBack(std::span<SharedAsk> whole) {
  const Instant now = loop_.now();
  strict_asks_.clear();
  for (SharedAsk& ask : whole) {
    if (!std::exchange(ask.is_taken, false)) continue;
    if (ask.limit->strict) {
      strict_asks_.push_back({.limit = &*ask.limit->strict, .key = ask.called, .cost = ask.cost});
    } else if (HostKey* key = host_.Find(ask.key)) {
      host_.Refund(*key, ask.cost.count, now);
    }
  }
  if (!strict_asks_.empty()) strict_.Refund(strict_asks_, now);
  RunSoon(Nanos(0));
}

void Cluster::Correct(const SharedAsk& ask, Correction correction) {
  const Instant now = loop_.now();
  const bool charges = correction == Correction::kCharge;
  if (ask.limit->strict) {
    const authority::StrictAsk strict{
        .limit = &*ask.limit->strict, .key = NameOf(ask), .cost = ask.cost};
    if (charges) {
      strict_.Charge({&strict, 1}, now);
    } else {
      strict_.Refund({&strict, 1}, now);
    }
  } else if (HostKey* key = KeyOf(ask)) {
    if (charges) {
      host_.Charge(*key, ask.cost.count, now);
    } else {
      host_.Refund(*key, ask.cost.count, now);
    }
  }
  RunSoon(Nanos(0));
}

// Nobody wants to know any more. What is taken of a lease all the same is given back then.
void Cluster::StopWaiting(std::span<SharedAsk> whole, SharedAsks& asks) {
  for (SharedAsk& ask : whole) {
    const authority::Waiter waiter = std::exchange(ask.waiter, 0);
    if (waiter == 0) continue;
    --asks.waiting_;
    if (!ask.limit->strict) {
      waiting_.at(waiter).asks = nullptr;
    } else if (waiting_strictly_.erase(waiter) != 0) {
      strict_.Cancel(waiter, loop_.now());
    }
  }
}

// --- answers
// ---------------------------------------------------------------------------------------

void Cluster::OnReply(authority::Ticket ticket, const authority::SyncReply& reply) {
  host_.OnReply(ticket, reply, loop_.now());
  RunSoon(Nanos(0));
}

void Cluster::OnReply(authority::Ticket ticket, const authority::SwapReply& reply) {
  strict_.OnReply(ticket, reply, loop_.now());
  RunSoon(Nanos(0));
}

void Cluster::Settle(const authority::Settled& settled) {
  const auto found = waiting_.find(settled.waiter);
  if (found == waiting_.end()) return;
  const Waiting waiting = found->second;
  waiting_.erase(found);
  const Instant now = loop_.now();
  HostKey* const key = host_.Find(waiting.key);
  if (waiting.asks == nullptr) {
    const bool is_taken = settled.decision.answer == Answer::kAllow && !settled.decision.is_fallen;
    if (is_taken && key != nullptr) host_.Refund(*key, waiting.cost.count, now);
    return;
  }
  SharedAsk& ask = *waiting.ask;
  Tell(settled.decision, key, ask);
  ask.is_taken = ask.decision.allowed() && !ask.is_fallen;
  ask.waiter = 0;
  CountAnswers(*waiting.asks, 1);
}

void Cluster::Settle(const authority::StrictSettled& settled) {
  const auto found = waiting_strictly_.find(settled.waiter);
  if (found == waiting_strictly_.end()) return;
  const WaitingStrictly waiting = found->second;
  waiting_strictly_.erase(found);
  Tell(settled.decisions, waiting.takes && !settled.is_fallen, waiting.whole);
  for (SharedAsk& ask : waiting.whole) {
    if (!ask.limit->strict) continue;
    ask.is_fallen = settled.is_fallen;
    ask.waiter = 0;
  }
  CountAnswers(*waiting.asks, settled.decisions.size());
}

void Cluster::CountAnswers(SharedAsks& asks, std::size_t answers) {
  asks.waiting_ -= answers;
  if (asks.waiting_ != 0) return;
  Conclude(asks);
  woken_.push_back(asks.waiter_);
}

// --- in turns of the loop
// ---------------------------------------------------------------------------------------

void Cluster::RunSoon(Nanos delay) {
  const Instant at = loop_.now() + delay;
  if (timer_ != net::Loop::kNoTimer) {
    if (timer_.first <= at) return;
    loop_.Cancel(timer_);
  }
  timer_ = loop_.After(delay, [this] {
    timer_ = net::Loop::kNoTimer;
    Run();
  });
}

void Cluster::Leave(std::function<void()> done) {
  when_left_ = std::move(done);
  host_.Leave();
  RunSoon(Nanos(0));
}

// An answer may come at once, and make more requests.
void Cluster::SendRequests() {
  if (const auto requests = host_.TakeRequests(); !requests.empty()) {
    authority_.Sync(requests, *this);
  }
  if (const auto requests = strict_.TakeRequests(); !requests.empty()) {
    store_.Swap(requests, *this);
  }
}

void Cluster::Run() {
  const Instant now = loop_.now();
  host_.Tick(now);
  strict_.Tick(now);
  SendRequests();
  for (const authority::Settled& settled : host_.TakeSettled()) Settle(settled);
  for (const authority::StrictSettled& settled : strict_.TakeSettled()) Settle(settled);
  std::sort(woken_.begin(), woken_.end());
  woken_.erase(std::unique(woken_.begin(), woken_.end()), woken_.end());
  // Who is told may ask for more, or go; never take another along.
  for (CheckWaiter* waiter : std::exchange(woken_, {})) waiter->OnSettled();

  if (now >= forget_at_) {
    host_.Forget(now);
    forget_at_ = now + kForgetEvery;
  }
  Publish();
  if (!host_.is_quiet() || !strict_.is_quiet()) RunSoon(kTick);
  if (when_left_ && host_.has_left() && strict_.is_quiet()) std::exchange(when_left_, {})();
}

// --- what there is to tell
// ---------------------------------------------------------------------------------------

void Cluster::Publish() {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  using State = authority::Breaker::State;
  told_.at_hand.store(counting_.at_hand, kRelaxed);
  told_.asked.store(counting_.asked, kRelaxed);
  told_.late.store(counting_.late + host_.fallen() + strict_.counts().fallen, kRelaxed);
  told_.keys.store(host_.size() + strict_.size(), kRelaxed);
  told_.under_way.store(host_.under_way() + strict_.waiting(), kRelaxed);
  told_.races.store(strict_.counts().surprises, kRelaxed);
  const bool is_cut_off =
      host_.breaker().state() != State::kClosed || strict_.breaker().state() != State::kClosed;
  if (told_.is_cut_off.exchange(is_cut_off, kRelaxed) != is_cut_off && when_cut_off_) {
    when_cut_off_(is_cut_off);
  }
}

ClusterCounts Cluster::counts() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  return {.at_hand = told_.at_hand.load(kRelaxed),
          .asked = told_.asked.load(kRelaxed),
          .late = told_.late.load(kRelaxed),
          .keys = told_.keys.load(kRelaxed),
          .under_way = told_.under_way.load(kRelaxed),
          .races = told_.races.load(kRelaxed),
          .is_cut_off = told_.is_cut_off.load(kRelaxed)};
}

}  // namespace weir
