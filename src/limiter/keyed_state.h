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

  void Prefetch(KeyHash key) const noexcept {
    table_.Prefetch(table::MakeKey(key.low, key.high, 0));
  }

  // Hands `run` the quickest way to take: take(key, cost, now). For a bucket that is all there is
  // to a decision.
  template <typename Run>
  void WithStep(const Run& run) noexcept {
    const Current& current = *current_.load(std::memory_order_acquire);
    if (current.bucket == nullptr) {
      run([this](KeyHash key, Permits cost, Instant now) { return Take(key, cost, now); });
      return;
    }
    const algorithm::Bucket bucket = *current.bucket;
    const std::uint16_t kind = current.kind;
    run([this, &bucket, kind](KeyHash key, Permits cost, Instant now) {
      return TakeFrom(bucket, kind, key, cost, now);
    });
  }

  Decision Take(KeyHash key, Permits cost, Instant now) noexcept {
    const Current& current = *current_.load(std::memory_order_acquire);
    if (current.bucket != nullptr) return TakeFrom(*current.bucket, current.kind, key, cost, now);
    return Change(key, now, [&](const algorithm::Plan& plan, algorithm::State& state) {
      return plan.Admit(state, cost, now);
    });
  }

  // Runs `step(plan, state)` on the state of a key and keeps what it changed, atomically.
  template <typename Step>
  AnswerOf<Step> Change(KeyHash hash, Instant now, const Step& step) noexcept {
    const Current& current = *current_.load(std::memory_order_acquire);
    if (records_) return ChangeRecord(table::MakeKey(hash.low, hash.high, kRecordKind), now, step);
    return table_.Update(table::MakeKey(hash.low, hash.high, current.kind), now,
                         [&](std::uint64_t& word, std::uint16_t kind) {
                           algorithm::State state{std::span<const std::uint64_t>(&word, 1)};
                           auto answer = step(PlanOf(kind), state);
                           if (!state.writes().empty()) word = state.writes()[0].value;
                           return answer;
                         });
  }

  Result<Limit> SetLimit(const Limit& limit, Instant now);

  [[nodiscard]] Timeline& timeline() noexcept { return timeline_; }
  [[nodiscard]] Instant Now() const noexcept { return Instant(BootTime() + wall_minus_boot_); }
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
  // So many changes of the limit later, nobody is in the middle of a decision by the old one.
  static constexpr std::size_t kPlans = 256;

  struct Current {
    Current(algorithm::Plan p, std::uint16_t k, bool in_words)
        : plan(std::move(p)), bucket(in_words ? plan.only_bucket() : nullptr), kind(k) {}
    const algorithm::Plan plan;
    const algorithm::Bucket* const bucket;  // null: not as simple as that
    const std::uint16_t kind;
  };

  State(table::Memory memory, algorithm::Plan plan, std::uint16_t kind,
        std::function<bool()> has_room);

  Decision TakeFrom(const algorithm::Bucket& bucket, std::uint16_t kind, KeyHash hash,
                    Permits cost, Instant now) noexcept {
    return table_.Update(table::MakeKey(hash.low, hash.high, kind), now,
                         [&](std::uint64_t& word, std::uint16_t actual) {
                           if (actual != kind) [[unlikely]] {
                             return TakeAs(actual, word, cost, now);
                           }
                           return bucket.Admit(word, cost, now);
                         });
  }
  // The limit was changed while a decision was under way.
  Decision TakeAs(std::uint16_t kind, std::uint64_t& word, Permits cost, Instant now) noexcept;

  template <typename Step>
  AnswerOf<Step> ChangeRecord(const table::Key& key, Instant now, const Step& step) noexcept {
    const Current& current = *current_.load(std::memory_order_acquire);
    if (table_.Find(key, now) == nullptr) {
      algorithm::State nothing{std::span<const std::uint64_t>(blank_)};
      nothing.SetBase(1);
      auto answer = step(current.plan, nothing);
      if (nothing.writes().empty()) return answer;  // nothing worth a slot
    }
    table::Records::Locked record = records_->Lock(key, now);
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

  // Makes `plan` the one that counts from now on.
  void Publish(algorithm::Plan plan, std::uint16_t kind);
  void Sweep(Instant now);
  [[nodiscard]] const algorithm::Plan& PlanOf(std::uint16_t kind) const noexcept {
    return plans_[kind % kPlans]->plan;
  }
  // Whether there is a plan for this kind: everything else in a table is from before its time.
  [[nodiscard]] bool Knows(std::uint16_t kind) const noexcept {
    return plans_[kind % kPlans] != nullptr && plans_[kind % kPlans]->kind == kind;
  }

  table::Table table_;
  std::optional<table::Records> records_;
  std::vector<std::uint64_t> blank_;  // a record with nothing in it
  Timeline timeline_;
  std::uint64_t seed_;
  Nanos wall_minus_boot_{0};
  std::function<bool()> has_room_;

  std::atomic<const Current*> current_{nullptr};
  std::array<std::unique_ptr<const Current>, kPlans> plans_;
  std::mutex changing_limit_;
};

}  // namespace weir
