// When to look next, as a function of what came of the last look and of chance.
//
// A look comes every `interval`, give or take, so that the limiters of a fleet do not all ask at
// the same moment. While the source is away the time between looks doubles up to `longest`: whoever
// comes back from an outage is not run over by those who waited for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace weir::catalog {

struct RetrieverOptions {
  std::chrono::milliseconds interval{2'000};
  std::chrono::milliseconds longest{30'000};
  int jitter_percent = 20;  // more or less; 0 to 100
};

class RetrieverSchedule {
 public:
  RetrieverSchedule(const RetrieverOptions& options, std::uint64_t seed);

  // How long to wait at most after a look, if the last `failures` of them did not reach the source.
  std::chrono::milliseconds WaitAfter(int failures);

 private:
  RetrieverOptions options_;
  std::mt19937_64 chance_;
};

}  // namespace weir::catalog
