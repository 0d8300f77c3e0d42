#include "service/shared_limit.h"

#include <algorithm>
#include <string>
#include <variant>

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

Result<SharedLimit> Share(const Limit& limit, const rule::Rule& rule) {
  SharedLimit shared;
  if (rule.sharing == Sharing::kStrict) {
    auto strict = authority::StrictLimit::Of(limit, OnFailureOf(rule.on_error));
    if (!strict) return strict.error();
    shared.strict = std::move(*strict);
    return shared;
  }
  // Nothing else gets here: the reader of rules refuses it.
  const auto* bucket = std::get_if<TokenBucket>(&limit.parts()[0]);
  if (bucket == nullptr) return Error{"only a token bucket can be leased or written back"};
  const Result<authority::Terms> terms =
      authority::Terms::Of(bucket->quota, {.over_burst = rule.over_burst_percent / 100.0});
  if (!terms) return terms.error();
  shared.policy = {.terms = *terms,
                   .mode = rule.sharing == Sharing::kLease ? authority::Mode::kLease
                                                           : authority::Mode::kWriteBack,
                   .on_failure = OnFailureOf(rule.on_error)};
  return shared;
}

}  // namespace

SharedLimits::SharedLimits(const rule::Rulebook& book, bool has_cluster, rule::Problems& problems) {
  by_rule_.resize(book.rule_count());
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
      const auto add = [&](const rule::CompiledAllowance& allowance) {
        for (const std::uint32_t number : allowance.limits) {
          const auto same = [&](const auto& other) { return other.first == number; };
          if (std::any_of(of_rule.begin(), of_rule.end(), same)) continue;
          Result<SharedLimit> shared = Share(book.limits()[number], *rule.rule);
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
      };
      for (const rule::Counter& counter : rule.counters) add(counter.allowance);
      for (const rule::CompiledAllowance& other : rule.override_allowances) add(other);
    }
  }
}

}  // namespace weir
