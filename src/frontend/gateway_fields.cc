#include "frontend/gateway_fields.h"

#include "rule/field_name.h"

namespace weir {

GatewayFields::GatewayFields(rule::HeaderFields fields) {
  for (const rule::HeaderField& field : fields) {
    const auto if_called = [&](std::string_view text, Name name) {
      if (rule::SameFieldName(field.name, text)) Give(name, field.value);
    };
    // Most fields are none of these: their length tells most of them apart.
    switch (field.name.size()) {
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
}

}  // namespace weir
