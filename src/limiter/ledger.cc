#include "limiter/ledger.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "limiter/geometry.h"
#include "limiter/key_hash.h"
#include "limiter/note_clock.h"
#include "limiter/refund.h"
#include "weir/take_all.h"

namespace weir {

using algorithm::Plan;
using table::Geometry;
using table::Memory;

namespace {

constexpr std::uint16_t kCellKind = 0xFFFF;
constexpr std::uint32_t kMostKinds = kCellKind - 1;

}  // namespace

// One table, and all plans that its keys may be under.
class Ledger::Shelf final : public KeyStates {
 public:
  Shelf(Memory memory, const Directory& directory)
      : KeyStates(std::move(memory)), directory_(directory) {}

  [[nodiscard]] table::Memory& memory() { return table_.memory(); }

  // Runs `step(word)` on the word of a key whose limit comes with each request.
  template <typename Step>
  void ChangeCell(KeyHash hash, Instant now, const Step& step) noexcept {
    const table::Table::Map map = table_.map();
    const table::Key key = map.KeyOf(hash.low, hash.high, kCellKind);
    if (table::AtomicSlot* slot = map.Look(key)) {
      if (table::Table::TryUpdate(*slot, key.tag, step)) return;
    }
    table_.Update(key, now, [&](std::uint64_t& word, std::uint16_t /*kind*/) { step(word); });
  }

  Nanos ForgottenIn(std::uint16_t kind, std::uint64_t word, Instant now) const override {
    if (kind == kCellKind && !records_) return algorithm::Cell::ForgottenIn(word, now);
    return KeyStates::ForgottenIn(kind, word, now);
  }

  // Marks the kinds that a key is remembered under.
  void NoteKinds(std::vector<bool>& in_use) {
    table_.ForEach([&](table::AtomicSlot& slot) {
      if (!records_) {
        in_use[table::KindOf(slot.tag())] = true;
        return;
      }
      records_->Visit(slot, [&](const table::Records::Locked& record) {
        in_use[record.words()[0] & table::kKindMask] = true;
      });
    });
  }

 private:
  const Planned* Known(std::uint16_t kind) const noexcept override {
    return directory_[kind].load(std::memory_order_acquire);
  }
  const Planned& Latest(const Planned& planned) const noexcept override { return planned; }

