#include "limiter/pause.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace weir {

Pause PauseFor(Nanos duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never_notified;
  std::unique_lock lock(mutex);
  const auto until = std::chrono::steady_clock::now() + duration;
  never_notified.wait_until(lock, stop, until, [] { return false; });
  return stop.stop_requested() ? Pause::kStopped : Pause::kOver;
}

}  // namespace weir
