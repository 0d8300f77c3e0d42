#include "service/rule_counters.h"

#include <algorithm>

namespace weir {

std::string_view NameOf(RuleOutcome outcome) {
  switch (outcome) {
    case RuleOutcome::kAllowed:
      return "allowed";
    case RuleOutcome::kElastic:
      return "elastic";
    case RuleOutcome::kShadowDenied:
      return "shadow_denied";
    case RuleOutcome::kDelayed:
      return "delayed";
    case RuleOutcome::kDenied:
      return "denied";
    case RuleOutcome::kBanned:
      return "banned";
  }
  return "unknown";
}

std::string_view NameOf(RequestOutcome outcome) {
  switch (outcome) {
    case RequestOutcome::kAllowed:
      return "allowed";
    case RequestOutcome::kDelayed:
      return "delayed";
    case RequestOutcome::kDenied:
      return "denied";
    case RequestOutcome::kUnmatched:
      return "unmatched";
  }
  return "unknown";
}

RuleCounters::Lease& RuleCounters::Lease::operator=(Lease&& other) noexcept {
  std::swap(owner_, other.owner_);
  rules_.swap(other.rules_);
  spaces_.swap(other.spaces_);
  entries_.swap(other.entries_);
  return *this;
}

RuleCounters::Lease::~Lease() {
  if (owner_ == nullptr) return;
  const std::lock_guard lock(owner_->mutex_);
  for (const Entries::iterator entry : entries_) owner_->Release(entry);
}

RuleCounters::Sums RuleCounters::Lease::Read(const rule::CompiledRule& rule) const noexcept {
  return owner_->Read(entries_[rule.number]->second.place);
}

RuleCounters::Sums RuleCounters::Lease::Read(const rule::Space& space) const noexcept {
  return owner_->Read(entries_[rules_.size() + space.number()]->second.place);
}

RuleCounters::Lease RuleCounters::Enter(const rule::Rulebook& book) {
  Lease lease;
  lease.owner_ = this;
  lease.rules_.resize(book.rule_count());
  lease.spaces_.resize(book.spaces().size());
  lease.entries_.resize(lease.rules_.size() + lease.spaces_.size());
  const std::lock_guard lock(mutex_);
  const auto enter = [&](Name name, CoreCounters::Line& line, std::size_t number) {
    const Entries::iterator entry = Take(std::move(name));
    line = CoreCounters::LineOf(entry->second.place.number);
    lease.entries_[number] = entry;
  };
  for (const auto& [name, space] : book.spaces()) {
    enter({name, std::nullopt}, lease.spaces_[space.number()],
          lease.rules_.size() + space.number());
    for (const rule::CompiledRule& rule : space.rules()) {
      enter({name, rule.rule->name}, lease.rules_[rule.number], rule.number);
    }
  }
  return lease;
}

RuleCounters::Entries::iterator RuleCounters::Take(Name name) {
  const auto [entry, is_new] = entries_.try_emplace(std::move(name));
  if (is_new && unused_.empty()) {
    entry->second.place.number = fresh_++;
  } else if (is_new) {
    entry->second.place = unused_.back();
    unused_.pop_back();
  }
  ++entry->second.leases;
  return entry;
}

// Nobody counts there any more: who did had the rules written down (base/published.h), and they are
// freed only when nobody has.
void RuleCounters::Release(Entries::iterator entry) {
  if (--entry->second.leases > 0) return;
  const std::uint32_t number = entry->second.place.number;
  unused_.push_back({number, counters_.Read(CoreCounters::LineOf(number))});
  entries_.erase(entry);
}

RuleCounters::Sums RuleCounters::Read(const Place& place) const noexcept {
  Sums sums = counters_.Read(CoreCounters::LineOf(place.number));
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] -= place.before[i];
  return sums;
}

RuleCounters::Others RuleCounters::ReadOthers() const noexcept {
  const Sums sums = counters_.Read(kOthers);
  return {sums[kUnknownSpace], sums[kCellAllowed], sums[kCellDenied]};
}

std::size_t RuleCounters::lines() const {
  const std::lock_guard lock(mutex_);
  return fresh_;
}

}  // namespace weir
