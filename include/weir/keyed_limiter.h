// A limiter for each of millions of keys, in a fixed amount of memory.
//
//   weir::KeyedLimiter clients(weir::Quota::Per(10, 1min), {.max_keys = 10'000'000});
//   weir::Decision d = clients.Take("user:7", weir::Permits{3});
//
// Keys are not stored, only a seeded 128-bit hash of them decides. A key that has been idle until
// its limit is whole again takes no room. When all room is taken by keys that are not, the one that
// has used the least is forgotten (see evicted()), so that a flood of keys can neither grow the
// memory nor free a client that is over its limit.
//
// Thread safety: all verbs may be called by any number of threads, and, with a file, processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/reservation.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

// How full the table is with `max_keys` keys in it.
enum class Fill : std::uint8_t {
  kRoomy,  // two thirds: 24.3 bytes per key, the fastest
  kDense,  // four fifths: 19.7 bytes per key
};

struct KeyedOptions {
  std::uint64_t max_keys = 1'000'000;
  Fill fill = Fill::kRoomy;
  // Where the state is kept. Empty: in memory. Otherwise in this file, which is made if it is not
  // there: the state survives the process, however it ends, and processes may share it.
  std::string file = {};
  // Elastic throttling, as in LimiterOptions.
  std::function<bool()> has_room = {};
};

// A key that was hashed before, for whoever asks for the same key again and again.
struct KeyHash {
  std::uint64_t low;
  std::uint64_t high;

  bool operator==(const KeyHash&) const = default;
};

// One of a batch of requests.
struct Ask {
  std::string_view key;
  Permits cost{1};
};
struct HashedAsk {
  KeyHash key;
  Permits cost{1};
};

class KeyedLimiter {
 public:
  // Throws std::invalid_argument where Open() returns an error.
  KeyedLimiter(const Limit& limit, KeyedOptions options);
  // Fails if the limit makes no sense, or the memory or the file cannot be had.
  static Result<KeyedLimiter> Open(const Limit& limit, KeyedOptions options);
  KeyedLimiter(KeyedLimiter&&) noexcept;
  KeyedLimiter& operator=(KeyedLimiter&&) noexcept;
  ~KeyedLimiter();

  // The verbs of Limiter, for one key.
  Decision Take(std::string_view key, Permits cost = Permits{1}) noexcept;
  Decision Take(std::string_view key, Permits cost, Instant now) noexcept {
    return Take(Hash(key), cost, now);
  }
  Decision Take(KeyHash key, Permits cost, Instant now) noexcept;

  // Many requests at once, with one look at the clock: several times as fast as one by one, because
  // the memory they need is fetched ahead. Those of one key are decided in order, but while
  // somebody else is the first to ask for that key. REQUIRES: as many decisions as asks.
  void Take(std::span<const Ask> asks, std::span<Decision> decisions) noexcept {
    Take(asks, decisions, Now());
  }
  void Take(std::span<const Ask> asks, std::span<Decision> decisions, Instant now) noexcept;
  void Take(std::span<const HashedAsk> asks, std::span<Decision> decisions, Instant now) noexcept;

  [[nodiscard]] Decision Peek(std::string_view key, Permits cost = Permits{1}) noexcept {
    return Peek(key, cost, Now());
  }
  [[nodiscard]] Decision Peek(std::string_view key, Permits cost, Instant now) noexcept;

  Partial TakeUpTo(std::string_view key, Permits cost) noexcept {
    return TakeUpTo(key, cost, Now());
  }
  Partial TakeUpTo(std::string_view key, Permits cost, Instant now) noexcept;

  Decision Charge(std::string_view key, Permits cost) noexcept { return Charge(key, cost, Now()); }
  Decision Charge(std::string_view key, Permits cost, Instant now) noexcept;

  void Refund(std::string_view key, Permits cost) noexcept { Refund(key, cost, Now()); }
  void Refund(std::string_view key, Permits cost, Instant now) noexcept;

  [[nodiscard]] Reservation Reserve(std::string_view key, Permits cost,
                                    Nanos patience = Nanos::max()) noexcept {
    return Reserve(key, cost, patience, Now());
  }
  [[nodiscard]] Reservation Reserve(std::string_view key, Permits cost, Nanos patience,
                                    Instant now) noexcept;
  void Cancel(std::string_view key, Reservation& reservation) noexcept {
    Cancel(key, reservation, Now());
  }
  void Cancel(std::string_view key, Reservation& reservation, Instant now) noexcept;

  Decision Wait(std::string_view key, Permits cost, const std::stop_token& stop = {},
                Instant deadline = Instant::max());

  // For all keys; what each has used stays used. Fails, and changes nothing, if the limit makes no
  // sense, needs more memory per key than the first one, or other processes share the file.
  Result<Limit> SetLimit(const Limit& limit) { return SetLimit(limit, Now()); }
  Result<Limit> SetLimit(const Limit& limit, Instant now);

  // One key as a limiter of its own, for TakeAll(). It must not outlive this object.
  class Entry;
  [[nodiscard]] Entry At(std::string_view key) noexcept;

  [[nodiscard]] KeyHash Hash(std::string_view key) const noexcept;
  // The clock of this limiter: Clock, or the one of the processes that share the file.
  [[nodiscard]] Instant Now() const noexcept;

  // Keys that were forgotten while they still mattered, to make room.
  [[nodiscard]] std::uint64_t evicted() const noexcept;
  // All memory that this limiter uses and will ever use.
  [[nodiscard]] std::size_t bytes() const noexcept;
  // Keys that are remembered at `now`; looks at all of them, so it takes a while.
  [[nodiscard]] std::uint64_t CountKeys(Instant now) noexcept;

 private:
  class State;
  explicit KeyedLimiter(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

class KeyedLimiter::Entry {
 public:
  Decision Take(Permits cost, Instant now) noexcept { return limiter_->Take(key_, cost, now); }
  [[nodiscard]] Decision Peek(Permits cost, Instant now) noexcept {
    return limiter_->Peek(key_, cost, now);
  }
  [[nodiscard]] Reservation Reserve(Permits cost, Nanos patience, Instant now) noexcept {
    return limiter_->Reserve(key_, cost, patience, now);
  }
  void Cancel(Reservation& reservation, Instant now) noexcept {
    limiter_->Cancel(key_, reservation, now);
  }

 private:
  friend class KeyedLimiter;
  Entry(KeyedLimiter& limiter, std::string_view key) : limiter_(&limiter), key_(key) {}

  KeyedLimiter* limiter_;
  std::string_view key_;
};

inline KeyedLimiter::Entry KeyedLimiter::At(std::string_view key) noexcept { return {*this, key}; }

}  // namespace weir
