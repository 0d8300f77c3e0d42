// The states of keys in one table, read by the plans they were written by.
//
// The state of a key under most limits is one word, which is the word of its slot. Under the others
// it is a record beside the slot: the kind of the plan it was written by, then the plan's words.
// Which plans there are, and which of them counts, is for whoever derives from this to say: one for
// all keys (KeyedLimiter), or one for each rule (Ledger).
#pragma once

#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithm/plan.h"
#include "limiter/take_from.h"
#include "table/records.h"
#include "table/table.h"
#include "weir/keyed_limiter.h"

namespace weir {

// A plan, and the number that its words are marked with.
struct Planned {
  Planned(algorithm::Plan p, std::uint16_t k, bool in_words)
      : plan(std::move(p)), bucket(in_words ? plan.only_bucket() : nullptr), kind(k) {
    if (bucket != nullptr && bucket->is_plain()) plain.emplace(*bucket);
  }
  // REQUIRES: bucket != nullptr
  template <typename Run>
  [[gnu::always_inline]] auto WithBucket(const Run& run) const noexcept {
    if (plain) [[likely]] {
      return run(*plain);
    }
    return run(*bucket);
  }

  const algorithm::Plan plan;
  const algorithm::Bucket* const bucket;  // null: not as simple as that
  std::optional<algorithm::PlainBucket> plain;
  const std::uint16_t kind;
};

class KeyStates : public table::Tenancy {
  template <typename Step>
  using AnswerOf = std::invoke_result_t<Step, const algorithm::Plan&, algorithm::State&>;

 public:
  explicit KeyStates(table::Memory memory);
  ~KeyStates() override = default;
  KeyStates(const KeyStates&) = delete;
  KeyStates& operator=(const KeyStates&) = delete;

  // Decides one request after the other while the memory of those to come is on its way. One that
  // is not in its own line is put off, so that nobody waits for the line beside; whoever asks for
  // the same key again is put off behind it, unless somebody else has put the key into its own line
  // meanwhile. REQUIRES: as many decisions as asks
  void TakeEach(const Planned& planned, std::span<const HashedAsk> asks,
                std::span<Decision> decisions, Instant now) noexcept;
  // Asks for the memory of a key that is about to be taken from.
  void Prefetch(KeyHash hash) const noexcept {
    table_.map().Prefetch(table_.map().KeyOf(hash.low, hash.high, 0));  // a line, whatever the kind
  }

  Decision Take(const Planned& planned, KeyHash hash, Permits cost, Instant now) noexcept {
    const table::Key key = table_.map().KeyOf(hash.low, hash.high, KindOf(planned));
    if (planned.bucket == nullptr) [[unlikely]] {
      return TakeAny(planned, key, cost, now);
    }
    return planned.WithBucket([&](const auto& bucket) {
      return TakeFrom(bucket, bucket.TickAt(now), key, table_.map().Glance(key), cost, now);
    });
  }
  // The same for a key that was looked for in its own line, most likely in vain.
  Decision TakeNearby(const Planned& planned, const table::Key& key, Permits cost,
                      Instant now) noexcept {
    if (planned.plain) [[likely]] {
      const algorithm::PlainBucket& bucket = *planned.plain;
      if (table::AtomicSlot* const slot = table_.map().GlanceBeside(key)) [[likely]] {
        return TakeFrom(bucket, bucket.TickAt(now), key, slot, cost, now);
      }
    }
    if (planned.bucket == nullptr) [[unlikely]] {
      return TakeAny(planned, key, cost, now);
    }
    return planned.WithBucket(
        [&](const auto& bucket) { return TakeNearby(bucket, key, 0, cost, now); });
  }

