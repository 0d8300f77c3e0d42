#include "frontend/traffic.h"

#include <algorithm>
#include <bit>

namespace weir {
namespace {

enum Column : std::uint8_t { kRequests, kErrors, kNanoseconds, kFailedAuths };

constexpr std::uint32_t kBucketLines = Traffic::kBuckets / CoreCounters::kColumns;

// Each protocol has a line for its totals, and those of its buckets behind it.
CoreCounters::Line LineOf(Protocol protocol, std::uint32_t line) {
  return CoreCounters::LineOf(static_cast<std::uint32_t>(protocol) * (1 + kBucketLines) + line);
}

}  // namespace

std::string_view NameOf(Protocol protocol) {
  switch (protocol) {
    case Protocol::kHttp:
      return "http";
    case Protocol::kResp:
      return "resp";
    case Protocol::kGrpc:
      return "grpc";
  }
  return "unknown";
}

std::size_t Traffic::BucketOf(Nanos took) {
  const auto beyond = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 1) - 1);
  const auto bits = static_cast<std::size_t>(std::bit_width(beyond));
  constexpr std::size_t kFirst = 10;  // up to 1024 ns
  return std::min(std::max(bits, kFirst) - kFirst, kBuckets - 1);
}

void Traffic::Count(Protocol protocol, const Batch& batch) noexcept {
  if (batch.requests == 0) return;  // the beginning of one
  const CoreCounters::Line totals = LineOf(protocol, 0);
  counters_.Add(totals, kRequests, batch.requests);
  if (batch.errors != 0) counters_.Add(totals, kErrors, batch.errors);
  counters_.Add(totals, kNanoseconds,
                static_cast<std::uint64_t>(std::max(batch.took, Nanos(0)).count()));
  const std::size_t bucket = BucketOf(batch.took);
  const auto line = static_cast<std::uint32_t>(1 + bucket / CoreCounters::kColumns);
  counters_.Add(LineOf(protocol, line), bucket % CoreCounters::kColumns);
}

void Traffic::CountFailedAuths(Protocol protocol, std::uint64_t count) noexcept {
  counters_.Add(LineOf(protocol, 0), kFailedAuths, count);
}

Traffic::Totals Traffic::Read(Protocol protocol) const noexcept {
  const CoreCounters::Sums sums = counters_.Read(LineOf(protocol, 0));
  Totals totals{.requests = sums[kRequests],
                .errors = sums[kErrors],
                .failed_auths = sums[kFailedAuths],
                .took = Nanos(static_cast<std::int64_t>(sums[kNanoseconds]))};
  for (std::uint32_t line = 0; line < kBucketLines; ++line) {
    const CoreCounters::Sums buckets = counters_.Read(LineOf(protocol, 1 + line));
    std::copy(buckets.begin(), buckets.end(),
              totals.batches_by_time.begin() + line * CoreCounters::kColumns);
  }
  for (const std::uint64_t count : totals.batches_by_time) totals.batches += count;
  return totals;
}

}  // namespace weir
