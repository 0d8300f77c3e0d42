// How large a table is made for so many keys.
#pragma once

#include <cstdint>
#include <string>

#include "table/header.h"
#include "table/slot.h"
#include "weir/keyed_limiter.h"
#include "weir/result.h"

namespace weir {

inline Result<table::Geometry> GeometryFor(std::uint64_t max_keys, Fill fill,
                                           std::size_t record_words) {
  constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 36;
  if (max_keys < 1 || max_keys > kMostKeys) {
    return Error{"max_keys must be between 1 and " + std::to_string(kMostKeys) + ", got " +
                 std::to_string(max_keys)};
  }
  // Keys per hundred slots.
  const std::uint64_t percent = fill == Fill::kDense ? 82 : 66;
  const std::uint64_t slots = max_keys * 100 / percent + 1;
  return table::Geometry{.lines = slots / table::Line::kSlots + 1, .record_words = record_words};
}

}  // namespace weir
