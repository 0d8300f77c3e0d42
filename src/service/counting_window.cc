#include "service/counting_window.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "algorithm/soft.h"

namespace weir {
namespace {

CountingWindow MakeWindow(const Limit& limit, const CountingWindows::Enter& enter,
                          Ledger::Entering entering) {
  const auto* window = std::get_if<FixedWindow>(&limit.parts()[0]);
  if (window == nullptr || window->denied != Denied::kCounted) return {};
  FixedWindow largest = *window;
  for (int bits = 63; bits > 0; --bits) {
    largest.permits = Permits{(std::uint64_t{1} << bits) - 1};
    if (!Limit(largest).WhatIsWrong()) break;
  }
  const auto* length = std::get_if<Nanos>(&window->window);
  const bool from_epoch = length != nullptr && window->start == WindowStart::kEpoch;
  const Permits threshold = algorithm::WithSoft(window->permits, limit.soft_percent());
  return {.window = enter(largest, entering),
          .most = largest.permits.count,
          .threshold = std::min(threshold.count, largest.permits.count),
          .length = from_epoch ? *length : Nanos(0)};
}

// Rules have descriptors, or there are none: a domain of Envoy's that leaves the limits to those
// who ask.
bool MayBeAskedByDescriptors(const rule::RuleSet& set) {
  return set.rules.empty() ||
         std::any_of(set.rules.begin(), set.rules.end(),
                     [](const rule::Rule& rule) { return rule.descriptor.has_value(); });
}

}  // namespace

CountingWindows::CountingWindows(const rule::Rulebook& book, const Enter& enter)
    : by_limit_(book.limits().size()) {
  if (std::none_of(book.sets().begin(), book.sets().end(), MayBeAskedByDescriptors)) return;
  std::transform(
      book.limits().begin(), book.limits().end(), by_limit_.begin(),
      [&](const Limit& limit) { return MakeWindow(limit, enter, Ledger::Entering::kToUse); });
  for (std::size_t i = 1; i < kLimitUnits; ++i) {
    const Nanos length = LengthOf(static_cast<LimitUnit>(i));
    by_unit_[i] =
        MakeWindow(FixedWindow{.permits = Permits{1}, .window = length, .denied = Denied::kCounted},
                   enter, Ledger::Entering::kJustInCase);
  }
}

Tally Count(Ledger& ledger, const CountingWindow& window, KeyHash key, std::uint64_t hits,
            Instant now) noexcept {
  // More than it can ever hold would not be counted at all; as much as it can hold uses it up.
  const Ledger::Ask ask{window.window.get(), key, Permits{std::min(hits, window.most)}};
  Reservation taken;
  const Decision decision = ledger.TakeAll({&ask, 1}, {&taken, 1}, now);
  const bool is_counted = decision.allowed() && hits <= window.most;
  return {is_counted ? window.most - decision.remaining.count : window.most + 1,
          window.length > Nanos(0) ? window.length - now.time_since_epoch() % window.length
                                   : decision.reset_after};
}

Tally Uncount(Ledger& ledger, const CountingWindow& window, KeyHash key, std::uint64_t hits,
              Instant now) noexcept {
  ledger.Refund({window.window.get(), key, Permits{hits}}, now);
  return Count(ledger, window, key, 0, now);
}

}  // namespace weir
