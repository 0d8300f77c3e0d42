// The state of one key as it lies in a store: the words of the library's algorithm, and what lets
// another host, with another clock and perhaps another rule, go on with them.
//
//     stamp   what the value is told by (swap_store.h)
//     latest  the last instant that counted, and how far the clock was set back since: the key's
//             timeline (limiter/timeline.h), so hosts whose clocks differ never give credit twice
//     takes   how much all hosts took lately (recent_takes.h)
//     limit   its text. A key whose limit was changed is carried over, as everywhere in Weir.
//     words   those at the end that are zero are left out
//
// Pure: time is an argument.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithm/plan.h"
#include "algorithm/state.h"
#include "authority/recent_takes.h"
#include "authority/strict_limit.h"
#include "authority/swap_store.h"
#include "limiter/timeline.h"
#include "weir/decision.h"
#include "weir/units.h"

namespace weir::authority {

// The default is a key never seen.
class StrictState {
 public:
  // What Weir wrote. Bytes that are not that, or under a limit that makes no sense here, are a key
  // never seen.
  static StrictState Read(std::string_view value, WrittenLimits& limits);
  // REQUIRES: a stamp; something was taken or given back at least once.
  [[nodiscard]] std::string Write(std::string_view stamp) const;
  // Of kStampBytes, another one for each number.
  static std::string MakeStamp(std::uint64_t number);

  // Each as the library's verb of that name. All carry the words over first, if they were written
  // under another limit.
  Decision Take(const std::shared_ptr<const WrittenLimit>& limit, Permits cost, Instant now);
  Decision Peek(const std::shared_ptr<const WrittenLimit>& limit, Permits cost, Instant now);
  // What cannot be had is owed.
  void Charge(const std::shared_ptr<const WrittenLimit>& limit, Permits cost, Instant now);
  void CountRefusal(const std::shared_ptr<const WrittenLimit>& limit, Permits cost, Instant now);
  // `taken`: when it was, by latest(); Instant::max() if nobody knows.
  void Refund(const std::shared_ptr<const WrittenLimit>& limit, Permits cost, Instant now,
              Instant taken);

  // What Peek() says, without carrying over: nothing if the words are of another limit.
  [[nodiscard]] std::optional<Decision> Look(const WrittenLimit& limit, Permits cost,
                                             Instant now) const;

  // Until a key never seen will do as well. REQUIRES: as Write().
  [[nodiscard]] Nanos ForgottenIn(Instant now) const;
  [[nodiscard]] bool IsForgottenAt(Instant now) const {
    return limit_ != nullptr && ForgottenIn(now) == Nanos(0);
  }
  // The last instant that counted.
  [[nodiscard]] Instant latest() const { return Instant(Nanos(latest_ns_)); }

  [[nodiscard]] const RecentTakes& recent_takes() const { return takes_; }

  // Since it was made, read or copied from one that was not.
  [[nodiscard]] bool is_changed() const { return is_changed_; }
  void set_unchanged() { is_changed_ = false; }

 private:
  // Runs `step(plan, state, instant)` and keeps what it changed.
  template <typename Step>
  Decision Change(const std::shared_ptr<const WrittenLimit>& limit, Instant now, const Step& step);
  void Adopt(const std::shared_ptr<const WrittenLimit>& limit, Instant at);
  Timeline::Moment Follow(const WrittenLimit& limit, Instant now);

  std::shared_ptr<const WrittenLimit> limit_;  // null: never seen
  std::vector<std::uint64_t> words_;
  std::int64_t latest_ns_ = 0;
  std::int64_t set_back_ns_ = 0;
  RecentTakes takes_;
  bool is_changed_ = false;
};

}  // namespace weir::authority
