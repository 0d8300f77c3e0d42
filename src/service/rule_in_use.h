// What every check does with a rule, whichever way it was found.
#pragma once

#include <cstdint>
#include <span>

#include "rule/rulebook.h"
#include "weir/keyed_limiter.h"
#include "weir/limit.h"

namespace weir {

// The limits of one rule are counted side by side, each under a key of its own made from the one
// key of the request. So is the ban.
inline constexpr std::uint64_t kBan = 0xFFFF;
constexpr KeyHash Derive(KeyHash key, std::uint64_t number) {
  return {key.low + number * 0x9E3779B97F4A7C15, key.high ^ number * 0xD6E8FEB86659FD93};
}

inline bool IsInForce(const rule::CompiledRule& rule, Instant now) {
  return !rule::IsOver(rule.rule->expires, now);
}

// Always the same keys: a client is not let in and out by chance.
inline bool IsEnforced(const rule::CompiledRule& rule, KeyHash key) {
  const std::uint8_t percent = rule.rule->enforce_percent;
  return rule.rule->mode == rule::Mode::kEnforce &&
         (percent == 100 || (key.high >> 32) % 100 < percent);
}

// The first rule that lets the request pass whatever the others say; null if there is none.
inline const rule::CompiledRule* AllowListed(const rule::Space& space,
                                             std::span<const std::uint32_t> found, Instant now) {
  for (const std::uint32_t number : found) {
    const rule::CompiledRule& rule = space.rules()[number];
    if (rule.rule->allow && IsInForce(rule, now)) return &rule;
  }
  return nullptr;
}

}  // namespace weir
