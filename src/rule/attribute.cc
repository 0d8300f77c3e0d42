#include "rule/attribute.h"

namespace weir::rule {

std::optional<Schema::Number> Schema::Add(std::string_view name) {
  if (const auto number = Find(name)) return number;
  if (names_.size() == kMost) return std::nullopt;
  const auto number = static_cast<Number>(names_.size());
  names_.emplace_back(name);
  std::size_t place = PlaceOf(HeadOf(name), name.size());
  while (places_[place].used) place = (place + 1) % kPlaces;
  places_[place] = {HeadOf(name), name.size(), number, true};
  return number;
}

Values::Values(const Schema& schema, std::span<const Attribute> attributes) : Values(schema) {
  for (const Attribute& attribute : attributes) {
    const auto number = schema.Find(attribute.name);
    if (number && !Has(*number)) Set(*number, attribute.value, attribute.address);
  }
}

}  // namespace weir::rule
