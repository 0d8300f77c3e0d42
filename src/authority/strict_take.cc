#include "authority/strict_take.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weir::authority {
namespace {

Decision Take(const StrictTake& take, Instant now) {
  return take.state->Take(take.limit->written(), take.cost, now);
}

Decision Peek(const StrictTake& take, Instant now) {
  return take.state->Peek(take.limit->written(), take.cost, now);
}

Verdict Harshest(std::span<const StrictTake> takes) {
  Verdict harshest = Verdict::kAllow;
  for (const StrictTake& take : takes) harshest = std::max(harshest, take.decision->verdict);
  return harshest;
}

// Each of them would admit it. Only of two that share a state can one refuse after all.
bool TakeFromEach(std::span<const StrictTake> takes, Instant now) {
  std::vector<StrictState> before;
  before.reserve(takes.size());
  for (const StrictTake& take : takes) before.push_back(*take.state);
  std::size_t taken = 0;
  while (taken < takes.size()) {
    const StrictTake& take = takes[taken];
    *take.decision = Take(take, now);
    if (!take.decision->allowed()) break;
    ++taken;
  }
  if (taken == takes.size()) return true;
  for (std::size_t i = 0; i < takes.size(); ++i) *takes[i].state = std::move(before[i]);
  for (std::size_t i = 0; i < taken; ++i) *takes[i].decision = Peek(takes[i], now);
  return false;
}

}  // namespace

void PeekAtAll(std::span<const StrictTake> takes, Instant now) {
  for (const StrictTake& take : takes) *take.decision = Peek(take, now);
}

bool TakeFromAll(std::span<const StrictTake> takes, Instant now) {
  if (takes.size() == 1) {  // the one case without a second look
    *takes[0].decision = Take(takes[0], now);
    return takes[0].decision->allowed();
  }
  PeekAtAll(takes, now);
  const Verdict verdict = Harshest(takes);
  if (verdict == Verdict::kAllow) return TakeFromEach(takes, now);
  if (verdict == Verdict::kNever) return false;
  for (const StrictTake& take : takes) {
    if (!take.decision->allowed()) {
      *take.decision = Take(take, now);  // counts refusals, if it does
    } else if (take.limit->plan().counts_refusals()) {
      take.state->CountRefusal(take.limit->written(), take.cost, now);
      *take.decision = Peek(take, now);
    }
  }
  return false;
}

}  // namespace weir::authority
