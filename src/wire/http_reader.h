// Finds the heads of requests among the bytes of a connection, as they come, and reads them.
#pragma once

#include <cstddef>
#include <string_view>

#include "wire/http_head_pattern.h"
#include "wire/http_request.h"

namespace weir::wire {

// Reads the heads of one connection. Asked again as more comes, it searches only what is new for
// the end of the head, and reads the head once; after HttpLimits::head bytes it never needs more.
class HttpReader {
 public:
  explicit HttpReader(const HttpLimits& limits = {}) : limits_(limits) {}

  // `bytes`: all that is unread. It may lie elsewhere than at the last call, but begins with the
  // same bytes. `request` is filled for kHead; meant to be used again, it then allocates nothing.
  HttpRead Read(std::string_view bytes, HttpRequest& request);

 private:
  HttpRead FindEnd(std::string_view bytes);
  HttpRead Parse(std::string_view bytes, HttpRequest& request);
  [[nodiscard]] bool IsWithinLimits(std::size_t head, const HttpRequest& request) const;

  HttpLimits limits_;
  HttpHeadPattern pattern_;
  std::size_t searched_ = 0;          // bytes without the end of the head
  std::size_t request_line_end_ = 0;  // 0: not found yet
};

}  // namespace weir::wire
