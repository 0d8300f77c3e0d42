#include "wire/http_request.h"

namespace weir::wire {

std::optional<std::string_view> HttpRequest::FindField(std::string_view name) const {
  for (const rule::HeaderField& field : fields) {
    if (rule::SameIgnoringCase(field.name, name)) return field.value;
  }
  return std::nullopt;
}

}  // namespace weir::wire
