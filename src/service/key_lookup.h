// One client under one rule: what it has left, and how to have all of it forgotten.
//
// A decision needs only hashes; who looks a client up wants to see which counters it is in, each
// with its limits. So this walks the compiled rule once more, slowly, and says everything. It asks
// whether the rule would count such a client, not whether it matches some request.
//
// Thread safety: everything may be called by any number of threads, also while others decide.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rule/attribute.h"
#include "service/checker.h"
#include "weir/decision.h"

namespace weir {

struct KeyQuestion {
  std::string_view space;  // the namespace
  std::string_view rule;
  // Those that the rule counts by; of a rule with a descriptor, its entries in their order. Others
  // may choose an override.
  std::span<const rule::Attribute> attributes;
};

// What one limit would say to the next request, at the cost of one permit.
struct KeyLimit {
  std::string limit;  // "token_bucket 10/1s burst 20"
  Decision decision;
};

// One counter that the client is in.
struct KeyState {
  enum class By : unsigned char { kRule, kTier, kOverride };
  std::string key;  // "ip=2001:db8::/64 user=ann", or "all requests"
  By by = By::kRule;
  rule::CompiledAllowance::Kind allowance = rule::CompiledAllowance::Kind::kUnlimited;
  std::vector<KeyLimit> limits;     // empty if it is unlimited or blocked
  std::optional<Nanos> banned_for;  // nothing: it is not banned
};

struct NoSuchKey {
  enum class Why : unsigned char { kNoSuchRule, kNoKey };
  Why why = Why::kNoSuchRule;
  std::string message;
};

using KeyLookup = std::variant<std::vector<KeyState>, NoSuchKey>;

// Nothing is counted.
[[nodiscard]] KeyLookup LookUpKey(Checker& checker, const KeyQuestion& question, Instant now);

// Forgets what was counted, and lifts bans, in every counter that the client is in: also in those
// of its wider networks, which it shares with others. Returns what there was before.
KeyLookup ResetKey(Checker& checker, const KeyQuestion& question, Instant now);

}  // namespace weir
