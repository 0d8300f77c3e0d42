#include "rule/rest_conditions.h"

#include <absl/container/flat_hash_map.h>

#include <string>

namespace weir::rule {
namespace {

// Conditions with equal texts are equal.
std::string TextOf(const Condition& condition) {
  std::string text = (condition.negated ? "!" : "=") + condition.attribute + ":";
  for (const Pattern& pattern : condition.any_of) {
    text += std::to_string(static_cast<int>(pattern.kind)) + "," +
            std::to_string(pattern.text.size()) + "," + pattern.text;
  }
  return text;
}

}  // namespace

RestConditions::RestConditions(std::span<const std::vector<const Condition*>> rests,
                               const Schema& schema) {
  absl::flat_hash_map<std::string, std::uint32_t> known_conditions;
  absl::flat_hash_map<std::vector<std::uint32_t>, std::uint32_t> known_lists;
  for (const std::vector<const Condition*>& rest : rests) {
    std::vector<std::uint32_t> list;
    for (const Condition* condition : rest) {
      const auto next = static_cast<std::uint32_t>(conditions_.size());
      const auto [known, is_new] = known_conditions.try_emplace(TextOf(*condition), next);
      if (is_new) conditions_.emplace_back(*condition, schema.Find(condition->attribute).value());
      list.push_back(known->second);
    }
    const auto next = static_cast<std::uint32_t>(lists_.size());
    const auto [known, is_new] = known_lists.try_emplace(list, next);
    if (is_new) lists_.push_back(std::move(list));
    list_of_.push_back(known->second);
  }
}

}  // namespace weir::rule