  const Directory& directory_;
};

Ledger::Entered::Entered(Plan plan, std::uint16_t kind, Shelf& shelf, Limit limit)
    : planned_(std::move(plan), kind, !shelf.has_records()),
      shelf_(&shelf),
      limit_(std::move(limit)) {}

Ledger::Ledger(LedgerOptions options)
    : options_(std::move(options)), directory_(std::make_unique<Directory>()) {}
Ledger::~Ledger() = default;

Result<std::unique_ptr<Ledger>> Ledger::Open(LedgerOptions options) {
  std::unique_ptr<Ledger> ledger(new Ledger(std::move(options)));
  if (!ledger->options_.folder.empty()) {
    Result<std::unique_ptr<LimitFile>> file = LimitFile::Open(ledger->options_.folder);
    if (!file) return file.error();
    ledger->file_ = std::move(*file);
  }
  const Result<Shelf*> words = ledger->ShelfFor(1);
  if (!words) return words.error();
  ledger->words_ = *words;
  Memory& memory = (*words)->memory();
  ledger->seed_ = memory.header().identity.hash_seed;
  ledger->timeline_.emplace(memory.header().timeline, Nanos(0));
  if (ledger->file_ == nullptr) return ledger;

  {
    const Memory::Administration administration(memory);
    table::Note note = memory.CurrentNote();
    const std::int64_t before = note.wall_minus_boot_ns;
    SetClock(note, memory);
    if (note.sequence == 0 || note.wall_minus_boot_ns != before) memory.WriteNote(note);
    ledger->wall_minus_boot_ = Nanos(note.wall_minus_boot_ns);
  }
  const std::lock_guard lock(ledger->entering_);
  for (const auto& [kind, text] : ledger->file_->lines()) {
    const Result<Limit> limit = Limit::Parse(text);
    if (!limit) return Error{ledger->options_.folder + "/limits.txt: " + limit.error().message};
    const Result<LimitHandle> entered = ledger->EnterAs(*limit, text, kind);
    if (!entered) return entered.error();
    ledger->last_kind_ = std::max<std::uint32_t>(ledger->last_kind_, kind);
  }
  return ledger;
}

// Records of a few sizes, each four times the one before: a table for each would be too many, and
// one for all would waste most of its memory.
Result<Ledger::Shelf*> Ledger::ShelfFor(std::size_t words) {
  std::size_t record_words = 0;
  std::uint64_t keys = options_.max_keys;
  if (words > 1) {
    record_words = 4;
    // One word of each record is its kind.
    while (record_words < words + 1) {
      record_words *= 4;
      keys /= 4;
    }
    keys = std::max<std::uint64_t>(keys, std::min<std::uint64_t>(options_.max_keys, 64));
  }
  std::unique_ptr<Shelf>& shelf = shelves_[record_words];
  if (shelf == nullptr) {
    const Result<Geometry> geometry = GeometryFor(keys, options_.fill, record_words);
    if (!geometry) return geometry.error();
    const std::string name =
        record_words == 0 ? "words" : "records-" + std::to_string(record_words);
    Result<Memory> memory = options_.folder.empty()
                                ? Memory::Anonymous(*geometry)
                                : Memory::File(options_.folder + "/" + name + ".table", *geometry);
    if (!memory) return memory.error();
    const std::size_t count = shelf_count_.load(std::memory_order_relaxed);
    if (count == all_shelves_.size()) return Error{"the limit needs too much memory for a key"};
    shelf = std::make_unique<Shelf>(std::move(*memory), *directory_);
    all_shelves_[count].store(shelf.get(), std::memory_order_relaxed);
    shelf_count_.store(count + 1, std::memory_order_release);
  }
  return shelf.get();
}

Result<Ledger::LimitHandle> Ledger::Enter(const Limit& limit) {
  std::string text = limit.ToString();
  const std::lock_guard lock(entering_);
  if (const auto known = entered_.find(text); known != entered_.end()) return known->second;
  const std::optional<std::uint16_t> kind = FreeKind();
  if (!kind) {
    return Error{"there are 65534 different limits in use, and no room for '" + text +
                 "': use fewer"};
  }
  if (auto wrong = limit.WhatIsWrong()) return *wrong;
  if (file_ != nullptr) {
    if (const Result<bool> added = file_->Add(*kind, text); !added) return added.error();
  }
  return EnterAs(limit, std::move(text), *kind);
}

Result<Ledger::LimitHandle> Ledger::EnterAs(const Limit& limit, std::string text,
                                            std::uint16_t kind) {
  Result<Plan> plan = Plan::Of(limit);
  if (!plan) return plan.error();
  const Result<Shelf*> shelf = ShelfFor(plan->words());
  if (!shelf) return shelf.error();
  memory_ = std::max(memory_, plan->memory());
  timeline_->set_memory(memory_);
  auto entered = std::make_shared<const Entered>(std::move(*plan), kind, **shelf, limit);
  (*directory_)[kind].store(&entered->planned_, std::memory_order_release);
  entered_.insert_or_assign(std::move(text), entered);
  return LimitHandle(std::move(entered));
}

// Kinds are given out in turn, so that one which was forgotten is not used again for long.
std::optional<std::uint16_t> Ledger::FreeKind() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (std::uint32_t tried = 0; tried < kMostKinds; ++tried) {
      last_kind_ = last_kind_ % kMostKinds + 1;
      if ((*directory_)[last_kind_].load(std::memory_order_relaxed) == nullptr) {
        return static_cast<std::uint16_t>(last_kind_);
      }
    }
    ForgetUnusedKinds();
  }
  return std::nullopt;
}

// Nobody holds them, and no key was counted under them.
void Ledger::ForgetUnusedKinds() {
  std::vector<bool> in_use(directory_->size());
  for (const auto& [words, shelf] : shelves_) shelf->NoteKinds(in_use);
  LimitFile::Lines left;
  for (auto entry = entered_.begin(); entry != entered_.end();) {
    const std::uint16_t kind = entry->second->planned_.kind;
    if (in_use[kind] || entry->second.use_count() > 1) {
      left[kind] = entry->first;
      ++entry;
      continue;
    }
    (*directory_)[kind].store(nullptr, std::memory_order_release);
    entry = entered_.erase(entry);
  }
  // If it cannot be replaced, more lines than needed stay: the next for a kind counts.
  if (file_ != nullptr) static_cast<void>(file_->Replace(left).ok());
}

Ledger::Shelf& Ledger::ShelfOf(const Ask& ask, Instant now) noexcept {
  Shelf& shelf = *ask.limit->shelf_;
  if (shelf_count_.load(std::memory_order_acquire) > 1 && !shelf.Holds(ask.key))
    BringOver(ask, now);
  return shelf;
}

void Ledger::BringOver(const Ask& ask, Instant now) noexcept {
  for (std::size_t i = 0; i < shelf_count_.load(std::memory_order_acquire); ++i) {
    Shelf& other = *all_shelves_[i].load(std::memory_order_relaxed);
    if (&other == ask.limit->shelf_ || !other.Holds(ask.key)) continue;
    if (const auto parcel = other.Withdraw(ask.key, now)) {
      ask.limit->shelf_->Deposit(ask.limit->planned_, ask.key, *parcel, now);
    }
  }
}

template <typename Step>
auto Ledger::Change(const Ask& ask, Instant now, const Step& step) noexcept {
  return ShelfOf(ask, now).Change(ask.limit->planned_, ask.key, now, step);
}

