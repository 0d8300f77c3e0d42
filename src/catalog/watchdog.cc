#include "catalog/watchdog.h"

#include <sys/socket.h>

#include "base/check.h"

namespace weir::catalog {

Watchdog::Watchdog() : thread_([this](const std::stop_token& stop) { Watch(stop); }) {}

void Watchdog::Begin(int socket, std::chrono::milliseconds patience) {
  const std::lock_guard lock(mutex_);
  WEIR_CHECK(!watched_);
  watched_ = {socket, std::chrono::steady_clock::now() + patience};
  cut_ = false;
  changed_.notify_one();
}

bool Watchdog::End() {
  const std::lock_guard lock(mutex_);
  watched_.reset();
  changed_.notify_one();
  return cut_;
}

void Watchdog::Watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!watched_) {
      changed_.wait(lock, stop, [this] { return watched_.has_value(); });
      continue;
    }
    const auto deadline = watched_->deadline;
    const auto is_other = [&] { return !watched_ || watched_->deadline != deadline; };
    const bool other = changed_.wait_until(lock, stop, deadline, is_other);
    if (other || stop.stop_requested()) continue;
    shutdown(watched_->socket, SHUT_RDWR);
    watched_.reset();
    cut_ = true;
  }
}

}  // namespace weir::catalog
