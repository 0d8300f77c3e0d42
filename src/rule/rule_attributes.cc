#include "rule/rule_attributes.h"

namespace weir::rule {

void ForEachAttribute(const Rule& rule, const std::function<void(const std::string&)>& use) {
  for (const Condition& condition : rule.match) use(condition.attribute);
  for (const Key& key : rule.keys) {
    for (const KeyPart& part : key) use(part.attribute);
  }
  for (const Override& exception : rule.overrides) {
    for (const Condition& condition : exception.when) use(condition.attribute);
  }
  if (!rule.cost.attribute.empty()) use(rule.cost.attribute);
}

}  // namespace weir::rule
