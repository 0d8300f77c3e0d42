// What many keys have used under many limits, in one bounded memory.
//
// A KeyedLimiter has one limit for all its keys; a ledger has as many limits as there are rules,
// and keys of all of them lie side by side in one table. A limit that is entered gets a number, its
// kind, and every slot is marked with the kind of the limit it was written under. So a key that is
// asked for under another limit than before is carried over on the way: whoever changes a limit has
// nothing to do but to enter the new one and use it.
//
//     words     [key|word] [key|word] ...        limits whose state is one word: most
//     records   [key|where] ... + words beside   the others, in a table for each size of records,
//                                                made when the first such limit is entered
//
// In a folder all of it survives the process, however that ends; the limits are kept beside the
// tables, because a word says nothing without its limit. One process at a time has a folder.
//
// Thread safety: everything may be called by any number of threads. Enter() may wait and is for
// whoever changes rules; nothing else does.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithm/cell.h"
#include "limiter/key_states.h"
#include "limiter/limit_file.h"
#include "limiter/timeline.h"
#include "weir/decision.h"
#include "weir/keyed_limiter.h"
#include "weir/limit.h"
#include "weir/reservation.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

struct LedgerOptions {
  // Under limits of one word.
  std::uint64_t max_keys = 1'000'000;
  // Of each table of records: a log of 1,000 requests takes 16 KiB for each key.
  std::uint64_t record_bytes = std::uint64_t{256} << 20;
  Fill fill = Fill::kRoomy;
  std::string folder = {};  // empty: in memory. Otherwise it is made if it is not there
};

class Ledger {
 public:
  // A limit that was entered. It stays known as long as somebody holds it, and after that as long
  // as a key was counted under it.
  class Entered;
  using LimitHandle = std::shared_ptr<const Entered>;

  // One key under one limit. REQUIRES: the limit was entered here and is still held.
  struct Ask {
    const Entered* limit = nullptr;
    KeyHash key{};
    Permits cost{1};
    Nanos patience{0};  // how long it may be made to wait
  };

  static Result<std::unique_ptr<Ledger>> Open(LedgerOptions options);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // A clock that was set back is waited for, for as long as the longest limit in use remembers
  // (timeline.h). One that is entered just in case is no reason to wait.
  enum class Entering : std::uint8_t { kToUse, kJustInCase };
  // Fails if the limit makes no sense, there are 65534 different ones in use, or the memory for its
  // records cannot be had.
  Result<LimitHandle> Enter(const Limit& limit, Entering entering = Entering::kToUse);

  // Takes from all, or from none. Decision::limit_index counts the asks; `taken`, of the same size,
  // says what each had to say, and can be cancelled.
  Decision TakeAll(std::span<const Ask> asks, std::span<Reservation> taken, Instant now) noexcept;
  // The same of one, for who has no use for a reservation. REQUIRES: it has no patience
  Decision TakeOne(const Ask& ask, Instant now) noexcept;
  // Asks for the memory of a key that is about to be taken from, under whatever limit of one word.
  void Prefetch(KeyHash key) const noexcept;

  // One key under one limit, where all but the values that the key is made of is known beforehand.
  struct Part {
    const Entered* limit = nullptr;
    // Of the key from the hash of its values: added to one half, xored to the other.
    KeyHash offset{};
    Permits cost{1};
    std::uint32_t values = 0;                       // which of the hashes
    std::uint16_t kind = 0;                         // of the limit
    const algorithm::PlainBucket* plain = nullptr;  // the limit, if it is one and the cost fits

    [[nodiscard]] KeyHash KeyOf(std::span<const KeyHash> hashes) const noexcept {
      const KeyHash& hash = hashes[values];
      return {hash.low + offset.low, hash.high ^ offset.high};
    }
  };
  static Part PartOf(const Entered& limit, KeyHash offset, Permits cost, std::uint32_t values);
  // Where the key of a part is looked for.
  struct Aim {
    table::Line* line;
    std::uint64_t tag;
  };
  // Also asks for the memory there.
  [[nodiscard]] Aim AimAt(const Part& part, std::span<const KeyHash> hashes) const noexcept;
  static constexpr std::size_t kMostAtOnce = 8;
  struct AtOnce {
    enum class Outcome : std::uint8_t {
      kAllowed,
      kDenied,
      kNothing,  // it takes more steps: nothing was done, and TakeAll() has to do it
    };
    Outcome outcome = Outcome::kAllowed;
    std::uint32_t least = 0;  // if allowed: the part that has the least left, and how much that is
    Permits remaining{UINT64_MAX};
  };
  // TakeAll() in the fewest steps, for who has no use for reservations (limiter/ledger_at_once.h).
  // `from` is small, to be copied, and knows:
  //
  //   parts()         what is taken from, at most kMostAtOnce
  //   aims()          where their keys are, AimAt() of each
  //   hashes()        what those were made of
  //   DecisionOf(i)   where part i says what it has to say
  template <typename From>
  AtOnce TakeAtOnce(From from, Instant now) noexcept;
  [[nodiscard]] Decision Peek(const Ask& ask, Instant now) noexcept;
  Reservation Reserve(const Ask& ask, Instant now) noexcept;
  Decision Charge(const Ask& ask, Instant now) noexcept;
  void Refund(const Ask& ask, Instant now) noexcept;
  // Gives back what a reservation took; a second time, nothing.
  void Cancel(const Ask& ask, Reservation& reservation, Instant now) noexcept;

