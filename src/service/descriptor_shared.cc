// Limits that a cluster shares, on their way through a check by descriptors.
#include <algorithm>
#include <utility>

#include "service/descriptor_round.h"
#include "service/rule_in_use.h"

namespace weir {

namespace {

constexpr std::uint32_t kNoLimit = ~std::uint32_t{0};

}  // namespace

void DescriptorReply::Shared::Clear() {
  alone.Clear();
  enforced.Clear();
  shadow.Clear();
  purposes.clear();
  values.clear();
  value_ends.clear();
}

// --- asking
// ---------------------------------------------------------------------------------------

// Names of keys are made of them when all descriptors have been looked at.
void DescriptorChecker::Round::KeepValues(const DescriptorAsk& ask,
                                          const rule::CompiledRule* rule) {
  DescriptorReply::Shared& shared = reply_.shared_;
  if (ask.limit) {
    for (const rule::RequestEntry& entry : ask.entries) {
      shared.values.insert(shared.values.end(), {entry.key, entry.value});
    }
  } else if (rule != nullptr && IsShared(*rule)) {
    const auto& values = reply_.key_values_;
    shared.values.insert(shared.values.end(), values.begin(), values.end());
  }
  shared.value_ends.push_back(shared.values.size());
}

std::span<const std::string_view> DescriptorChecker::Round::ValuesOf(std::uint32_t number) const {
  const auto& ends = reply_.shared_.value_ends;
  const std::size_t begin = number == 0 ? 0 : ends[number - 1];
  return std::span(reply_.shared_.values).subspan(begin, ends[number] - begin);
}

void DescriptorChecker::Round::ShareOverride(std::uint32_t number, const CountingWindow& window) {
  const LimitUnit unit = request_.descriptors[number].limit->unit;
  SharedAsk ask;
  ask.limit = &active_.shared.ForUnit(unit);
  ask.cost = CostOf(window, HitsOf(number).count);
  ask.name = {.space = &space_, .texts = ValuesOf(number), .unit = NameOf(unit)};
  ask.name.AppendTo(ask.called);
  ShareAlone(std::move(ask), {number, kNoLimit});
}

void DescriptorChecker::Round::ShareLimit(std::uint32_t number, std::size_t place, bool enforced) {
  DescriptorReply::Shared& shared = reply_.shared_;
  const DescriptorStatus& status = reply_.statuses_[number];
  const rule::Counter& counter = status.rule->counters[0];
  const std::uint32_t limit = counter.allowance.limits[place];
  const CountingWindow& window = active_.counting.ForLimit(limit);
  const Hits hits = HitsOf(number);
  SharedAsk ask;
  ask.limit = &active_.shared.Of(*status.rule, limit);
  ask.key = Derive(reply_.keys_[number], place);
  ask.cost = window ? CostOf(window, hits.count) : Permits{hits.count};
  ask.name = {.space = &space_,
              .rule = status.rule,
              .counter = &counter,
              .salt = counter.allowance.salt,
              .limit = place,
              .texts = ValuesOf(number)};
  // At once: the message may be gone when it is asked for.
  ask.name.AppendTo(ask.called);
  // One in quota mode that refuses may not matter, so nothing else hangs on it.
  if (window || hits.are == HitsAre::kGivenBack || (enforced && status.in_quota)) {
    return ShareAlone(std::move(ask), {number, limit});
  }
  ask.finding = static_cast<std::uint32_t>(shared.purposes.size());
  shared.purposes.push_back({number, limit});
  // Each rule in shadow by itself, all others together.
  ask.whole = enforced ? 0 : number;
  (enforced ? shared.enforced : shared.shadow).Add(std::move(ask));
}

void DescriptorChecker::Round::ShareAlone(SharedAsk ask, DescriptorReply::Shared::Purpose purpose) {
  DescriptorReply::Shared& shared = reply_.shared_;
  if (HitsOf(purpose.descriptor).are == HitsAre::kGivenBack) {
    shared.cluster->Correct(ask, Cluster::Correction::kRefund);
    ask.cost = Permits{0};  // and then it is looked at
  }
  ask.finding = ask.whole = static_cast<std::uint32_t>(shared.purposes.size());
  shared.purposes.push_back(purpose);
  shared.alone.Add(std::move(ask));
}

// --- what came of it
// ---------------------------------------------------------------------------------------

void DescriptorChecker::Round::SayEach(const SharedAsks& asks) {
  for (const SharedAsk& ask : asks.asks()) {
    const auto [number, limit] = reply_.shared_.purposes[ask.finding];
    const rule::CompiledRule* rule = reply_.statuses_[number].rule;
    const bool enforced = rule == nullptr || IsEnforced(*rule, reply_.keys_[number]);
    const bool is_window = rule == nullptr || active_.counting.ForLimit(limit);
    Say(number, enforced,
        is_window ? InSharedWindow(ask, number, limit) : InDecision(ask.decision, limit, number));
  }
}

DescriptorChecker::Round::Said DescriptorChecker::Round::InSharedWindow(const SharedAsk& ask,
                                                                        std::uint32_t number,
                                                                        std::uint32_t limit) const {
  const Hits hits = HitsOf(number);
  const std::optional<LimitOverride>& own = request_.descriptors[number].limit;
  const CountingWindow& window =
      own ? active_.counting.ForUnit(own->unit) : active_.counting.ForLimit(limit);
  const std::uint64_t threshold =
      own ? std::min<std::uint64_t>(own->requests, window.most) : window.threshold;
  const ToldLimit told = own ? ToldLimit{own->requests, own->unit, {}} : ToldOf(limit, number);
  Tally tally = TallyOf(window, ask.decision, hits.are == HitsAre::kTaken ? hits.count : 0, now_);
  // The window is that of the cluster's clock. It ends never, if nothing is counted in it.
  if (ask.decision.reset_after > Nanos(0)) tally.until_reset = ask.decision.reset_after;
  // Nobody knows the count, and who fails to know lets pass.
  const bool passes =
      ask.is_fallen && ask.limit->strict->on_failure() == authority::OnFailure::kAllow;
  if (passes) tally.count = 0;
  return InWindow(tally, threshold, told);
}

// Not for asking for what can never be had, nor because nobody answers.
bool DescriptorChecker::Round::IsDeniedByCluster(std::uint32_t number) const {
  const auto denies = [&](const SharedAsk& ask) {
    const auto [descriptor, limit] = reply_.shared_.purposes[ask.finding];
    if (descriptor != number || ask.is_fallen) return false;
    return active_.counting.ForLimit(limit) ? InSharedWindow(ask, number, limit).over
                                            : ask.decision.verdict == Verdict::kDeny;
  };
  const auto any = [&](const SharedAsks& asks) {
    return std::any_of(asks.asks().begin(), asks.asks().end(), denies);
  };
  return any(reply_.shared_.alone) || any(reply_.shared_.enforced);
}

}  // namespace weir
