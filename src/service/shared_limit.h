// Limits that the hosts of a cluster share, ready to be asked for.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "authority/host_key.h"
#include "authority/strict_limit.h"
#include "rule/problem.h"
#include "rule/rule.h"
#include "rule/rulebook.h"
#include "service/limit_unit.h"

namespace weir {

// One limit of one rule: the same limit may be shared in another way by another rule. A window that
// a descriptor is counted in is the largest of its length (counting_window.h).
struct SharedLimit {
  authority::KeyPolicy policy = {};  // by an account, with which it is asked for
  std::optional<authority::StrictLimit> strict =
      {};  // by a state that is swapped; nothing: by the account
};

// Those of all rules.
class SharedLimits {
 public:
  SharedLimits() = default;
  // What cannot be shared as its rule says is a problem.
  // Without a cluster, every limit that is to be shared is one.
  SharedLimits(const rule::Rulebook& book, bool has_cluster, rule::Problems& problems);

  // REQUIRES: `rule` is shared, and `limit` is the number of one of its limits
  [[nodiscard]] const SharedLimit& Of(const rule::CompiledRule& rule, std::uint32_t limit) const {
    auto of_rule = by_rule_[rule.number].begin();
    while (of_rule->first != limit) ++of_rule;
    return *of_rule->second;
  }
  // For limits that come with a request: strict. REQUIRES: there is a cluster, and `unit` is known
  [[nodiscard]] const SharedLimit& ForUnit(LimitUnit unit) const {
    return by_unit_[static_cast<std::size_t>(unit)];
  }

 private:
  using OfRule = std::vector<std::pair<std::uint32_t, std::unique_ptr<const SharedLimit>>>;
  std::vector<OfRule> by_rule_;
  std::array<SharedLimit, kLimitUnits> by_unit_;
};

}  // namespace weir
