// Load from one thread on many connections.
//
// Closed loop, for throughput: every connection asks `pipeline` requests at once and, when all are
// answered, the next. (Streams of HTTP/2 do not wait for each other: each answer is followed by a
// request.)
//
// Open loop, for latency: requests are due at a given rate, whatever becomes of those before them,
// and their time begins when they were due. So a server that stalls is charged for everybody who
// would have come meanwhile, and requests that were never answered for as long as they waited.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/load/dialogue.h"
#include "bench/load/histogram.h"
#include "net/endpoint.h"
#include "weir/result.h"

namespace weir::bench {

struct LoadOptions {
  net::Endpoint server;
  std::size_t connections = 50;
  std::size_t pipeline = 1;  // or streams
  double rate = 0;           // requests per second of the open loop; 0: closed loop
  double warm_up = 0.5;      // seconds
  double seconds = 3;        // that count
};

struct LoadResult {
  double seconds = 0;
  std::uint64_t answers = 0;
  std::uint64_t refused = 0;
  std::uint64_t failed = 0;
  std::uint64_t total = 0;  // answers with those of the warm-up
  Histogram latency;
};

Result<LoadResult> RunLoad(const LoadOptions& options, const Questions& questions);

}  // namespace weir::bench
