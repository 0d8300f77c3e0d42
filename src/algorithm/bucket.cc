#include "algorithm/bucket.h"

#include <string>

#include "algorithm/soft.h"

namespace weir::algorithm {
Bucket::Bucket(Rate rate, Shape shape)
    : ticks_per_nano_(rate.ticks_per_nano),
      interval_(rate.ticks_per_permit),
      nominal_(shape.nominal * interval_),
      capacity_(shape.capacity * interval_),
      missing_(shape.missing * interval_),
      free_(shape.free * interval_),
      // One less than half of the ring at most, so that it is a duration as it is.
      live_(capacity_ + std::max(capacity_, rate.Horizon()) - 1),
      most_(shape.capacity) {}

Result<Bucket> Bucket::Make(const Quota& quota, Shape shape) {
  const Result<Rate> rate = Rate::Of(quota, Permits{shape.capacity});
  if (!rate) return rate.error();
  return Bucket(*rate, shape);
}

Result<Bucket> Bucket::Make(const weir::TokenBucket& limit, std::uint32_t soft_percent) {
  if (auto wrong = WhatIsWrongWith(limit.quota); !wrong.empty()) return Error{std::move(wrong)};
  const std::uint64_t burst = limit.quota.burst().count;
  const std::uint64_t initial = limit.quota.initial().count;
  if (burst == 0) return Error{"burst must be at least 1, got 0"};
  if (initial > burst) {
    return Error{"initial must be at most the burst of " + std::to_string(burst) + ", got " +
                 std::to_string(initial)};
  }
  const std::uint64_t capacity = WithSoft(Permits{burst}, soft_percent).count;
  return Make(
      limit.quota,
      Shape{.nominal = burst, .capacity = capacity, .missing = burst - initial, .free = capacity});
}

Result<Bucket> Bucket::Make(const weir::LeakyBucket& limit, std::uint32_t soft_percent) {
  if (auto wrong = WhatIsWrongWith(limit.quota); !wrong.empty()) return Error{std::move(wrong)};
  if (limit.free > limit.queue) {
    return Error{"free must be at most the queue of " + std::to_string(limit.queue.count) +
                 ", got " + std::to_string(limit.free.count)};
  }
  // The one that goes, and the queue behind it.
  const std::uint64_t nominal = SatAdd(limit.queue.count, std::uint64_t{1});
  const std::uint64_t capacity = WithSoft(Permits{nominal}, soft_percent).count;
  return Make(
      limit.quota,
      Shape{.nominal = nominal, .capacity = capacity, .missing = 0, .free = limit.free.count + 1});
}

}  // namespace weir::algorithm
