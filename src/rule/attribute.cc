#include "rule/attribute.h"

namespace weir::rule {

std::optional<Schema::Number> Schema::Add(std::string_view name) {
  if (const auto number = Find(name)) return number;
  if (names_.size() == kMost) return std::nullopt;
  const auto number = static_cast<Number>(names_.size());
  names_.emplace_back(name);
  std::size_t place = PlaceOf(HeadOf(name), TailOf(name), name.size());
  while (places_[place].used) place = (place + 1) % kPlaces;
  places_[place] = {HeadOf(name), TailOf(name), static_cast<std::uint32_t>(name.size()), number,
                    true};
  return number;
}

Values::Values(const Schema& schema, std::span<const Attribute> attributes) : Values(schema) {
  for (const Attribute& attribute : attributes) {
    Add(schema, attribute.name, attribute.value, attribute.address);
  }
}

}  // namespace weir::rule
