#include "authority/strict_exchange.h"

#include <algorithm>
#include <utility>

#include "authority/strict_take.h"
#include "base/check.h"

namespace weir::authority {
namespace {

// splitmix64: another number for each one, and for each seed another row of them.
std::uint64_t Mix(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

// A value lingers when it means nothing any more, so that a key in use does not come and go:
// whoever finds it as he left it has saved a round trip.
constexpr std::chrono::milliseconds kLinger{1'000};
// From the moment that it is decided until it is executed, with some to spare.
constexpr std::chrono::milliseconds kOnTheWay{5};

std::chrono::milliseconds TimeToLive(const StrictState& state, Instant at) {
  constexpr Nanos kLongest = std::chrono::hours(24 * 366 * 100);
  const Nanos left = std::min(state.ForgottenIn(at), kLongest);
  return std::chrono::ceil<std::chrono::milliseconds>(left) + kLinger;
}

}  // namespace

std::size_t StrictRequest::StageOf(const StrictPart& part) const {
  const auto found = std::find(places.begin(), places.end(), part.key->place);
  return static_cast<std::size_t>(found - places.begin());
}

void StrictExchange::Claim(const std::shared_ptr<StrictKey>& key) {
  key->exchange = this;
  keys.push_back(key);
}

bool StrictExchange::Join(const std::shared_ptr<StrictRequest>& request) {
  std::size_t more = 0;
  for (const StrictPart& part : request->parts) {
    if (!request->IsHere(part) || part.key->exchange == this) continue;
    if (part.key->exchange != nullptr) return false;
    ++more;
  }
  if (!requests.empty() && keys.size() + more > kMostKeys) return false;
  for (const StrictPart& part : request->parts) {
    if (request->IsHere(part) && part.key->exchange == nullptr) Claim(part.key);
  }
  request->is_joined = true;
  requests.push_back(request);
  return true;
}

void StrictExchange::Close() {
  for (const auto& key : keys) {
    std::erase_if(key->waiting, [](const auto& r) { return r->is_joined || r->is_over; });
  }
  std::sort(requests.begin(), requests.end(),
            [](const auto& a, const auto& b) { return a->number < b->number; });
}

StrictState& StrictExchange::StateOf(const StrictKey& key) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].get() == &key) return states_[i];
  }
  WEIR_CHECK(false);
  return states_.front();
}

void StrictExchange::ForgetWhatIsGone(Instant at) {
  for (const auto& key : keys) {
    if (key->state.IsForgottenAt(at - kLinger - kOnTheWay)) key->Forget();
  }
}

bool StrictExchange::Decide(Instant at) {
  at_ = at;
  states_.clear();
  for (const auto& key : keys) states_.push_back(key->state);
  for (const auto& request : requests) Apply(*request, at);
  changes_something_ =
      std::any_of(states_.begin(), states_.end(), [](const auto& s) { return s.is_changed(); });
  return changes_something_;
}

void StrictExchange::Apply(StrictRequest& request, Instant at) {
  std::vector<StrictTake> takes;
  for (StrictPart& part : request.parts) {
    if (!request.IsHere(part)) continue;
    StrictState& state = StateOf(*part.key);
    if (request.purpose == StrictRequest::Purpose::kRefund) {
      state.Refund(part.limit.written(), part.cost, at, part.taken);
    } else if (request.purpose == StrictRequest::Purpose::kCharge) {
      state.Charge(part.limit.written(), part.cost, at);
    } else {
      takes.push_back({&state, &part.limit, part.cost, &part.decision});
    }
  }
  if (request.purpose == StrictRequest::Purpose::kPeek) PeekAtAll(takes, at);
  if (request.purpose != StrictRequest::Purpose::kTake) return;
  TakeFromAll(takes, at);
  for (StrictPart& part : request.parts) {
    if (request.IsHere(part)) part.taken = StateOf(*part.key).latest();
  }
}

SwapRequest StrictExchange::MakeRequest(Ticket ticket, Instant at, std::uint64_t& stamps) {
  values_.assign(keys.size(), {});
  swap_.clear();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    SwapKey swap{.name = keys[i]->name, .seen = keys[i]->stamp, .value = {}};
    if (changes_something_ && states_[i].is_changed()) {
      constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
      values_[i] = states_[i].Write(StrictState::MakeStamp(Mix(stamps += kStep)));
      swap.value = values_[i];
      swap.ttl = TimeToLive(states_[i], at);
    }
    swap_.push_back(swap);
  }
  return {.ticket = ticket, .keys = swap_};
}

void StrictExchange::Keep(Instant now) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    StrictKey& key = *keys[i];
    if (!values_[i].empty()) {
      key.state = std::move(states_[i]);
      key.state.set_unchanged();
      key.stamp = values_[i].substr(0, kStampBytes);
    }
    key.is_seen = true;
    key.seen_at = now;
    key.local.reset();
  }
  CountOwnTakes();
}

void StrictExchange::CountOwnTakes() const {
  for (const auto& request : requests) {
    if (request->purpose != StrictRequest::Purpose::kTake) continue;
    const auto is_taken = [&](const StrictPart& part) {
      return !request->IsHere(part) || part.decision.allowed();
    };
    if (!std::all_of(request->parts.begin(), request->parts.end(), is_taken)) continue;
    for (const StrictPart& part : request->parts) {
      if (request->IsHere(part)) part.key->own_takes.Add(part.cost, at_);
    }
  }
}

void StrictExchange::Learn(const SwapReply& reply, WrittenLimits& limits, Instant now) {
  WEIR_CHECK(reply.held.size() == keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    StrictKey& key = *keys[i];
    const std::string_view held = reply.held[i];
    if (held.substr(0, kStampBytes) != key.stamp) {
      key.state = StrictState::Read(held, limits);
      key.stamp = held.substr(0, kStampBytes);
    }
    key.is_seen = true;
    key.seen_at = now;
    key.local.reset();
  }
}

void StrictExchange::ForgetWhatWasSent() {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (values_[i].empty()) continue;
    keys[i]->Local(at_);
    keys[i]->Forget();
  }
}

void StrictExchange::Release() {
  for (const auto& key : keys) key->exchange = nullptr;
}

}  // namespace weir::authority
