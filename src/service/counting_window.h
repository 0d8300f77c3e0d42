// Windows that count on above their limit, as envoyproxy/ratelimit counts.
//
// There a request over its limit is counted too, so that one which costs more than the limit uses
// up the window, and hits that are given back first take from what was too much. The number of the
// limit is no part of what is counted: the count is compared with it. So a window that counts
// refused requests is entered in the ledger as the largest there is of that length, and who counts
// in it compares: a limit that is changed, or that comes with each request, finds the same count.
// The same goes for windows that a cluster shares (shared_limit.h).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "limiter/ledger.h"
#include "rule/rulebook.h"
#include "service/limit_unit.h"
#include "weir/limit.h"

namespace weir {

struct CountingWindow {
  Ledger::LimitHandle window;   // null: the limit is not of this kind
  std::uint64_t most = 0;       // what it can count to
  std::uint64_t threshold = 0;  // over above this
  // Of windows that follow each other from the epoch; 0: they start with a day, or a request.
  Nanos length{0};

  explicit operator bool() const { return window != nullptr; }
};

// What `limit` is counted in, if it is a single fixed window that counts refused requests: the
// largest window of its length. Nothing, if it is another limit.
std::optional<FixedWindow> WindowToCountIn(const Limit& limit);
// The same for a limit that comes with a request. REQUIRES: `unit` is known
FixedWindow WindowToCountIn(LimitUnit unit);

// What has been counted, and until when.
struct Tally {
  std::uint64_t count;  // more than `most` if it cannot be counted any more
  Nanos until_reset;    // until the window ends
};
// What is asked of the window to count `hits`. More than it can ever hold would not be counted at
// all; as much as it can hold uses it up.
Permits CostOf(const CountingWindow& window, std::uint64_t hits) noexcept;
// What its answer to that means.
Tally TallyOf(const CountingWindow& window, const Decision& decision, std::uint64_t hits,
              Instant now) noexcept;
// Counts `hits`, whatever comes of it. 0 hits only look.
Tally Count(Ledger& ledger, const CountingWindow& window, KeyHash key, std::uint64_t hits,
            Instant now) noexcept;
// Gives `hits` back, down to 0.
Tally Uncount(Ledger& ledger, const CountingWindow& window, KeyHash key, std::uint64_t hits,
              Instant now) noexcept;

// All that checks by descriptors may ask for, entered when rules are published: they never wait.
class CountingWindows {
 public:
  using Enter = std::function<Ledger::LimitHandle(const Limit&, Ledger::Entering)>;

  CountingWindows() = default;
  // Nothing is entered if no rule has a descriptor and no namespace is left to overrides.
  CountingWindows(const rule::Rulebook& book, const Enter& enter);

  // For a limit of the book, by its number. Empty unless it is a single fixed window that counts
  // refused requests.
  [[nodiscard]] const CountingWindow& ForLimit(std::uint32_t number) const {
    return by_limit_[number];
  }
  // For limits that come with a request; their threshold is the request's. Empty for kUnknown.
  [[nodiscard]] const CountingWindow& ForUnit(LimitUnit unit) const {
    return by_unit_[static_cast<std::size_t>(unit)];
  }

 private:
  std::vector<CountingWindow> by_limit_;
  std::array<CountingWindow, kLimitUnits> by_unit_;
};

}  // namespace weir
