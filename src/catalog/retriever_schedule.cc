#include "catalog/retriever_schedule.h"

#include <algorithm>

namespace weir::catalog {

using std::chrono::milliseconds;

RetrieverSchedule::RetrieverSchedule(const RetrieverOptions& options, std::uint64_t seed)
    : options_(options), chance_(seed) {
  options_.interval = std::max(options_.interval, milliseconds(1));
  options_.longest = std::max(options_.longest, options_.interval);
  options_.jitter_percent = std::clamp(options_.jitter_percent, 0, 100);
}

milliseconds RetrieverSchedule::WaitAfter(int failures) {
  milliseconds wait = options_.interval;
  // The first failure changes nothing: most are over by the next look.
  for (int i = 1; i < failures && wait < options_.longest; ++i) {
    wait = wait < options_.longest / 2 ? wait * 2 : options_.longest;
  }
  const double reach = options_.jitter_percent / 100.0;
  const double factor = std::uniform_real_distribution(1 - reach, 1 + reach)(chance_);
  const auto jittered = std::chrono::duration<double, std::milli>(wait) * factor;
  return std::max(std::chrono::duration_cast<milliseconds>(jittered), milliseconds(1));
}

}  // namespace weir::catalog
