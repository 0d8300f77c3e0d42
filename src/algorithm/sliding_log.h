// Sliding log: the instant of every request of the last period. docs/algorithms/sliding_log.md
//
//     x  x   x        x x  x             an entry leaves the view exactly one period after it was
//     |<------- the period ------->|now  made; what is in view, this request included, is the limit
//
// The state is a ring of entries (instant, permits) and four words that describe it. Entries made
// at the same instant are one. Each entry holds at least one permit, so a ring of as many entries
// as the limit has permits is always enough; if refunds have left empty ones in it, a request waits
// for the oldest to leave rather than have it forgotten.
#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithm/answer.h"
#include "algorithm/state.h"
#include "base/time.h"
#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/result.h"

namespace weir::algorithm {

class SlidingLog {
 public:
  static Result<SlidingLog> Make(const weir::SlidingLog& limit, std::uint32_t soft_percent);

  [[nodiscard]] std::size_t words() const { return kEntries + 2 * most_; }

  Decision Admit(State& state, Permits cost, Instant now) const;
  Decision Charge(State& state, Permits cost, Instant now) const;
  void Refund(State& state, Permits cost, Instant now, Instant taken) const;
  // How much can be refunded by changing `writes` words at most.
  [[nodiscard]] std::uint64_t RefundableBy(const State& state, Instant now, Instant taken,
                                           std::size_t writes) const;
  // Permits used as of now, those above the limit included.
  [[nodiscard]] std::uint64_t Used(const State& state, Instant now) const {
    return Load(state, ToNanos(now)).used;
  }
  void Carry(const SlidingLog& old, const State& from, State& to, Instant now) const;
  [[nodiscard]] std::uint64_t ForgottenIn(const State& state, Instant now) const;
  [[nodiscard]] std::uint64_t Memory() const;

 private:
  // Where things are in the state.
  enum : std::size_t { kHead, kCount, kUsed, kLast, kEntries };

  // The entries in view at some instant: `count` of them from `head` on, `used` permits in all.
  struct View {
    std::uint64_t head;
    std::uint64_t count;
    std::uint64_t used;
    std::uint64_t last;  // one above the instant of the newest entry ever, 0 if there was none
  };

  SlidingLog() = default;

  [[nodiscard]] View Load(const State& state, std::uint64_t now_ns) const;
  void Store(State& state, const View& view) const;
  [[nodiscard]] std::size_t EntryAt(const View& view, std::uint64_t index) const;
  void Append(State& state, View& view, std::uint64_t at_ns, std::uint64_t permits) const;
  [[nodiscard]] std::uint64_t MakeRoom(State& state, View& view, std::uint64_t permits) const;
  // The earliest instant, not before `now_ns`, at which `cost` fits.
  [[nodiscard]] std::uint64_t FitsAt(const State& state, const View& view, std::uint64_t cost,
                                     std::uint64_t now_ns) const;
  [[nodiscard]] std::uint64_t ResetIn(const View& view, std::uint64_t now_ns) const;
  [[nodiscard]] Level LevelIn(const View& view, std::uint64_t now_ns) const;

  std::uint64_t period_ = 0;
  std::uint64_t min_gap_ = 0;
  Denied denied_ = Denied::kIgnored;
  std::uint64_t nominal_ = 0;
  std::uint64_t most_ = 0;  // with what a soft limit lets through above it
};

}  // namespace weir::algorithm
