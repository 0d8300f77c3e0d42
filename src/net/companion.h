// What else a loop has beside its connections, which may use it.
#pragma once

#include <functional>

namespace weir::net {

// Lives in the loop's thread, for as long as the loop runs.
class Companion {
 public:
  Companion() = default;
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  virtual ~Companion() = default;

  // The last connection has gone, and the loop is about to stop. Calls `done` when nothing is left
  // to do, perhaps at once; the loop does not wait for long.
  virtual void Leave(std::function<void()> done) = 0;
};

}  // namespace weir::net
