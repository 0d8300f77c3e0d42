#include "authority/host.h"

#include <algorithm>

#include "base/check.h"
#include "limiter/key_hash.h"

namespace weir::authority {
namespace {

// Buckets that are looked through for a key that can be dropped.
constexpr std::size_t kLooksForRoom = 64;

bool CanBeDropped(const HostKey& key) {
  return key.under_way == 0 && key.busy_place == HostKey::kNowhere && key.IsQuiet();
}

}  // namespace

HostKey* Host::Make(KeyHash hash, std::string name, const KeyPolicy& policy) {
  if (keys_.size() >= options_.max_keys && !MakeRoom()) return nullptr;
  std::unique_ptr<HostKey>& key = keys_[hash];
  key = std::make_unique<HostKey>(std::move(name), policy);
  return key.get();
}

template <typename Each>
void Host::ForEachWaiter(const Sent& sent, Each each) {
  each(sent.waiter);
  for (const Waiter waiter : sent.others) each(waiter);
}

HostKey& Host::Find(const std::string& name, const KeyPolicy& policy) {
  const KeyHash hash = HashKey(name, options_.seed);
  HostKey* key = Find(hash);
  if (key == nullptr) key = Make(hash, name, policy);
  WEIR_CHECK(key != nullptr);
  return *key;
}

// A hand goes round over the buckets. Best is a key that means nothing; if there is none such where
// it points, one that holds permits will do: they are lost, which gives nobody anything.
bool Host::MakeRoom() {
  const std::size_t most = std::min(kLooksForRoom, keys_.bucket_count());
  HostKey* busy = nullptr;
  KeyHash busy_hash{};
  for (std::size_t looks = 0; looks < most; ++looks) {
    hand_ = (hand_ + 1) % keys_.bucket_count();
    for (auto entry = keys_.begin(hand_); entry != keys_.end(hand_); ++entry) {
      const KeyHash hash = entry->first;
      HostKey& key = *entry->second;
      if (CanBeDropped(key)) {
        keys_.erase(hash);
        return true;
      }
      if (key.under_way == 0) {
        busy = &key;
        busy_hash = hash;
      }
    }
  }
  if (busy == nullptr) return false;
  if (busy->busy_place != HostKey::kNowhere) Unwatch(*busy);
  keys_.erase(busy_hash);
  return true;
}

LocalDecision Host::Ask(HostKey& key, std::uint64_t cost, Waiter waiter, Instant now) {
  Watch(key);
  const LocalDecision decision = key.Ask(cost, now);
  if (decision.answer == Answer::kAsk) {
    if (TryJoin(key, cost, waiter, now)) return decision;
    if (!breaker_.Admits(now)) return Fall(key, cost, Outcome::kNotDone, now);
    Send(key, cost, waiter, now);
  } else if (key.IsDue(now) && breaker_.Admits(now)) {
    Send(key, 0, 0, now);
  }
  return decision;
}

void Host::Refund(HostKey& key, std::uint64_t cost, Instant now) {
  Watch(key);
  key.Refund(cost, now);
  if (key.IsDue(now) && breaker_.Admits(now)) Send(key, 0, 0, now);
}

void Host::Charge(HostKey& key, std::uint64_t cost, Instant now) {
  Watch(key);
  key.Charge(cost, now);
  if (key.IsDue(now) && breaker_.Admits(now)) Send(key, 0, 0, now);
}

void Host::OnReply(Ticket ticket, const SyncReply& reply, Instant now) {
  const auto found = under_way_.find(ticket);
  if (found == under_way_.end()) return;  // a second answer to the same request
  const Sent sent = std::move(found->second);
  under_way_.erase(found);
  --sent.key->under_way;
  const bool is_done = reply.outcome == Outcome::kDone;
  if (!sent.is_late) {
    if (is_done) {
      breaker_.Succeeded(now);
    } else {
      breaker_.Failed(now);
    }
  }
  sent.key->OnReply(ticket, sent.take, reply, sent.at, now);
  if (sent.take == 0 || sent.is_late) return;
  std::uint64_t left = reply.taken;
  ForEachWaiter(sent, [&](Waiter waiter) {
    if (!is_done) {
      Settle(waiter, Fall(*sent.key, sent.take, reply.outcome, now));
    } else if (left > 0) {
      --left;
      Settle(waiter, {});
    } else {
      Settle(waiter, {Answer::kDeny, sent.key->RetryAfter(sent.take, now)});
    }
  });
}

void Host::Tick(Instant now) {
  while (!deadlines_.empty() && deadlines_.front().at <= now) {
    const auto found = under_way_.find(deadlines_.front().ticket);
    deadlines_.pop_front();
    if (found == under_way_.end()) continue;
    Sent& sent = found->second;
    sent.is_late = true;
    breaker_.Failed(now);
    if (sent.take == 0) continue;
    ForEachWaiter(sent, [&](Waiter waiter) {
      Settle(waiter, Fall(*sent.key, sent.take, Outcome::kUnknown, now));
    });
  }
  for (std::size_t looks = std::min(kLooksAtOnce, busy_.size()); looks > 0; --looks) {
    if (next_busy_ >= busy_.size()) next_busy_ = 0;
    HostKey& key = *busy_[next_busy_];
    if (key.IsDue(now) && breaker_.Admits(now)) Send(key, 0, 0, now);
    if (key.IsQuiet()) {
      Unwatch(key);
    } else {
      ++next_busy_;
    }
  }
}

void Host::Forget(Instant now) {
  std::erase_if(keys_, [now](const auto& entry) {
    return CanBeDropped(*entry.second) && entry.second->IsIdle(now);
  });
}

void Host::Leave() {
  for (const auto& [hash, key] : keys_) {
    key->Leave();
    if (!key->IsQuiet()) Watch(*key);
  }
}

void Host::Watch(HostKey& key) {
  if (key.busy_place != HostKey::kNowhere) return;
  key.busy_place = busy_.size();
  busy_.push_back(&key);
}

void Host::Unwatch(HostKey& key) {
  busy_.back()->busy_place = key.busy_place;
  busy_[key.busy_place] = busy_.back();
  busy_.pop_back();
  key.busy_place = HostKey::kNowhere;
}

bool Host::TryJoin(HostKey& key, std::uint64_t take, Waiter waiter, Instant now) {
  // While it is in doubt whether anybody answers, one is enough to find out.
  if (breaker_.state() != Breaker::State::kClosed) return false;
  const Ticket before = last_ticket_ - requests_.size();  // the last that was taken to be sent
  if (key.last_take <= before) return false;
  SyncRequest& request = requests_[key.last_take - before - 1];
  if (request.take != take || !request.is_plain()) return false;
  Sent& sent = under_way_.at(key.last_take);
  if (sent.at != now) return false;  // would wait longer than its deadline
  sent.others.push_back(waiter);
  key.Join(request);
  return true;
}

void Host::Send(HostKey& key, std::uint64_t take, Waiter waiter, Instant now) {
  const Ticket ticket = ++last_ticket_;
  if (take != 0) key.last_take = ticket;
  requests_.push_back(key.MakeRequest(ticket, take, now));
  under_way_.emplace(ticket, Sent{&key, take, waiter, now});
  ++key.under_way;
  deadlines_.push_back({now + options_.deadline, ticket});
}

}  // namespace weir::authority
