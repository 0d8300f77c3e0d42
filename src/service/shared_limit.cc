#include "service/shared_limit.h"

#include <algorithm>
#include <string>
#include <variant>

#include "service/counting_window.h"

namespace weir {
namespace {

using rule::Sharing;

authority::OnFailure OnFailureOf(rule::OnError on_error) {
  switch (on_error) {
    case rule::OnError::kAllow:
      return authority::OnFailure::kAllow;
    case rule::OnError::kDeny:
      return authority::OnFailure::kDeny;
    case rule::OnError::kLocal:
      break;
  }
  return authority::OnFailure::kLocal;
}

// By the account of an authority, if it can be counted so.
Result<SharedLimit> ByAccount(const Limit& limit, const rule::Rule& rule, authority::Mode mode) {
  const auto* bucket = std::get_if<TokenBucket>(&limit.parts()[0]);
  const bool is_plain =
      bucket != nullptr && !bucket->quota.has_initial() && limit.soft_percent() == 0;
  if (!is_plain)
    return Error{"only a token bucket that begins full and is not soft can be shared so"};
  const Result<authority::Terms> terms =
      authority::Terms::Of(bucket->quota, {.over_burst = rule.over_burst_percent / 100.0});
  if (!terms) return terms.error();
  SharedLimit shared;
  shared.policy = {.terms = *terms, .mode = mode, .on_failure = OnFailureOf(rule.on_error)};
  return shared;
}

// By a state that is swapped, as any limit can.
Result<SharedLimit> BySwap(const Limit& limit, rule::OnError on_error) {
  auto strict = authority::StrictLimit::Of(limit, OnFailureOf(on_error));
  if (!strict) return strict.error();
  SharedLimit shared;
  shared.strict = std::move(*strict);
  return shared;
}

Result<SharedLimit> BySwap(const Limit& limit, const rule::Rule& rule) {
  const std::optional<FixedWindow> window = rule.descriptor ? WindowToCountIn(limit) : std::nullopt;
  return BySwap(window ? Limit(*window) : limit, rule.on_error);
}

// Calls `use` with each allowance of the rule, wherever it stands.
template <typename Use>
void ForEachAllowance(const rule::CompiledRule& rule, const Use& use) {
  for (const rule::Counter& counter : rule.counters) use(counter.allowance);
  for (const rule::CompiledAllowance& other : rule.override_allowances) use(other);
}

// A single plain bucket is better asked for by its account: that knows which part of the demand is
// this host's, so that a host which is cut off goes on with its share. All limits of a rule are
// kept in the same way, so that a key finds what it has used when its override begins or ends.
bool IsAskedByAccount(const rule::Rulebook& book, const rule::CompiledRule& rule) {
  bool is_single = true;
  ForEachAllowance(rule, [&](const rule::CompiledAllowance& allowance) {
    for (const std::uint32_t number : allowance.limits) {
      is_single = is_single && allowance.limits.size() == 1 &&
                  ByAccount(book.limits()[number], *rule.rule, authority::Mode::kStrict).ok();
    }
  });
  return is_single;
}

Result<SharedLimit> Share(const Limit& limit, const rule::Rule& rule, bool by_account) {
  switch (rule.sharing) {
    case Sharing::kLease:
      return ByAccount(limit, rule, authority::Mode::kLease);
    case Sharing::kWriteBack:
      return ByAccount(limit, rule, authority::Mode::kWriteBack);
    case Sharing::kStrict:
    case Sharing::kNone:
      break;
  }
  return by_account ? ByAccount(limit, rule, authority::Mode::kStrict) : BySwap(limit, rule);
}

}  // namespace

SharedLimits::SharedLimits(const rule::Rulebook& book, bool has_cluster, rule::Problems& problems) {
  by_rule_.resize(book.rule_count());
  for (std::size_t i = 1; has_cluster && i < kLimitUnits; ++i) {
    const Limit window = WindowToCountIn(static_cast<LimitUnit>(i));
    by_unit_[i] = BySwap(window, rule::OnError::kLocal).value();
  }
  for (const auto& entry : book.spaces()) {
    const rule::Space& space = entry.second;
    const std::string& name = space.name();
    for (const rule::CompiledRule& rule : space.rules()) {
      if (rule.rule->sharing == Sharing::kNone) continue;
      if (!has_cluster) {
        problems.push_back({"namespace " + name,
                            {},
                            rule.rule->name,
                            "its limit is to be shared by a cluster, and this host is in none",
                            "start weir serve with --redis, or leave out cluster"});
        continue;
      }
      OfRule& of_rule = by_rule_[rule.number];
      const bool by_account = IsAskedByAccount(book, rule);
      ForEachAllowance(rule, [&](const rule::CompiledAllowance& allowance) {
        for (const std::uint32_t number : allowance.limits) {
          const auto same = [&](const auto& other) { return other.first == number; };
          if (std::any_of(of_rule.begin(), of_rule.end(), same)) continue;
          Result<SharedLimit> shared = Share(book.limits()[number], *rule.rule, by_account);
          if (!shared) {
            problems.push_back({"namespace " + name,
                                {},
                                rule.rule->name,
                                shared.error().message,
                                "no cluster can share this limit: leave out cluster"});
            continue;
          }
          of_rule.emplace_back(number, std::make_unique<const SharedLimit>(std::move(*shared)));
        }
      });
    }
  }
}

}  // namespace weir
