// One complete head of a request: request line and header fields, and what they say about the body.
// Used by HttpReader (wire/http_request.h), which finds its end.
#pragma once

#include <cstdint>
#include <string_view>

#include "wire/http_request.h"

namespace weir::wire {

constexpr HttpRead BadHttp(std::uint16_t code, std::string_view reason) {
  return {.status = HttpStatus::kBad, .consumed = 0, .code = code, .reason = reason};
}

// `head`: from the method to the empty line that ends it, with each LF behind a CR.
HttpRead ParseHttpHead(std::string_view head, const HttpLimits& limits, HttpRequest& request);

}  // namespace weir::wire
