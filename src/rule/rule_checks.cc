#include "rule/rule_checks.h"

#include <algorithm>
#include <array>
#include <string>
#include <variant>

#include "base/wide_math.h"
#include "rule/attribute.h"

namespace weir::rule {
namespace {

const KeyPart* FindIp(const Key& key) {
  const auto found = std::find_if(key.begin(), key.end(),
                                  [](const KeyPart& part) { return part.attribute == kIp; });
  return found != key.end() ? &*found : nullptr;
}

bool CountsByIp(const Rule& rule) {
  return std::any_of(rule.keys.begin(), rule.keys.end(),
                     [](const Key& key) { return FindIp(key) != nullptr; });
}

// Calls `use` with each limit of the rule, wherever it stands.
template <typename Use>
void ForEachLimit(const Rule& rule, Use use) {
  const auto one = [&use](const Allowance& allowance) {
    if (const auto* limit = std::get_if<Limit>(&allowance)) use(*limit);
  };
  one(rule.allowance);
  for (const Tier& tier : rule.tiers) one(tier.allowance);
  for (const Override& exception : rule.overrides) one(exception.allowance);
}

// What can ever be taken at once.
std::uint64_t CapacityOf(const Algorithm& algorithm) {
  if (const auto* l = std::get_if<TokenBucket>(&algorithm)) return l->quota.burst().count;
  if (const auto* l = std::get_if<LeakyBucket>(&algorithm)) return l->queue.count + 1;
  if (const auto* l = std::get_if<FixedWindow>(&algorithm)) return l->permits.count;
  if (const auto* l = std::get_if<SlidingWindow>(&algorithm)) return l->quota.permits().count;
  if (const auto* l = std::get_if<SlidingCounters>(&algorithm)) return l->quota.permits().count;
  if (const auto* l = std::get_if<SlidingLog>(&algorithm)) return l->quota.permits().count;
  return UINT64_MAX;  // a pacer lets the next caller pay
}

void Refuse(const Fields& fields, std::string_view field, const std::string& why,
            const std::string& remedy, Report& report) {
  if (fields.Has(field)) report.Add(fields.PlaceOf(field), why, remedy);
}

// Who is let through is not limited.
void CheckAllow(const Fields& fields, const Rule& rule, Report& report) {
  static constexpr std::array<std::string_view, 21> kOfLimits = {
      "by",        "limit",   "limits",   "algorithm",  "burst",   "zone",    "tiers",
      "overrides", "cost",    "count",    "soft",       "elastic", "exceed",  "status",
      "message",   "enforce", "on_error", "descriptor", "mode",    "cluster", "over_burst"};
  for (std::string_view field : kOfLimits) {
    if (field == "mode" && rule.mode != Mode::kShadow) continue;
    Refuse(fields, field,
           field == "mode"
               ? "an allow-list has no shadow"
               : "a rule that allows limits nothing, and has no '" + std::string(field) + "'",
           "leave it out, or leave out allow", report);
  }
}

void CheckDescriptor(const Fields& fields, const Rule& rule, Report& report) {
  for (std::string_view field : {"match", "by"}) {
    Refuse(fields, field,
           "a rule with a descriptor is found by it, and has no '" + std::string(field) + "'",
           "leave out one of them", report);
  }
  Refuse(fields, "overrides", "a rule with a descriptor has no overrides",
         "write another rule, with the value in its descriptor", report);
  if (rule.descriptor->whitelisted && !std::holds_alternative<Unlimited>(rule.allowance)) {
    Refuse(fields, "whitelisted", "a whitelisted rule limits nothing",
           "write limit: unlimited, or leave out whitelisted", report);
  }
  if (!std::holds_alternative<Blocked>(rule.allowance)) {
    Refuse(fields, "window", "window is what Envoy is told of a rule that is blocked",
           "leave it out: other limits say it themselves", report);
  }
}

// Options that would have no effect at all.
void CheckDefaultsAreUsed(const Fields& fields, const Rule& rule, Report& report) {
  bool limits = false;
  bool buckets = false;
  bool calendars = false;
  ForEachLimit(rule, [&](const Limit& limit) {
    limits = true;
    for (const Algorithm& part : limit.parts()) {
      buckets |= std::holds_alternative<TokenBucket>(part);
      const auto* window = std::get_if<FixedWindow>(&part);
      calendars |= window != nullptr && std::holds_alternative<Calendar>(window->window);
    }
  });
  if (limits && !buckets) {
    Refuse(fields, "burst", "burst is for token_bucket, and no limit of this rule is one",
           "leave it out", report);
  }
  if (limits && !calendars) {
    Refuse(fields, "zone", "zone is for windows of the calendar, and no limit of this rule is one",
           "leave it out, or write fixed_window N/day", report);
  }
}

void CheckCost(const Fields& fields, const Rule& rule, Report& report) {
  if (!rule.cost.attribute.empty() || rule.cost.fixed.count <= 1) return;
  bool reported = false;
  ForEachLimit(rule, [&](const Limit& limit) {
    for (const Algorithm& part : limit.parts()) {
      const Uint128 most = Uint128{CapacityOf(part)} * (100 + limit.soft_percent()) / 100;
      if (reported || rule.cost.fixed.count <= most) continue;
      reported = true;
      report.Add(fields.PlaceOf("cost"),
                 "a cost of " + std::to_string(rule.cost.fixed.count) + " is more than '" +
                     Limit(part).ToString() + "' ever allows",
                 "raise the limit, or write limit: blocked");
    }
  });
}

// `by` wants what `match` says is not there.
void CheckThatItCanApply(const Fields& fields, const Rule& rule, Report& report) {
  for (const Condition& condition : rule.match) {
    const bool absent = condition.negated && condition.any_of.size() == 1 &&
                        condition.any_of[0].kind == PatternKind::kPresent;
    const bool counted = std::any_of(rule.keys.begin(), rule.keys.end(), [&](const Key& key) {
      return std::any_of(key.begin(), key.end(), [&](const KeyPart& part) {
        return part.attribute == condition.attribute;
      });
    });
    if (!absent || !counted) continue;
    report.Add(fields.PlaceOf("by"),
               "the rule never applies: it counts by '" + condition.attribute +
                   "', and matches only requests without it",
               "leave it out of one of them");
  }
}

// Leases move permits between hosts: that is for what has permits at hand, a token bucket.
void CheckIsLeasable(const Fields& fields, const Rule& rule, Report& report) {
  bool reported = false;
  ForEachLimit(rule, [&](const Limit& limit) {
    for (const Algorithm& part : limit.parts()) {
      const auto* bucket = std::get_if<TokenBucket>(&part);
      const bool is_plain =
          bucket != nullptr && !bucket->quota.has_initial() && limit.soft_percent() == 0;
      if (reported || is_plain) continue;
      reported = true;
      report.Add(fields.PlaceOf("cluster"),
                 "only a token bucket that begins full and is not soft can be leased or written "
                 "back, got '" +
                     limit.ToString() + "'",
                 "write cluster: strict, which takes any limit");
    }
  });
}

// What needs the state of a limit at hand cannot be had where it is elsewhere.
void CheckCluster(const Fields& fields, const Rule& rule, Report& report) {
  const std::string only = "is for a limit of each host by itself";
  const std::string remedy = "leave out one of them";
  if (rule.counts == Counts::kFailures) {
    Refuse(fields, "count", "count: failures " + only + ", not with cluster", remedy, report);
  }
  if (rule.elastic) {
    Refuse(fields, "elastic", "elastic " + only + ", not with cluster", remedy, report);
  }
  if (rule.exceed.what == Exceed::kDelay) {
    Refuse(fields, "exceed", "exceed: delay " + only + ", not with cluster", remedy, report);
  }
  if (rule.sharing != Sharing::kStrict) {
    CheckIsLeasable(fields, rule, report);
  } else {
    Refuse(fields, "over_burst", "over_burst is for cluster: lease and write_back; strict is exact",
           "leave it out", report);
  }
}

}  // namespace

AddressBits BaseBits(const Rule& rule) {
  for (const Key& key : rule.keys) {
    if (const KeyPart* ip = FindIp(key)) return ip->bits;
  }
  return {};
}

void CheckTier(const Rule& rule, const Tier& tier, Place place, Report& report) {
  const AddressBits base = BaseBits(rule);
  const bool wider = tier.bits.v4 <= base.v4 && tier.bits.v6 <= base.v6 && tier.bits != base;
  if (wider || !CountsByIp(rule)) return;
  report.Add(place,
             "a tier must be wider than the key, which is /" + std::to_string(base.v4) +
                 " of IPv4 and /" + std::to_string(base.v6) + " of IPv6",
             "write fewer bits than that");
}

void CheckFieldsTogether(const Fields& fields, const Rule& rule, Report& report) {
  if (rule.allow) return CheckAllow(fields, rule, report);
  if (rule.descriptor) CheckDescriptor(fields, rule, report);
  CheckDefaultsAreUsed(fields, rule, report);
  CheckCost(fields, rule, report);
  CheckThatItCanApply(fields, rule, report);
  if (!CountsByIp(rule)) {
    Refuse(fields, "tiers", "tiers are networks, and this rule does not count by ip",
           "write by: [ip]", report);
  }
  if (rule.sharing != Sharing::kNone) {
    CheckCluster(fields, rule, report);
  } else {
    Refuse(fields, "over_burst", "over_burst is for rules that a cluster shares",
           "write cluster: lease, or leave it out", report);
  }
  if (rule.mode != Mode::kEnforce) {
    Refuse(fields, "enforce", "enforce is for rules whose mode is enforce",
           "leave out one of enforce and mode", report);
  }
  if (rule.exceed.what == Exceed::kDrop) {
    for (std::string_view field : {"status", "message"}) {
      Refuse(fields, field, std::string(field) + " is never sent, for exceed is drop",
             "leave it out, or write exceed: reject", report);
    }
  }
}

}  // namespace weir::rule
