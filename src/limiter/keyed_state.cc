#include "limiter/keyed_state.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/time.h"
#include "limiter/elastic.h"
#include "limiter/geometry.h"
#include "limiter/note_clock.h"

namespace weir {

using algorithm::Plan;
using table::Geometry;

using table::Memory;
using table::Note;
using table::Slot;

KeyedLimiter::State::State(Memory memory, Plan plan, std::uint16_t kind,
                           std::function<bool()> has_room)
    : KeyStates(std::move(memory)),
      timeline_(table_.memory().header().timeline, plan.memory()),
      seed_(table_.memory().header().identity.hash_seed),
      has_room_(std::move(has_room)) {
  Publish(std::move(plan), kind);
}

// A change of limits that was cut short is finished before the next one begins: by opening the file
// with the limit it was changed to.
std::optional<Error> KeyedLimiter::State::FinishChange(const Limit& limit,
                                                       const KeyedOptions& options,
                                                       const Geometry& geometry) {
  std::string unfinished;
  {
    const Result<Memory> memory = Memory::File(options.file, geometry);
    if (!memory) return memory.error();
    if (memory->PreviousNote().sequence != 0)
      unfinished = table::TextOf(memory->CurrentNote().limit);
  }
  if (unfinished.empty() || unfinished == limit.ToString()) return std::nullopt;
  const Result<Limit> changed_to = Limit::Parse(unfinished);
  if (!changed_to) return Error{options.file + ": " + changed_to.error().message};
  const Result<std::unique_ptr<State>> state = Open(*changed_to, options);
  if (!state) return state.error();
  return std::nullopt;
}

Result<std::unique_ptr<KeyedLimiter::State>> KeyedLimiter::State::Open(const Limit& limit,
                                                                       KeyedOptions options) {
  Result<Plan> plan = Plan::Of(limit);
  if (!plan) return plan.error();
  const Result<Geometry> geometry =
      GeometryFor(options.max_keys, options.fill, plan->words() > 1 ? 1 + plan->words() : 0);
  if (!geometry) return geometry.error();
  if (!options.file.empty()) {
    if (auto problem = FinishChange(limit, options, *geometry)) return *problem;
  }
  Result<Memory> memory =
      options.file.empty() ? Memory::Anonymous(*geometry) : Memory::File(options.file, *geometry);
  if (!memory) return memory.error();

  const std::string text = limit.ToString();
  if (text.size() >= Note{}.limit.size()) {
    return Error{"the limit is too long to be kept with the table: " + text};
  }
  const Memory::Administration administration(*memory);
  const Note before = memory->CurrentNote();
  Note note = before;
  SetClock(note, *memory);
  const bool changed = before.sequence == 0 || table::TextOf(before.limit) != text;
  if (changed) {
    if (before.sequence != 0 && !memory->owner().IsAlone()) {
      return Error{options.file + ": is in use with the limit '" + table::TextOf(before.limit) +
                   "': open it with the same one, or when nobody else has it open"};
    }
    note.kind = before.kind % 0xFFFF + 1;
    table::CopyText(text, note.limit);
  }
  if (changed || note.wall_minus_boot_ns != before.wall_minus_boot_ns) memory->WriteNote(note);
  const Note previous = memory->PreviousNote();

  std::unique_ptr<State> state(new State(std::move(*memory), std::move(*plan),
                                         static_cast<std::uint16_t>(note.kind),
                                         std::move(options.has_room)));
  if (!options.file.empty()) state->wall_minus_boot_ = Nanos(note.wall_minus_boot_ns);
  // What was counted under the limit before is carried over, also if that was cut short last time.
  if (previous.sequence != 0) {
    const std::size_t room = std::max<std::size_t>(state->blank_.size(), 2) - 1;
    const Result<Limit> old_limit = Limit::Parse(table::TextOf(previous.limit));
    if (!old_limit) return Error{options.file + ": " + old_limit.error().message};
    Plan old_plan = Plan::Of(*old_limit).value();
    if (old_plan.words() > room) return Error{options.file + ": is damaged: its limits do not fit"};
    state->Remember(std::move(old_plan), static_cast<std::uint16_t>(previous.kind));
    if (state->table_.memory().owner().IsAlone()) state->Sweep(state->LastSeen());
  }
  return state;
}

Instant KeyedLimiter::State::LastSeen() {
  const std::int64_t latest =
      table_.memory().header().timeline.latest_ns.load(std::memory_order_relaxed);
  return latest > 0 ? Instant(Nanos(latest)) : Now();
}

const Planned* KeyedLimiter::State::Remember(Plan plan, std::uint16_t kind) {
  all_plans_.push_back(
      std::make_unique<const Planned>(std::move(plan), kind, !records_.has_value()));
  plans_[kind % kPlans].store(all_plans_.back().get(), std::memory_order_release);
  return all_plans_.back().get();
}

void KeyedLimiter::State::Publish(Plan plan, std::uint16_t kind) {
  timeline_.set_memory(plan.memory());
  const Planned* planned = Remember(std::move(plan), kind);
  // An elastic limiter has more to say to a refusal.
  const bool is_quick = !has_room_ && !records_;
  all_lanes_.push_back(
      std::make_unique<const Lane<State>>(table_.map(), kind, table_.memory().header().timeline,
                                          is_quick ? planned->plain : std::nullopt, *this));
  current_.store(planned, std::memory_order_release);
  // Last: who finds a key beside the new lane has to find the new plan.
  lane_.store(all_lanes_.back().get(), std::memory_order_release);
}

Decision KeyedLimiter::State::TakeBesideLane(table::Key key, Permits cost, Instant now) noexcept {
  const Timeline::Moment moment = timeline_.Follow(now);
  const Planned& planned = current();
  key.tag = table::MakeTag(key.tag, KindOf(planned));
  Decision decision = TakeNearby(planned, key, cost, moment.now);
  if (decision.verdict == Verdict::kDeny) Stretch(decision, has_room_);
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

Result<Limit> KeyedLimiter::State::SetLimit(const Limit& limit, Instant now) {
  Result<Plan> plan = Plan::Of(limit);
  if (!plan) return plan.error();
  const std::lock_guard lock(changing_limit_);
  Memory& memory = table_.memory();
  const std::size_t room = records_ ? memory.header().identity.geometry.record_words - 1 : 1;
  if (plan->words() > room) {
    return Error{"the limit needs " + std::to_string(plan->words()) +
                 " words per key and the table was made for " + std::to_string(room) +
                 ": make another limiter for it"};
  }
  const std::string text = limit.ToString();
  if (text.size() >= Note{}.limit.size()) return Error{"the limit is too long: " + text};
  {
    const Memory::Administration administration(memory);
    if (!memory.owner().IsAlone()) {
      return Error{"the limit of a file that other processes have open cannot be changed"};
    }
    Note note = memory.CurrentNote();
    note.kind = note.kind % 0xFFFF + 1;
    table::CopyText(text, note.limit);
    memory.WriteNote(note);
    Publish(std::move(*plan), static_cast<std::uint16_t>(note.kind));
  }
  Sweep(timeline_.Follow(now).now);
  return limit;
}

// Carries over every key that nobody has asked for since the limit was changed.
void KeyedLimiter::State::Sweep(Instant now) {
  const Planned& current = this->current();
  table_.ForEach([&](table::AtomicSlot& slot) {
    if (records_) {
      records_->Visit(slot,
                      [&](table::Records::Locked& record) { CarryRecord(record, current, now); });
      return;
    }
    for (Slot old = slot.Load(); old.tag != 0 && table::KindOf(old.tag) != current.kind;
         old = slot.Load()) {
      const Slot renewed{(old.tag & ~table::kKindMask) | current.kind,
                         Renew(table::KindOf(old.tag), old.word, current.kind, now)};
      if (slot.Swap(old, renewed)) break;
    }
  });
  table_.memory().ForgetOlderNotes();  // nothing is left of the limits before
}

}  // namespace weir
