// Reads how much is allowed: `limit` and `limits`, as people write them.
//
// This is the notation of traces, [ALGORITHM] N/PERIOD [OPTION VALUE]..., with more words for
// periods, and with defaults that a rule states once for all its limits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rule/field_reader.h"
#include "rule/rule.h"

namespace weir::rule {

inline constexpr std::array<std::string_view, 7> kAlgorithms = {
    "token_bucket",     "leaky_bucket", "fixed_window", "sliding_window",
    "sliding_counters", "sliding_log",  "pacer"};

// For limits that do not say it themselves.
struct LimitDefaults {
  std::string_view algorithm = kAlgorithms[0];
  std::optional<std::uint64_t> burst;  // of token buckets
  std::string zone;                    // of calendar windows; empty: UTC
  std::uint32_t soft_percent = 0;
};

// `algorithm`, `burst`, `zone` and `soft` of a rule.
LimitDefaults ReadLimitDefaults(const Fields& rule, Report& report);

// The one of `limit` and `limits` that is given; reported, and nothing, if both are or none is.
std::optional<Allowance> ReadAllowance(const Fields& fields, const LimitDefaults& defaults,
                                       Report& report);

}  // namespace weir::rule
