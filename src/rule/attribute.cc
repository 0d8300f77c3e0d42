#include "rule/attribute.h"

#include <algorithm>

namespace weir::rule {

std::optional<Schema::Number> Schema::Add(std::string_view name) {
  if (const auto number = Find(name)) return number;
  if (names_.size() == kMost) return std::nullopt;
  names_.emplace_back(name);
  return static_cast<Number>(names_.size() - 1);
}

std::optional<Schema::Number> Schema::Find(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<Number>(found - names_.begin());
}

Values::Values(const Schema& schema, std::span<const Attribute> attributes) : Values(schema) {
  for (const Attribute& attribute : attributes) {
    const auto number = schema.Find(attribute.name);
    if (number && !Has(*number)) Set(*number, attribute.value, attribute.address);
  }
}

void Values::Set(Schema::Number number, std::string_view value, const Address* address) {
  WEIR_CHECK(number < size_);
  if (value.data() == nullptr) value = "";  // given, though empty
  values_[number] = value.substr(0, kLongest);
  if (number == Schema::kIpNumber) ip_ = address != nullptr ? *address : Address::Parse(value);
}

}  // namespace weir::rule
