// What is behind a KeyedLimiter: the states of its keys, and the one plan that counts for all.
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
#include <vector>

#include "base/clock.h"
#include "limiter/key_states.h"
#include "limiter/lane.h"
#include "limiter/timeline.h"

namespace weir {

class KeyedLimiter::State final : public KeyStates {
 public:
  static Result<std::unique_ptr<State>> Open(const Limit& limit, KeyedOptions options);

  // The plan that counts now. Good as long as the limiter.
  [[nodiscard]] const Planned& current() const noexcept {
    return *current_.load(std::memory_order_acquire);
  }

  // What is decided at once where `current()` and all else allow.
  [[nodiscard]] const Lane<State>& lane() const noexcept {
    return *lane_.load(std::memory_order_acquire);
  }
  // All that is not. The kind of the key does not matter.
  Decision TakeBesideLane(table::Key key, Permits cost, Instant now) noexcept;

  Result<Limit> SetLimit(const Limit& limit, Instant now);

  [[nodiscard]] Timeline& timeline() noexcept { return timeline_; }
  [[nodiscard]] Instant Now() const noexcept {
    return wall_minus_boot_ ? Instant(BootTime() + *wall_minus_boot_) : Clock::now();
  }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] const std::function<bool()>& has_room() const noexcept { return has_room_; }

 private:
  // So many plans can be told apart; words of older ones are forgotten.
  static constexpr std::size_t kPlans = 256;

  State(table::Memory memory, algorithm::Plan plan, std::uint16_t kind,
        std::function<bool()> has_room);

  // KeyStates
  const Planned* Known(std::uint16_t kind) const noexcept override {
    const Planned* planned = plans_[kind % kPlans].load(std::memory_order_acquire);
    return planned != nullptr && planned->kind == kind ? planned : nullptr;
  }
  const Planned& Latest(const Planned& /*planned*/) const noexcept override { return current(); }
  // After so many changes in a moment that nobody knows it any more: whatever is done by another
  // plan counts for nothing, because the slot has another kind by now.
  const algorithm::Plan& PlanOf(std::uint16_t kind) const noexcept override {
    const Planned* planned = Known(kind);
    return planned != nullptr ? planned->plan : current().plan;
  }
  // Also of a kind so old that nobody knows it any more.
  std::uint16_t CurrentOf(std::uint16_t kind) const override {
    return has_records() ? KeyStates::CurrentOf(kind) : current().kind;
  }

  // Makes `plan` known as that of `kind`, and as the one that counts from now on.
  const Planned* Remember(algorithm::Plan plan, std::uint16_t kind);
  void Publish(algorithm::Plan plan, std::uint16_t kind);
  void Sweep(Instant now);
  [[nodiscard]] Instant LastSeen();
  static std::optional<Error> FinishChange(const Limit& limit, const KeyedOptions& options,
                                           const table::Geometry& geometry);

  Timeline timeline_;
  std::uint64_t seed_;
  std::optional<Nanos> wall_minus_boot_;  // of the file, if there is one
  std::function<bool()> has_room_;

  std::atomic<const Planned*> current_{nullptr};
  std::atomic<const Lane<State>*> lane_{nullptr};
  std::array<std::atomic<const Planned*>, kPlans> plans_{};
  std::mutex changing_limit_;
  // Plans are kept as long as the limiter: somebody may be in the middle of a decision by an old
  // one.
  std::vector<std::unique_ptr<const Planned>> all_plans_;      // guarded by changing_limit_
  std::vector<std::unique_ptr<const Lane<State>>> all_lanes_;  // guarded by changing_limit_
};

}  // namespace weir