  // A key whose state is one word, as it was looked at, and what its word is to become. Who takes
  // from several keys, all or nothing, looks at all of them before one is changed.
  struct Look {
    table::AtomicSlot* slot;  // null: it is not known here
    std::uint64_t tag;
    std::uint64_t before;
    std::uint64_t word;
    algorithm::Bucket::Trial trial;  // under a plan that is a bucket: for whoever looks to set
  };
  // REQUIRES: no records are kept here
  [[nodiscard, gnu::always_inline]] Look LookAt(std::uint16_t kind, KeyHash hash) const noexcept {
    const table::Table::Map map = table_.map();
    const table::Key key = map.KeyOf(hash.low, hash.high, kind);
    Look look{map.Look(key), key.tag, 0, 0, {}};
    if (look.slot == nullptr) [[unlikely]] {
      look.slot = map.LookAround(key, 1);
      if (look.slot == nullptr) return look;
    }
    look.before = look.word = look.slot->word().load(std::memory_order_acquire);
    if (look.before == 0) look.slot = nullptr;  // forgotten, or moved to another table
    return look;
  }
  // The word becomes what it is to become. False if somebody else came first. REQUIRES: the key is
  // known
  [[nodiscard, gnu::always_inline]] static bool Change(const Look& look) noexcept {
    // The tag is looked at behind the word, as Table::TryUpdate() does.
    if (look.slot->tag() != look.tag) return false;
    std::uint64_t before = look.before;
    return look.word == before ||
           look.slot->word().compare_exchange_strong(before, look.word, std::memory_order_acq_rel);
  }

  // Runs `step(plan, state)` on the state of a key and keeps what it changed, atomically.
  template <typename Step>
  AnswerOf<Step> Change(const Planned& planned, KeyHash hash, Instant now,
                        const Step& step) noexcept {
    return ChangeKey(planned, table_.map().KeyOf(hash.low, hash.high, KindOf(planned)), now, step);
  }

  // A key that goes from one table to another, because its limit was changed to one whose state is
  // of another size. It is copied first and forgotten last: whoever looks for it meanwhile finds it
  // in one of them, and who is killed meanwhile leaves it in both.
  struct Parcel {
    const Planned* planned = nullptr;
    std::vector<std::uint64_t> words;  // of `planned`
  };
  [[nodiscard]] bool Holds(KeyHash hash) const noexcept;
  // Nothing if the key is not here.
  std::optional<Parcel> Copy(KeyHash hash);
  // Does nothing if the key has come meanwhile.
  void Deposit(const Planned& planned, KeyHash hash, const Parcel& parcel, Instant now);
  void Forget(KeyHash hash);

  [[nodiscard]] std::uint64_t evicted() const noexcept { return table_.evicted(); }
  [[nodiscard]] std::size_t bytes() noexcept { return table_.memory().bytes(); }
  [[nodiscard]] std::uint64_t CountKeys(Instant now) noexcept;
  // As CountKeys(), but from a sample: exact while the table is small, within a few percent of its
  // slots when it is not, and in a time that does not grow with it.
  struct Fill {
    std::uint64_t keys = 0;
    std::uint64_t slots = 0;  // keys there is room for
  };
  [[nodiscard]] Fill EstimateFill(Instant now) noexcept;
  [[nodiscard]] bool has_records() const noexcept { return records_.has_value(); }

  // Tenancy
  Nanos ForgottenIn(std::uint16_t kind, std::uint64_t word, Instant now) const override;
  std::uint16_t CurrentOf(std::uint16_t kind) const override;
  std::uint64_t Renew(std::uint16_t from, std::uint64_t word, std::uint16_t to,
                      Instant now) const override;

 protected:
  // The plan of a kind; null if there is none: words of that kind are from before our time.
  [[nodiscard]] virtual const Planned* Known(std::uint16_t kind) const noexcept = 0;
  // The plan of a kind that was current a moment ago.
  [[nodiscard]] virtual const algorithm::Plan& PlanOf(std::uint16_t kind) const noexcept {
    return Known(kind)->plan;
  }
  // What is to be used in place of `planned`: that, unless its limit has been changed meanwhile.
  [[nodiscard]] virtual const Planned& Latest(const Planned& planned) const noexcept = 0;

  // Brings a record that was written under another plan up to date.
  void CarryRecord(table::Records::Locked& record, const Planned& current, Instant now) noexcept;

  // All slots that have records are of one kind; the kind of the plan is in the record.
  static constexpr std::uint16_t kRecordKind = 1;
  [[nodiscard]] std::uint16_t KindOf(const Planned& planned) const noexcept {
    return records_ ? kRecordKind : planned.kind;
  }

  table::Table table_;
  std::optional<table::Records> records_;
  std::vector<std::uint64_t> blank_;  // a record with nothing in it

 private:
  [[nodiscard]] table::Key KeyOf(KeyHash hash) const noexcept {
    return table_.map().KeyOf(hash.low, hash.high, kRecordKind);
  }

