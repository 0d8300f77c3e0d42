#include "rule/class_scheme.h"

#include <algorithm>
#include <cstdint>

namespace weir::rule {

ClassScheme::ClassScheme(std::span<const Condition* const> conditions, const Schema& schema) {
  std::vector<PatternIndex::Entry> networks;
  for (const Condition* condition : conditions) {
    const Schema::Number attribute = schema.Find(condition->attribute).value();
    if (attribute == Schema::kIpNumber) {
      for (const Pattern& pattern : condition->any_of) {
        networks.push_back({&pattern, static_cast<std::uint32_t>(networks.size())});
      }
      continue;
    }
    if (condition->any_of.empty()) continue;  // holds, or not, for whatever value
    auto asked = std::find_if(asked_.begin(), asked_.end(),
                              [&](const Asked& a) { return a.attribute == attribute; });
    if (asked == asked_.end()) {
      asked_.push_back({attribute, {}});
      asked = asked_.end() - 1;
    }
    for (const Pattern& pattern : condition->any_of) {
      if (!asked->patterns.Add(pattern)) is_usable_ = false;
    }
    if (!is_usable_) break;
  }
  if (asked_.size() > kMostAsked) is_usable_ = false;
  if (!is_usable_) asked_.clear();
  if (is_usable_ && !networks.empty()) networks_.emplace(networks);
}

}  // namespace weir::rule