  // As if the key had never been seen, under whichever limit it was counted.
  void Forget(KeyHash key) noexcept;

  // A key whose limit comes with each request, as redis-cell has it. Such keys are not those of any
  // limit that was entered.
  Decision TakeCell(KeyHash key, const algorithm::Cell& cell, Permits cost, Instant now) noexcept;
  void ForgetCell(KeyHash key, Instant now) noexcept;

  [[nodiscard]] KeyHash Hash(std::string_view bytes) const noexcept;
  [[nodiscard]] Instant Now() const noexcept;
  // Of all hashes: nobody outside can guess it.
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

  [[nodiscard]] std::uint64_t evicted() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;
  [[nodiscard]] std::uint64_t CountKeys(Instant now) noexcept;
  // From a sample of each table, in a bounded time.
  [[nodiscard]] KeyStates::Fill EstimateFill(Instant now) noexcept;

 private:
  class Shelf;
  using Directory = std::array<std::atomic<const Planned*>, 0x10000>;

  explicit Ledger(LedgerOptions options);
  Result<Shelf*> ShelfFor(std::size_t words);
  Result<LimitHandle> EnterAs(const Limit& limit, std::string text, std::uint16_t kind);
  void WaitAsLongAs(const algorithm::Plan& plan);
  std::optional<std::uint16_t> FreeKind();
  void ForgetUnusedKinds();

  // The table to look for the key of `ask` in. If its limit was on another before, it is brought
  // over.
  Shelf& ShelfOf(const Ask& ask, Instant now) noexcept;
  void BringOver(const Ask& ask, Instant now) noexcept;
  template <typename Count>
  std::uint64_t SumOverShelves(const Count& count) const noexcept;
  template <typename Step>
  auto Change(const Ask& ask, Instant now, const Step& step) noexcept;
  Reservation ReserveAt(const Ask& ask, Nanos patience, Timeline::Moment moment) noexcept;
  // A key as it was looked at, and what its word is to become.
  struct Seen {
    std::atomic<std::uint64_t>* word;
    std::uint64_t before;
    std::uint64_t after;
  };
  // What seldom is part of TakeAtOnce(): the slot of a key that is not in its line, null if it is
  // nowhere; what a limit says that is no plain bucket, false if it takes more steps; all of a
  // refusal; and to give back what the first were taken from, where another came in between.
  [[nodiscard]] table::AtomicSlot* LookAround(const Part& part,
                                              std::span<const KeyHash> hashes) const noexcept;
  static bool AdmitAtOnce(const Part& part, Instant now, std::uint64_t& word,
                          Decision& decision) noexcept;
  template <typename From>
  static AtOnce RefuseAtOnce(From from, const Seen* seen, Instant now) noexcept;
  template <typename From>
  void GiveBackFirst(std::size_t count, From from, Instant now) noexcept;
  bool TakeFromWords(std::span<const Ask> asks, std::span<Reservation> taken,
                     Timeline::Moment moment, Decision& all) noexcept;
  // Of a request that some refused: counts it in the others, where refusals count.
  Decision CountRefusals(std::span<const Ask> asks, std::span<Reservation> taken,
                         const Decision& refusal, Instant now) noexcept;

  const LedgerOptions options_;
  std::unique_ptr<Directory> directory_;  // plans by kind; null: not in use
  std::unique_ptr<LimitFile> file_;       // null: in memory
  std::optional<Nanos> wall_minus_boot_;
  std::uint64_t seed_ = 0;
  std::optional<Timeline> timeline_;
  Shelf* words_ = nullptr;

  // A list that only grows, for who decides: no lock, no waiting.
  std::array<std::atomic<Shelf*>, 16> all_shelves_{};
  std::atomic<std::size_t> shelf_count_{0};

  mutable std::mutex entering_;
  // Guarded by entering_: the shelves by the words of their records (0: words), and what was
  // entered, by the text of the limit.
  std::map<std::size_t, std::unique_ptr<Shelf>> shelves_;
  std::map<std::string, LimitHandle, std::less<>> entered_;
  std::vector<LimitHandle>
      forgotten_;  // kept a while: somebody may be in the middle of reading one
  std::uint32_t last_kind_ = 0;
  Nanos memory_{0};
};

class Ledger::Entered {
 public:
  Entered(algorithm::Plan plan, std::uint16_t kind, Shelf& shelf, Limit limit);
  [[nodiscard]] const Limit& limit() const { return limit_; }

 private:
  friend class Ledger;
  Planned planned_;
  Shelf* shelf_;
  Limit limit_;
};

}  // namespace weir
