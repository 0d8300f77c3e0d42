// The page of metrics as an answer of HTTP, a piece at a time.
#pragma once

#include <cstddef>
#include <string>

#include "frontend/metrics_page.h"
#include "wire/http_reply.h"

namespace weir {

class MetricsReply {
 public:
  // About as much is written at a time: some hundred series, a fraction of a millisecond.
  static constexpr std::size_t kPiece = std::size_t{32} << 10;

  // `request_bytes` is what the request took, for who keeps it until the answer is complete.
  MetricsReply(const MetricsSources& sources, Instant now, const wire::HttpReplyTo& to,
               std::size_t request_bytes);

  struct Step {
    bool is_last;
    bool closes;  // after the last: the end of the connection is the end of the answer
    std::size_t request_bytes;
  };
  Step Append(std::string& out);

 private:
  MetricsPage page_;
  wire::HttpReplyTo to_;
  bool in_chunks_;
  std::size_t request_bytes_;
  bool has_begun_ = false;
};

}  // namespace weir
