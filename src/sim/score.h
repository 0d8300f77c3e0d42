// How well a method did, measured against one bucket that sees every request the moment it comes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/events.h"
#include "sim/method.h"
#include "sim/scenario.h"

namespace weir::sim {

struct Score {
  double admitted = 0;    // of what the one bucket admits
  double error = 0;       // WL1: |admitted - right| over windows, of all that is right
  double over_burst = 0;  // E/B: what it takes on top of the burst for all admitted to conform
  double fairness = 1;    // Jain's index of admitted/offered over hosts: 1 is fair
  double records = 0;     // per second, on the wire
  double mean_delay = 0;  // of a decision, microseconds
  double p99_delay = 0;
};

using MakeMethod = std::function<std::unique_ptr<Method>(Events&, OnDecided)>;

Score Measure(const Setting& setting, const std::vector<Arrival>& arrivals, const MakeMethod& make);

}  // namespace weir::sim
