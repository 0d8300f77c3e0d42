#include "service/counting_window.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "algorithm/soft.h"

namespace weir {
namespace {

CountingWindow MakeWindow(const FixedWindow& largest, Permits threshold,
                          const CountingWindows::Enter& enter, Ledger::Entering entering) {
  const auto* length = std::get_if<Nanos>(&largest.window);
  const bool from_epoch = length != nullptr && largest.start == WindowStart::kEpoch;
  return {.window = enter(largest, entering),
          .most = largest.permits.count,
          .threshold = std::min(threshold.count, largest.permits.count),
          .length = from_epoch ? *length : Nanos(0)};
}

CountingWindow MakeWindow(const Limit& limit, const CountingWindows::Enter& enter) {
  const std::optional<FixedWindow> largest = WindowToCountIn(limit);
  if (!largest) return {};
  const Permits permits = std::get<FixedWindow>(limit.parts()[0]).permits;
  return MakeWindow(*largest, algorithm::WithSoft(permits, limit.soft_percent()), enter,
                    Ledger::Entering::kToUse);
}

// Rules have descriptors, or there are none: a domain of Envoy's that leaves the limits to those
// who ask.
bool MayBeAskedByDescriptors(const rule::RuleSet& set) {
  return set.rules.empty() ||
         std::any_of(set.rules.begin(), set.rules.end(),
                     [](const rule::Rule& rule) { return rule.descriptor.has_value(); });
}

}  // namespace

std::optional<FixedWindow> WindowToCountIn(const Limit& limit) {
  const auto* window = std::get_if<FixedWindow>(&limit.parts()[0]);
  if (window == nullptr || window->denied != Denied::kCounted) return std::nullopt;
  FixedWindow largest = *window;
  for (int bits = 63; bits > 0; --bits) {
    largest.permits = Permits{(std::uint64_t{1} << bits) - 1};
    if (!Limit(largest).WhatIsWrong()) break;
  }
  return largest;
}

FixedWindow WindowToCountIn(LimitUnit unit) {
  const Limit any =
      FixedWindow{.permits = Permits{1}, .window = LengthOf(unit), .denied = Denied::kCounted};
  return *WindowToCountIn(any);
}

CountingWindows::CountingWindows(const rule::Rulebook& book, const Enter& enter)
    : by_limit_(book.limits().size()) {
  if (std::none_of(book.sets().begin(), book.sets().end(), MayBeAskedByDescriptors)) return;
  std::transform(book.limits().begin(), book.limits().end(), by_limit_.begin(),
                 [&](const Limit& limit) { return MakeWindow(limit, enter); });
  for (std::size_t i = 1; i < kLimitUnits; ++i) {
    by_unit_[i] = MakeWindow(WindowToCountIn(static_cast<LimitUnit>(i)), Permits{1}, enter,
                             Ledger::Entering::kJustInCase);
  }
}

Permits CostOf(const CountingWindow& window, std::uint64_t hits) noexcept {
  return Permits{std::min(hits, window.most)};
}

Tally TallyOf(const CountingWindow& window, const Decision& decision, std::uint64_t hits,
              Instant now) noexcept {
  const bool is_counted = decision.allowed() && hits <= window.most;
  return {is_counted ? window.most - decision.remaining.count : window.most + 1,
          window.length > Nanos(0) ? window.length - now.time_since_epoch() % window.length
                                   : decision.reset_after};
}

Tally Count(Ledger& ledger, const CountingWindow& window, KeyHash key, std::uint64_t hits,
            Instant now) noexcept {
  const Ledger::Ask ask{window.window.get(), key, CostOf(window, hits)};
  return TallyOf(window, ledger.TakeOne(ask, now), hits, now);
}

Tally Uncount(Ledger& ledger, const CountingWindow& window, KeyHash key, std::uint64_t hits,
              Instant now) noexcept {
  ledger.Refund({window.window.get(), key, Permits{hits}}, now);
  return Count(ledger, window, key, 0, now);
}

}  // namespace weir