Decision Ledger::Peek(const Ask& ask, Instant now) noexcept {
  const Timeline::Moment moment = timeline_->Follow(now);
  Decision decision = Change(ask, moment.now, [&](const Plan& plan, auto& state) {
    return plan.Peek(state, ask.cost, moment.now);
  });
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

Reservation Ledger::ReserveAt(const Ask& ask, Nanos patience, Timeline::Moment moment) noexcept {
  Reservation reservation = Change(ask, moment.now, [&](const Plan& plan, auto& state) {
    return plan.Reserve(state, ask.cost, moment.now, std::max(patience, Nanos(0)) - moment.ahead);
  });
  Timeline::Adjust(reservation.decision, moment.ahead);
  return reservation;
}

Reservation Ledger::Reserve(const Ask& ask, Instant now) noexcept {
  return ReserveAt(ask, ask.patience, timeline_->Follow(now));
}

Decision Ledger::TakeAll(std::span<const Ask> asks, std::span<Reservation> taken,
                         Instant now) noexcept {
  WEIR_CHECK(asks.size() == taken.size());
  const Timeline::Moment moment = timeline_->Follow(now);
  if (asks.size() == 1 && asks[0].patience == Nanos(0)) [[likely]] {
    // The one case that needs no second look, and is by far the most frequent.
    const Ask& ask = asks[0];
    Decision decision =
        ShelfOf(ask, moment.now).Take(ask.limit->planned_, ask.key, ask.cost, moment.now);
    Timeline::Adjust(decision, moment.ahead);
    taken[0] = {decision, decision.allowed() ? ask.cost : Permits{0}, moment.now};
    return decision;
  }
  const auto peek = [&](std::size_t i) {
    Decision decision = Peek(asks[i], now);
    if (decision.verdict == Verdict::kDeny && decision.retry_after <= asks[i].patience) {
      decision.verdict = Verdict::kAllow;  // it can be had, a little later
      decision.wait = std::exchange(decision.retry_after, Nanos(0));
    }
    return decision;
  };
  const auto reserve = [&](std::size_t i, Nanos patience) {
    return ReserveAt(asks[i], std::max(patience, asks[i].patience), moment);
  };
  const auto cancel = [&](std::size_t i, Reservation& reservation) {
    Cancel(asks[i], reservation, now);
  };
  return internal::TakeParts(taken, peek, reserve, cancel);
}

Decision Ledger::Charge(const Ask& ask, Instant now) noexcept {
  const Timeline::Moment moment = timeline_->Follow(now);
  Decision decision = Change(ask, moment.now, [&](const Plan& plan, auto& state) {
    return plan.Charge(state, ask.cost, moment.now);
  });
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

void Ledger::Refund(const Ask& ask, Instant now) noexcept {
  const Instant at = timeline_->Follow(now).now;
  RefundInSteps(ask.cost, [&](Permits left) {
    return Change(ask, at,
                  [&](const Plan& plan, auto& state) { return plan.Refund(state, left, at, at); });
  });
}

void Ledger::Cancel(const Ask& ask, Reservation& reservation, Instant now) noexcept {
  const Instant at = timeline_->Follow(now).now;
  const Permits cost = std::exchange(reservation.cost, Permits{0});
  RefundInSteps(cost, [&](Permits left) {
    return Change(ask, at, [&](const Plan& plan, auto& state) {
      return plan.Refund(state, left, at, reservation.taken);
    });
  });
}

Decision Ledger::TakeCell(KeyHash key, const algorithm::Cell& cell, Permits cost,
                          Instant now) noexcept {
  const Timeline::Moment moment = timeline_->Follow(now);
  Decision decision;
  words_->ChangeCell(key, moment.now,
                     [&](std::uint64_t& word) { decision = cell.Admit(word, cost, moment.now); });
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

void Ledger::ForgetCell(KeyHash key, Instant now) noexcept {
  words_->ChangeCell(key, timeline_->Follow(now).now, [](std::uint64_t& word) { word = 0; });
}

KeyHash Ledger::Hash(std::string_view bytes) const noexcept { return HashKey(bytes, seed_); }

Instant Ledger::Now() const noexcept {
  return wall_minus_boot_ ? Instant(BootTime() + *wall_minus_boot_) : Clock::now();
}

std::uint64_t Ledger::evicted() const noexcept {
  const std::lock_guard lock(entering_);
  std::uint64_t count = 0;
  for (const auto& [words, shelf] : shelves_) count += shelf->evicted();
  return count;
}

std::size_t Ledger::bytes() const noexcept {
  const std::lock_guard lock(entering_);
  std::size_t bytes = 0;
  for (const auto& [words, shelf] : shelves_) bytes += shelf->bytes();
  return bytes;
}

std::uint64_t Ledger::CountKeys(Instant now) noexcept {
  const std::lock_guard lock(entering_);
  std::uint64_t count = 0;
  for (const auto& [words, shelf] : shelves_) count += shelf->CountKeys(now);
  return count;
}

}  // namespace weir
