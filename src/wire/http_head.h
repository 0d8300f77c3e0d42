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

// `bytes` begin with a method. kHead: `consumed` is the size of the head, and more may follow.
// REQUIRES: `bytes` end with CR LF CR LF, where whatever is looked for ends at the latest.
HttpRead ParseHttpHead(std::string_view bytes, const HttpLimits& limits, HttpRequest& request);

}  // namespace weir::wire
