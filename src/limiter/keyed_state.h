// What is behind a KeyedLimiter: a table, and the plan that its words are to be read by.
//
// The state of a key under most limits is one word, which is the word of its slot. Under the others
// it is a record beside the slot: the kind of the plan it was written by, then the plan's words.
//
// A limit that is changed gets a new kind. Keys of the old kind are carried over when they are met,
// and then all of them in a sweep; until that is over both plans are at hand.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "algorithm/plan.h"
#include "base/clock.h"
#include "limiter/timeline.h"
#include "table/records.h"
#include "table/table.h"
#include "weir/keyed_limiter.h"

namespace weir {

class KeyedLimiter::State final : public table::Tenancy {
  template <typename Step>
  using AnswerOf = std::invoke_result_t<Step, const algorithm::Plan&, algorithm::State&>;

 public:
  static Result<std::unique_ptr<State>> Open(const Limit& limit, KeyedOptions options);

  // Decides one request after the other while the memory of those to come is on its way: the line
  // of each is asked for 16 requests ahead, about as many as a core can wait for at a time, and a
  // few ahead it is looked which slot it is in, or whether the line beside is needed too.
  template <typename KeyAt, typename CostAt>
  void TakeEach(std::span<Decision> decisions, Instant now, KeyAt key_at, CostAt cost_at) noexcept {
    const Current& current = *current_.load(std::memory_order_acquire);
    const std::uint16_t kind = records_ ? kRecordKind : current.kind;
    const table::Table::Map map = table_.map();
    const auto fetch = [map, kind, key_at](Request& request, std::size_t i) {
      const KeyHash hash = key_at(i);
      request.key = map.KeyOf(hash.low, hash.high, kind);
      map.Prefetch(request.key);
    };
    const auto look = [map](Request& request) { request.slot = map.Look(request.key); };

    const auto each = [decisions, fetch, look](const auto& take) {
      std::array<Request, kBlock> block;
      const std::size_t count = decisions.size();
      // The last requests have none behind them to fetch.
      const std::size_t most = count > kBlock ? count - kBlock : 0;
      for (std::size_t i = 0; i < std::min(kBlock, count); ++i) fetch(block[i], i);
      for (std::size_t i = 0; i < std::min(kSoon, count); ++i) look(block[i]);
      for (std::size_t i = 0; i < most; ++i) {
        Request& request = block[i % kBlock];
        look(block[(i + kSoon) % kBlock]);
        take(request, i);
        fetch(request, i + kBlock);
      }
      for (std::size_t i = most; i < count; ++i) {
        if (i + kSoon < count) look(block[(i + kSoon) % kBlock]);
        take(block[i % kBlock], i);
      }
    };
    if (current.bucket == nullptr) {
      each([&](const Request& request, std::size_t i) {
        decisions[i] = TakeAny(request.key, cost_at(i), now);
      });
      return;
    }
    current.WithBucket([&](auto bucket) {
      const std::uint64_t tick = bucket.TickAt(now);
      each([=, this](const Request& request, std::size_t i) {
        TakeFrom(bucket, tick, request.key, request.slot, cost_at(i), now, decisions[i]);
      });
    });
  }

  Decision Take(KeyHash hash, Permits cost, Instant now) noexcept {
    const Current& current = *current_.load(std::memory_order_acquire);
    const table::Table::Map map = table_.map();
    const table::Key key = map.KeyOf(hash.low, hash.high, records_ ? kRecordKind : current.kind);
    Decision decision;
    if (current.bucket != nullptr) [[likely]] {
      current.WithBucket([&](const auto& bucket) {
        TakeFrom(bucket, bucket.TickAt(now), key, map.Look(key), cost, now, decision);
      });
    } else {
      decision = TakeAny(key, cost, now);
    }
    return decision;
  }

  // Runs `step(plan, state)` on the state of a key and keeps what it changed, atomically.
  template <typename Step>
  AnswerOf<Step> Change(KeyHash hash, Instant now, const Step& step) noexcept {
    return ChangeKey(table_.map().KeyOf(hash.low, hash.high, current_kind()), now, step);
  }

  Result<Limit> SetLimit(const Limit& limit, Instant now);

  [[nodiscard]] Timeline& timeline() noexcept { return timeline_; }
  [[nodiscard]] Instant Now() const noexcept {
    return wall_minus_boot_ ? Instant(BootTime() + *wall_minus_boot_) : Clock::now();
  }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] const std::function<bool()>& has_room() const noexcept { return has_room_; }
  [[nodiscard]] std::uint64_t evicted() const noexcept { return table_.evicted(); }
  [[nodiscard]] std::size_t bytes() noexcept { return table_.memory().bytes(); }
  [[nodiscard]] std::uint64_t CountKeys(Instant now) noexcept;

  // Tenancy
  Nanos ForgottenIn(std::uint16_t kind, std::uint64_t word, Instant now) const override;
  std::uint16_t current_kind() const override;
  std::uint64_t Renew(std::uint16_t kind, std::uint64_t word, Instant now) const override;

 private:
  // All slots that have records are of one kind; the kind of the plan is in the record.
  static constexpr std::uint16_t kRecordKind = 1;
  // So many plans can be told apart; words of older ones are forgotten.
  static constexpr std::size_t kPlans = 256;

  // A request of a batch, on its way.
  struct alignas(32) Request {
    table::Key key;
    table::AtomicSlot* slot;
  };
  static constexpr std::size_t kBlock = 16;
  static constexpr std::size_t kSoon = 4;