  // Of a batch: requests whose lines are on their way, more than a core can wait for at a time; and
  // those that are put off, for long enough that the line beside has come.
  static constexpr std::size_t kAhead = 40;
  static constexpr std::size_t kMostPutOff = 16;

  // The whole of a decision, where the limit is a bucket and `slot` is that of the key, if known.
  // What it says is worked out after the word is changed: nothing comes between reading and writing
  // it.
  template <typename Bucket>
  [[gnu::always_inline]] Decision TakeFrom(const Bucket& bucket, std::uint64_t tick,
                                           const table::Key& key, table::AtomicSlot* slot,
                                           Permits cost, Instant now) noexcept {
    algorithm::Bucket::Trial trial;
    const auto step = [&](std::uint64_t& word) { trial = bucket.Try(word, cost, tick); };
    if (slot != nullptr && table::Table::TryUpdate(*slot, key.tag, step)) [[likely]] {
      return bucket.Tell(trial, cost);
    }
    return TakeNearby(bucket, key, 0, cost, now);
  }
  [[gnu::always_inline]] Decision TakeFrom(const algorithm::PlainBucket& bucket, std::uint64_t tick,
                                           const table::Key& key, table::AtomicSlot* slot,
                                           Permits cost, Instant now) noexcept {
    if (slot == nullptr) [[unlikely]] {
      return TakeNearby(bucket, key, 1, cost, now);
    }
    const auto nearby = [&](const auto&) { return TakeNearby(bucket, key, 0, cost, now); };
    if (!bucket.Fits(cost)) [[unlikely]] {
      return nearby(*slot);
    }
    return weir::TakeFrom(bucket, slot, key.tag, cost, tick, tick, nearby);
  }
  // One key in eleven is not in its own line but, most likely, in the one beside it. `first`: how
  // many of its lines need not be looked at.
  template <typename Bucket>
  [[gnu::noinline]] Decision TakeNearby(const Bucket& bucket, const table::Key& key,
                                        std::size_t first, Permits cost, Instant now) noexcept {
    algorithm::Bucket::Trial trial;
    const auto step = [&](std::uint64_t& word) {
      trial = bucket.Try(word, cost, bucket.TickAt(now));
    };
    table::AtomicSlot* slot = table_.map().LookAround(key, first);
    if (slot != nullptr && table::Table::TryUpdate(*slot, key.tag, step)) {
      return bucket.Tell(trial, cost);
    }
    return TakeSlowly(key, cost, now);
  }
  Decision TakeSlowly(const table::Key& key, Permits cost, Instant now) noexcept;
  // For limits of every kind.
  Decision TakeAny(const Planned& planned, const table::Key& key, Permits cost,
                   Instant now) noexcept;
  template <typename Step>
  AnswerOf<Step> ChangeKey(const Planned& planned, const table::Key& key, Instant now,
                           const Step& step) noexcept {
    if (records_) return ChangeRecord(planned, key, now, step);
    AnswerOf<Step> answer{};
    table_.Update(key, now, [&](std::uint64_t& word, std::uint16_t kind) {
      algorithm::State state{std::span<const std::uint64_t>(&word, 1)};
      answer = step(PlanOf(kind), state);
      if (!state.writes().empty()) word = state.writes()[0].value;
    });
    return answer;
  }

  template <typename Step>
  AnswerOf<Step> ChangeRecord(const Planned& planned, const table::Key& key, Instant now,
                              const Step& step) noexcept {
    if (table_.Find(key, now) == nullptr) {
      algorithm::State nothing{std::span<const std::uint64_t>(blank_)};
      nothing.SetBase(1);
      auto answer = step(Latest(planned).plan, nothing);
      if (nothing.writes().empty()) return answer;  // nothing worth a slot
    }
    table::Records::Locked record = records_->Lock(key, now);
    const Planned& current = Latest(planned);
    CarryRecord(record, current, now);
    algorithm::State state(record.words());
    state.SetBase(1);
    auto answer = step(current.plan, state);
    if (!state.writes().empty()) {
      state.SetBase(0);
      state.Enter(0);
      state.Set(0, current.kind);
      state.SetBase(1);
      record.Commit(state.writes(), Later(now, current.plan.ForgottenIn(state, now)));
    }
    return answer;
  }
};

}  // namespace weir
