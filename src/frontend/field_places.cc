#include "frontend/field_places.h"

#include "rule/field_name.h"

namespace weir {

void FieldPlaces::Look(const wire::HttpRequest& request) {
  names_ = request.names;
  gateway_ = GatewayFields::Find(request.fields);
  has_cookies_ = request.Field("cookie").has_value();
  forwarded_for_ = GatewayFields::kNone;
  std::size_t lines = 0;
  for (std::size_t i = 0; i < request.fields.size(); ++i) {
    if (!rule::SameFieldName(request.fields[i].name, "x-forwarded-for")) continue;
    forwarded_for_ = ++lines == 1 ? static_cast<std::uint8_t>(i) : GatewayFields::kNone;
  }
}

void FieldPlaces::LookFor(const rule::Space& space, const wire::HttpRequest& request) {
  wanted_names_ = request.names;
  wanted_space_ = space.serial();
  wanted_count_ = 0;
  std::uint64_t seen = 0;  // a bit for each number
  static_assert(rule::Schema::kMost <= 64);
  const auto note = [&](rule::Schema::Number number, const rule::HeaderField& field) {
    if ((seen >> number & 1) != 0) return;
    seen |= std::uint64_t{1} << number;
    const auto place = static_cast<std::uint8_t>(&field - request.fields.data());
    wanted_[wanted_count_++] = {number, place};
  };
  space.sources().headers.Find(request.fields, note);
}

}  // namespace weir
