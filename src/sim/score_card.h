// The score card: every method, in every setting, under every load.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/scenario.h"
#include "sim/score.h"

namespace weir::sim {

// The three that Weir offers first, then those they are compared with.
struct Contestant {
  std::string_view name;
  bool is_ours;
};
const std::vector<Contestant>& Contestants();

// REQUIRES: there is a contestant of that name
Score Compete(std::string_view name, const Setting& setting, const std::vector<Arrival>& arrivals,
              std::uint64_t seed);

}  // namespace weir::sim
