#include "service/watch.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weir {
namespace {

using std::chrono::minutes;

std::int64_t MinuteOf(Instant now) { return now.time_since_epoch() / minutes(1); }

// The keys of a rule, of a minute and of the one before it.
struct Minutes {
  std::int64_t minute = 0;
  std::array<HeavyHitters, 2> current;  // by Watch::By
  std::array<HeavyHitters, 2> before;

  // A clock that goes back goes on counting in the minute that it was in.
  void TurnTo(std::int64_t now) {
    if (now <= minute) return;
    for (std::size_t by = 0; by < current.size(); ++by) {
      std::swap(before[by], current[by]);
      current[by].Clear();
      if (now > minute + 1) before[by].Clear();
    }
    minute = now;
  }
  [[nodiscard]] bool IsSilentAt(std::int64_t now) const { return now > minute + 1; }
};

// The last so many, in a ring.
class Ring {
 public:
  void Add(SeenDecision decision) {
    if (kept_.size() < Watch::kKept) {
      kept_.push_back(std::move(decision));
    } else {
      kept_[oldest_] = std::move(decision);
      oldest_ = (oldest_ + 1) % Watch::kKept;
    }
  }
  [[nodiscard]] std::span<const SeenDecision> kept() const { return kept_; }

 private:
  std::vector<SeenDecision> kept_;
  std::size_t oldest_ = 0;
};

std::string NameOf(std::string_view space, std::string_view rule) {
  std::string name(space);
  name += '\n';  // in no namespace
  name += rule;
  return name;
}

bool Passes(const Watch::Filter& filter, const SeenDecision& decision) {
  if (filter.allowed && decision.allowed != *filter.allowed) return false;
  if (!filter.space.empty() && decision.space != filter.space) return false;
  if (filter.rule.empty() || decision.allowed_by == filter.rule) return true;
  return std::any_of(decision.parts.begin(), decision.parts.end(),
                     [&](const SeenDecision::Part& part) { return part.rule == filter.rule; });
}

}  // namespace

// Turns are taken without the lock, all else is done with it.
struct Watch::Shard : Sampling {
  using Sampling::Sampling;

  mutable std::mutex mutex;
  std::map<std::string, Minutes, std::less<>> rules;
  Ring passed;
  Ring refused;

  // Null: there are too many.
  Minutes* Find(std::string_view space, std::string_view rule, std::int64_t minute) {
    std::string name = NameOf(space, rule);
    if (const auto found = rules.find(name); found != rules.end()) return &found->second;
    if (rules.size() >= kMostRules) {
      std::erase_if(rules, [&](const auto& entry) { return entry.second.IsSilentAt(minute); });
      if (rules.size() >= kMostRules) return nullptr;
    }
    return &rules[std::move(name)];
  }
};

Watch::~Watch() {
  for (const Shard* shard : Shards()) delete shard;
}

std::vector<const Watch::Shard*> Watch::Shards() const {
  std::vector<const Shard*> shards;
  for (const auto& place : shards_) {
    const Sampling* shard = place.load(std::memory_order_acquire);
    if (shard != nullptr) shards.push_back(static_cast<const Shard*>(shard));
  }
  return shards;
}

Watch::Shard& Watch::MyShard() {
  const std::uint32_t thread = ThreadNumber::Mine();
  std::atomic<Sampling*>& mine = shards_[thread];
  Sampling* shard = mine.load(std::memory_order_acquire);
  if (shard == nullptr) {
    auto fresh = std::make_unique<Shard>(seed_ + thread);
    // Others may share the last number, and be first.
    if (mine.compare_exchange_strong(shard, fresh.get(), std::memory_order_acq_rel)) {
      shard = fresh.release();
    }
  }
  return static_cast<Shard&>(*shard);
}

void Watch::Add(SeenDecision decision, std::span<const Use> uses) {
  Shard& shard = MyShard();
  const std::lock_guard lock(shard.mutex);
  const std::uint64_t weight = shard.Take(decision.at);
  const std::int64_t minute = MinuteOf(decision.at);
  for (const Use& use : uses) {
    if (use.consumed == 0 && !use.denied) continue;
    Minutes* keys = shard.Find(decision.space, use.rule, minute);
    if (keys == nullptr) continue;
    keys->TurnTo(minute);
    const std::string_view key = use.key.substr(0, kLongestKey);
    auto& [consumed, denied] = keys->current;
    if (use.consumed > 0) consumed.Add(key, use.consumed * weight);
    if (use.denied) denied.Add(key, weight);
  }
  (decision.allowed ? shard.passed : shard.refused).Add(std::move(decision));
}

Watch::Heaviest Watch::Top(std::string_view space, std::string_view rule, By by, std::size_t most,
                           Instant now) const {
  const std::int64_t minute = MinuteOf(now);
  const auto column = static_cast<std::size_t>(by);
  Heaviest top{.since = Instant(minutes(minute - 1)), .keys = {}};
  const std::string name = NameOf(space, rule);
  std::vector<HeavyHitters> copies;
  for (const Shard* shard : Shards()) {
    const std::lock_guard lock(shard->mutex);
    top.one_in = std::max(top.one_in, shard->interval());
    const auto found = shard->rules.find(name);
    if (found == shard->rules.end() || found->second.IsSilentAt(minute)) continue;
    copies.push_back(found->second.current[column]);
    if (minute <= found->second.minute) copies.push_back(found->second.before[column]);
  }
  std::vector<const HeavyHitters*> parts;
  parts.reserve(copies.size());
  for (const HeavyHitters& copy : copies) parts.push_back(&copy);
  top.keys = HeavyHitters::Top(parts, most);
  return top;
}

std::vector<SeenDecision> Watch::Latest(const Filter& filter, std::size_t most) const {
  std::vector<SeenDecision> latest;
  for (const Shard* shard : Shards()) {
    const std::lock_guard lock(shard->mutex);
    for (const Ring* ring : {&shard->passed, &shard->refused}) {
      for (const SeenDecision& decision : ring->kept()) {
        if (Passes(filter, decision)) latest.push_back(decision);
      }
    }
  }
  std::stable_sort(
      latest.begin(), latest.end(),
      [](const SeenDecision& one, const SeenDecision& other) { return one.at > other.at; });
  if (latest.size() > most) latest.resize(most);
  return latest;
}

}  // namespace weir
