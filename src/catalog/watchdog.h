// Ends a conversation with a server that has stopped to answer.
//
// The limits of time that PostgreSQL has are kept by its server, and those of TCP by the kernels: a
// server that is stuck itself keeps neither, and libpq waits for it without end. So a thread looks
// at the clock, and when it takes too long, it shuts the socket down: libpq sees a lost connection.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace weir::catalog {

class Watchdog {
 public:
  Watchdog();

  // From here on until End(), `socket` has so much time. REQUIRES: not between the two already.
  void Begin(int socket, std::chrono::milliseconds patience);
  // Whether the time was over. The socket may be closed after it.
  bool End();

 private:
  struct Watched {
    int socket;
    std::chrono::steady_clock::time_point deadline;
  };

  void Watch(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Watched> watched_;  // guarded by mutex_
  bool cut_ = false;                // guarded by mutex_
  std::jthread thread_;             // the last: it uses the others
};

}  // namespace weir::catalog
