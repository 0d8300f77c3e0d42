// The deadlines of many connections, at next to no cost per request.
//
// A deadline is put off with every request and almost never met. So to put it off only writes it
// down: the entry stays where it stands in the wheel, and when its slot comes round and it turns
// out not to be due, it moves on to where it belongs by then. Only a deadline that comes nearer is
// moved at once.
//
// The price is precision: a deadline is met up to a tick late.
//
// Thread safety: none; each loop has its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/units.h"

namespace weir::net {

class Deadlines {
 public:
  static constexpr Nanos kTick{std::int64_t{1} << 27};  // 134 ms; a power of two divides cheaply

  class Entry {
   public:
    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    virtual ~Entry();
    // The deadline is over. It is not in the wheel any more.
    virtual void OnDeadline() = 0;

   private:
    friend class Deadlines;
    Instant at_;              // when it is over
    std::int64_t tick_ = 0;   // where it stands
    Entry* next_ = nullptr;   // of the same slot
    Entry** link_ = nullptr;  // what points here; null if not in the wheel
  };

  // From where time is counted.
  explicit Deadlines(Instant now) : done_(TickOf(now)) {}
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  // Also for an entry that has one. Instant::max() is never.
  void Set(Entry& entry, Instant at);
  // Also for an entry that has none. An entry that is destroyed clears itself.
  static void Clear(Entry& entry);
  // Meets the deadlines that are over. Those who are called may set and clear any.
  void Meet(Instant now);

 private:
  // Longer deadlines go round more than once.
  static constexpr std::size_t kSlots = 512;

  static constexpr std::int64_t TickOf(Instant at) {
    return at.time_since_epoch().count() / kTick.count();
  }
  void Insert(Entry& entry);

  std::array<Entry*, kSlots> slots_{};
  std::int64_t done_;  // the tick up to which all slots were looked at
};

}  // namespace weir::net