  struct Current {
    Current(algorithm::Plan p, std::uint16_t k, bool in_words)
        : plan(std::move(p)), bucket(in_words ? plan.only_bucket() : nullptr), kind(k) {
      if (bucket != nullptr && bucket->is_plain()) plain.emplace(*bucket);
    }
    // REQUIRES: bucket != nullptr
    template <typename Run>
    [[gnu::always_inline]] void WithBucket(const Run& run) const noexcept {
      if (plain) [[likely]] {
        run(*plain);
      } else {
        run(*bucket);
      }
    }

    const algorithm::Plan plan;
    const algorithm::Bucket* const bucket;  // null: not as simple as that
    std::optional<algorithm::PlainBucket> plain;
    const std::uint16_t kind;
  };

  State(table::Memory memory, algorithm::Plan plan, std::uint16_t kind,
        std::function<bool()> has_room);

  // The whole of a decision, where the limit is a bucket and `slot` is that of the key, if known.
  // What it says is worked out after the word is changed: nothing comes between reading and writing
  // it.
  template <typename Bucket>
  [[gnu::always_inline]] void TakeFrom(const Bucket& bucket, std::uint64_t tick,
                                       const table::Key& key, table::AtomicSlot* slot, Permits cost,
                                       Instant now, Decision& decision) noexcept {
    algorithm::Bucket::Trial trial;
    const auto step = [&](std::uint64_t& word) { trial = bucket.Try(word, cost, tick); };
    if (slot != nullptr && table::Table::TryUpdate(*slot, key.tag, step)) [[likely]] {
      bucket.Tell(trial, cost, decision);
    } else {
      TakeNearby(bucket, key, cost, now, decision);
    }
  }
  // One key in eleven is not in its own line but, most likely, in the one beside it.
  template <typename Bucket>
  [[gnu::noinline]] void TakeNearby(const Bucket& bucket, const table::Key& key, Permits cost,
                                    Instant now, Decision& decision) noexcept {
    algorithm::Bucket::Trial trial;
    const auto step = [&](std::uint64_t& word) {
      trial = bucket.Try(word, cost, bucket.TickAt(now));
    };
    table::AtomicSlot* slot = table_.map().LookNearby(key);
    if (slot != nullptr && table::Table::TryUpdate(*slot, key.tag, step)) {
      bucket.Tell(trial, cost, decision);
    } else {
      TakeSlowly(key, cost, now, decision);
    }
  }
  void TakeSlowly(const table::Key& key, Permits cost, Instant now, Decision& decision) noexcept;
  // For limits of every kind.
  Decision TakeAny(const table::Key& key, Permits cost, Instant now) noexcept;
  template <typename Step>
  AnswerOf<Step> ChangeKey(const table::Key& key, Instant now, const Step& step) noexcept {
    if (records_) return ChangeRecord(key, now, step);
    AnswerOf<Step> answer{};
    table_.Update(key, now, [&](std::uint64_t& word, std::uint16_t kind) {
      algorithm::State state{std::span<const std::uint64_t>(&word, 1)};
      answer = step(PlanOf(kind), state);
      if (!state.writes().empty()) word = state.writes()[0].value;
    });
    return answer;
  }

  template <typename Step>
  AnswerOf<Step> ChangeRecord(const table::Key& key, Instant now, const Step& step) noexcept {
    if (table_.Find(key, now) == nullptr) {
      algorithm::State nothing{std::span<const std::uint64_t>(blank_)};
      nothing.SetBase(1);
      auto answer = step(current_.load(std::memory_order_acquire)->plan, nothing);
      if (nothing.writes().empty()) return answer;  // nothing worth a slot
    }
    table::Records::Locked record = records_->Lock(key, now);
    const Current& current = *current_.load(std::memory_order_acquire);
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
  // Brings a record that was written under another plan up to date.
  void CarryRecord(table::Records::Locked& record, const Current& current, Instant now) noexcept;

  // Makes `plan` known as that of `kind`, and as the one that counts from now on.
  const Current* Remember(algorithm::Plan plan, std::uint16_t kind);
  void Publish(algorithm::Plan plan, std::uint16_t kind);
  void Sweep(Instant now);
  [[nodiscard]] Instant LastSeen();
  static std::optional<Error> FinishChange(const Limit& limit, const KeyedOptions& options,
                                           const table::Geometry& geometry);
  [[nodiscard]] const algorithm::Plan& PlanOf(std::uint16_t kind) const noexcept {
    return plans_[kind % kPlans].load(std::memory_order_acquire)->plan;
  }
  // Whether there is a plan for this kind: everything else in a table is from before its time.
  [[nodiscard]] bool Knows(std::uint16_t kind) const noexcept {
    const Current* current = plans_[kind % kPlans].load(std::memory_order_acquire);
    return current != nullptr && current->kind == kind;
  }

  table::Table table_;
  std::optional<table::Records> records_;
  std::vector<std::uint64_t> blank_;  // a record with nothing in it
  Timeline timeline_;
  std::uint64_t seed_;
  std::optional<Nanos> wall_minus_boot_;  // of the file, if there is one
  std::function<bool()> has_room_;

  std::atomic<const Current*> current_{nullptr};
  std::array<std::atomic<const Current*>, kPlans> plans_{};
  std::mutex changing_limit_;
  // Plans are kept as long as the limiter: somebody may be in the middle of a decision by an old
  // one.
  std::vector<std::unique_ptr<const Current>> all_plans_;  // guarded by changing_limit_
};

}  // namespace weir
