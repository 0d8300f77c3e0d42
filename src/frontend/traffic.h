// What came in over each protocol and how long it took, counted per read.
//
// A handler is called once with all that one read brought, and reads the clock once for it. When it
// has written all answers it looks at the clock again: the time between is what we make a client
// wait, from bytes to bytes. What the kernel does before and after is not in it, nor the time that
// a rule holds an answer back.
//
// Thread safety: everything may be called by any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core_counters.h"
#include "weir/units.h"

namespace weir {

enum class Protocol : std::uint8_t { kHttp, kResp, kGrpc };
inline constexpr std::size_t kProtocols = static_cast<std::size_t>(Protocol::kGrpc) + 1;
std::string_view NameOf(Protocol protocol);

class Traffic {
 public:
  // Of the time a read took. Bucket i holds what took up to 2^(10 + i) ns, about a microsecond in
  // the first and four seconds in the last but one; the last holds the rest.
  static constexpr std::size_t kBuckets = 24;
  static constexpr Nanos UpTo(std::size_t bucket) { return Nanos(std::int64_t{1024} << bucket); }
  static std::size_t BucketOf(Nanos took);

  // All that one call of a handler did.
  struct Batch {
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;  // of these, answered with a mistake; a refusal is none
    Nanos took{0};
  };
  void Count(Protocol protocol, const Batch& batch) noexcept;
  // Wrong passwords and tokens.
  void CountFailedAuths(Protocol protocol, std::uint64_t count) noexcept;

  struct Totals {
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;
    std::uint64_t failed_auths = 0;
    std::uint64_t batches = 0;
    Nanos took{0};
    std::array<std::uint64_t, kBuckets> batches_by_time{};
  };
  [[nodiscard]] Totals Read(Protocol protocol) const noexcept;

 private:
  CoreCounters counters_;
};

}  // namespace weir
