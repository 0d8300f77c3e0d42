// A way to enforce one limit on many hosts, as the simulator drives it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/events.h"
#include "weir/units.h"

namespace weir::sim {

// One request, at the host that the load balancer chose.
struct Arrival {
  Instant at;
  int host = 0;
};

// Numbers a request; decided exactly once.
using RequestId = std::uint64_t;
using OnDecided = std::function<void(RequestId, bool is_admitted)>;

class Method {
 public:
  virtual ~Method() = default;
  // Decides about a request now, or later, and tells.
  virtual void Arrive(RequestId id, int host) = 0;
  // Records on the wire so far: one for each key and message, asked and answered.
  [[nodiscard]] virtual std::uint64_t records() const = 0;
};

// The limit as the simple models compute it.
struct Bucket {
  double rate = 1;  // permits per second
  double burst = 1;
  double tokens = 1;
  Instant at{};

  Bucket() = default;
  Bucket(double r, double b) : rate(r), burst(b), tokens(b) {}

  void Pass(Instant now) {
    tokens += std::chrono::duration<double>(now - at).count() * rate;
    if (tokens > burst) tokens = burst;
    at = now;
  }
  bool Take(Instant now) {
    Pass(now);
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  }
};

}  // namespace weir::sim
