#include "frontend/gateway_fields.h"

#include "base/check.h"
#include "rule/field_name.h"

namespace weir {

GatewayFields::Places GatewayFields::Find(rule::HeaderFields fields) {
  WEIR_CHECK(fields.size() < kNone);
  Places places = kNowhere;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view called = fields[i].name;
    const auto if_called = [&](std::string_view text, Name name) {
      std::uint8_t& place = places[static_cast<std::size_t>(name)];
      if (place == kNone && rule::SameFieldName(called, text)) place = static_cast<std::uint8_t>(i);
    };
    // Most fields are none of these: their length tells most of them apart.
    switch (called.size()) {
      case 11:
        if_called("x-weir-cost", Name::kWeirCost);
        break;
      case 14:
        if_called("x-original-uri", Name::kOriginalUri);
        if_called("x-original-url", Name::kOriginalUrl);
        break;
      case 15:
        if_called("x-forwarded-uri", Name::kForwardedUri);
        break;
      case 16:
        if_called("x-weir-namespace", Name::kWeirNamespace);
        if_called("x-forwarded-host", Name::kForwardedHost);
        break;
      case 17:
        if_called("x-original-method", Name::kOriginalMethod);
        break;
      case 18:
        if_called("x-forwarded-method", Name::kForwardedMethod);
        break;
      default:
        break;
    }
  }
  return places;
}

}  // namespace weir
