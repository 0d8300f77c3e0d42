// What a cluster is asked for: clusters of four sizes, each under five kinds of load.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/method.h"
#include "weir/limit.h"
#include "weir/units.h"

namespace weir::sim {

// A limit, and the hosts that share it.
struct Setting {
  std::string_view name;
  int hosts;
  Quota quota;
  Nanos duration;  // of a run

  [[nodiscard]] double rate() const {
    return static_cast<double>(quota.permits().count) /
           std::chrono::duration<double>(quota.period()).count();
  }
  [[nodiscard]] double burst() const { return static_cast<double>(quota.burst().count); }
  // The time scale at which its users look: that of a full bucket, at least a second.
  [[nodiscard]] double window() const { return burst() > rate() ? burst() / rate() : 1.0; }
  // Whether leases are worth it there.
  [[nodiscard]] bool is_hot() const { return rate() >= 1000; }
};

enum class Load : std::uint8_t {
  kOver,   // twice the limit, steadily; few hosts get most of it (Zipf), here and below
  kUnder,  // 0.9 of the limit
  kOnOff,  // two and a half windows at a fifth of the limit, half a window at 10 times
  kFlash,  // half the limit; a third of the time 10 times the limit
  kShift,  // one and a half of the limit, nine tenths of it at one host, which changes
};

const std::vector<Setting>& Settings();
const std::vector<Load>& Loads();
std::string_view NameOf(Load load);

// The requests of a run, in order. The same seed gives the same requests.
std::vector<Arrival> ArrivalsOf(const Setting& setting, Load load, std::uint64_t seed);

}  // namespace weir::sim
