#include "frontend/gateway_fields.h"

#include "rule/field_name.h"

namespace weir {
namespace {

using Name = GatewayFields::Name;

std::optional<Name> NameOf(std::string_view text) {
  const auto is = [text](std::string_view name) { return rule::SameFieldName(text, name); };
  // Most fields are none of these: their length tells most of them apart.
  switch (text.size()) {
    case 11:
      if (is("x-weir-cost")) return Name::kWeirCost;
      break;
    case 14:
      if (is("x-original-uri")) return Name::kOriginalUri;
      if (is("x-original-url")) return Name::kOriginalUrl;
      break;
    case 15:
      if (is("x-forwarded-uri")) return Name::kForwardedUri;
      break;
    case 16:
      if (is("x-weir-namespace")) return Name::kWeirNamespace;
      if (is("x-forwarded-host")) return Name::kForwardedHost;
      break;
    case 17:
      if (is("x-original-method")) return Name::kOriginalMethod;
      break;
    case 18:
      if (is("x-forwarded-method")) return Name::kForwardedMethod;
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace

GatewayFields::GatewayFields(rule::HeaderFields fields) {
  for (const rule::HeaderField& field : fields) {
    const std::optional<Name> name = NameOf(field.name);
    if (!name) continue;
    auto& value = values_[static_cast<std::size_t>(*name)];
    if (!value) value = field.value;
  }
}

}  // namespace weir
