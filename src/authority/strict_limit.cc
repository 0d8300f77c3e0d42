#include "authority/strict_limit.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "algorithm/state.h"

namespace weir::authority {
namespace {

bool BeginsWithLess(const algorithm::Plan& plan) {
  const std::vector<std::uint64_t> never_seen(plan.words());
  algorithm::State state{std::span<const std::uint64_t>(never_seen)};
  return plan.ForgottenIn(state, Instant{}) > Nanos(0);
}

}  // namespace

Result<StrictLimit> StrictLimit::Of(const Limit& limit, OnFailure on_failure) {
  Result<algorithm::Plan> plan = algorithm::Plan::Of(limit);
  if (!plan) return plan.error();
  std::string text = limit.ToString();
  if (plan->words() > kMostWords) {
    return Error{"'" + text + "' keeps " + std::to_string(plan->words() * 8) +
                 " bytes for each key, too much to send with each decision (" +
                 std::to_string(kMostWords * 8) +
                 " at most): use sliding_window or sliding_counters"};
  }
  if (text.size() > std::numeric_limits<std::uint16_t>::max()) {
    return Error{"the limit is too long to be written down: use fewer parts"};
  }
  const Nanos kept_for = BeginsWithLess(*plan) ? kKeptFor : Nanos(0);
  WrittenLimit written{std::move(text), std::move(*plan), kept_for};
  return StrictLimit(std::make_shared<const WrittenLimit>(std::move(written)), on_failure);
}

std::shared_ptr<const WrittenLimit> WrittenLimits::Find(std::string_view text) {
  std::string key(text);
  if (const auto found = limits_.find(key); found != limits_.end()) return found->second;
  std::shared_ptr<const WrittenLimit> written;
  if (const Result<Limit> limit = Limit::Parse(text)) {
    if (const Result<StrictLimit> strict = StrictLimit::Of(*limit)) written = strict->written();
  }
  if (limits_.size() >= kMost) limits_.clear();  // states hold on to those that they need
  limits_.emplace(std::move(key), written);
  return written;
}

}  // namespace weir::authority
