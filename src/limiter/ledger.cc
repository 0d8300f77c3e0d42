#include "limiter/ledger.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "limiter/geometry.h"
#include "limiter/key_hash.h"
#include "limiter/ledger_shelf.h"
#include "limiter/note_clock.h"
#include "limiter/refund.h"

namespace weir {

using algorithm::Plan;
using table::Geometry;
using table::Memory;

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
    if (kind > Shelf::kMostKinds || ledger->entered_.contains(text)) continue;
    // One that cannot be had (no room for its table) has no keys either.
    if (ledger->EnterAs(*limit, text, kind).ok()) {
      ledger->last_kind_ = std::max<std::uint32_t>(ledger->last_kind_, kind);
    }
  }
  if (!ledger->file_->IsOf(ledger->seed_)) {
    // The limits were lost, or never there: what cannot be read must not be read by other limits.
    ledger->ForgetUnusedKinds();
    if (const Result<bool> claimed = ledger->file_->Claim(ledger->seed_); !claimed) {
      return claimed.error();
    }
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
    while (record_words < words + 1) record_words *= 4;  // one of them is its kind
    constexpr std::uint64_t kFewest = 64;
    const std::uint64_t fitting = options_.record_bytes / ((record_words + 2) * 8 * 3 / 2);
    keys = std::min(keys, std::max(fitting, kFewest));
  }
  if (const auto known = shelves_.find(record_words); known != shelves_.end()) {
    return known->second.get();
  }
  const std::size_t count = shelf_count_.load(std::memory_order_relaxed);
  if (count == all_shelves_.size()) return Error{"the limit needs too much memory for a key"};
  const Result<Geometry> geometry = GeometryFor(keys, options_.fill, record_words);
  if (!geometry) return geometry.error();
  const std::string name = record_words == 0 ? "words" : "records-" + std::to_string(record_words);
  Result<Memory> memory = options_.folder.empty()
                              ? Memory::Anonymous(*geometry)
                              : Memory::File(options_.folder + "/" + name + ".table", *geometry);
  if (!memory) return memory.error();
  auto shelf = std::make_unique<Shelf>(std::move(*memory), *directory_);
  all_shelves_[count].store(shelf.get(), std::memory_order_relaxed);
  shelf_count_.store(count + 1, std::memory_order_release);
  return shelves_.emplace(record_words, std::move(shelf)).first->second.get();
}

void Ledger::WaitAsLongAs(const Plan& plan) {
  memory_ = std::max(memory_, plan.memory());
  timeline_->set_memory(memory_);
}

Result<Ledger::LimitHandle> Ledger::Enter(const Limit& limit, Entering entering) {
  std::string text = limit.ToString();
  const std::lock_guard lock(entering_);
  if (const auto known = entered_.find(text); known != entered_.end()) {
    if (entering == Entering::kToUse) WaitAsLongAs(known->second->planned_.plan);
    return known->second;
  }
  const std::optional<std::uint16_t> kind = FreeKind();
  if (!kind) {
    return Error{"there are 65534 different limits in use, and no room for '" + text +
                 "': use fewer"};
  }
  const Result<Plan> plan = Plan::Of(limit);
  if (!plan) return plan.error();
  // Its table first: a limit is written down only if keys can be counted under it.
  if (const Result<Shelf*> shelf = ShelfFor(plan->words()); !shelf) return shelf.error();
  if (file_ != nullptr) {
    if (const Result<bool> added = file_->Add(*kind, text); !added) return added.error();
  }
  if (entering == Entering::kToUse) WaitAsLongAs(*plan);
  return EnterAs(limit, std::move(text), *kind);
}

Result<Ledger::LimitHandle> Ledger::EnterAs(const Limit& limit, std::string text,
                                            std::uint16_t kind) {
  Result<Plan> plan = Plan::Of(limit);
  if (!plan) return plan.error();
  const Result<Shelf*> shelf = ShelfFor(plan->words());
  if (!shelf) return shelf.error();
  auto entered = std::make_shared<const Entered>(std::move(*plan), kind, **shelf, limit);
  (*directory_)[kind].store(&entered->planned_, std::memory_order_release);
  entered_.insert_or_assign(std::move(text), entered);
  return LimitHandle(std::move(entered));
}

// Kinds are given out in turn, so that one which was forgotten is not used again for long.
std::optional<std::uint16_t> Ledger::FreeKind() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (std::uint32_t tried = 0; tried < Shelf::kMostKinds; ++tried) {
      last_kind_ = last_kind_ % Shelf::kMostKinds + 1;
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
  // Looked at before the tables: who holds one now may count a key under it behind our back.
  for (const auto& [text, entered] : entered_) {
    if (entered.use_count() > 1) in_use[entered->planned_.kind] = true;
  }
  // By the time that keys were counted at, which may be another than ours.
  const std::int64_t latest = words_->memory().header().timeline.latest_ns.load();
  const Instant now = latest > 0 ? Instant(Nanos(latest)) : Now();
  for (const auto& [words, shelf] : shelves_) shelf->NoteKinds(in_use, now);
  LimitFile::Lines left;
  forgotten_.clear();  // those of the last time: nobody can be looking at them any more
  for (auto entry = entered_.begin(); entry != entered_.end();) {
    const std::uint16_t kind = entry->second->planned_.kind;
    if (in_use[kind]) {
      left[kind] = entry->first;
      ++entry;
      continue;
    }
    (*directory_)[kind].store(nullptr, std::memory_order_release);
    forgotten_.push_back(std::move(entry->second));
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
    if (const auto parcel = other.Copy(ask.key)) {
      ask.limit->shelf_->Deposit(ask.limit->planned_, ask.key, *parcel, now);
      other.Forget(ask.key);
    }
  }
}

Decision Ledger::Peek(const Ask& ask, Instant now) noexcept {
  const Timeline::Moment moment = timeline_->FollowClock(now);
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
  return ReserveAt(ask, ask.patience, timeline_->FollowClock(now));
}

Decision Ledger::Charge(const Ask& ask, Instant now) noexcept {
  const Timeline::Moment moment = timeline_->FollowClock(now);
  Decision decision = Change(ask, moment.now, [&](const Plan& plan, auto& state) {
    return plan.Charge(state, ask.cost, moment.now);
  });
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

void Ledger::Refund(const Ask& ask, Instant now) noexcept {
  const Instant at = timeline_->FollowClock(now).now;
  RefundInSteps(ask.cost, [&](Permits left) {
    return Change(ask, at,
                  [&](const Plan& plan, auto& state) { return plan.Refund(state, left, at, at); });
  });
}

void Ledger::Cancel(const Ask& ask, Reservation& reservation, Instant now) noexcept {
  const Instant at = timeline_->FollowClock(now).now;
  const Permits cost = std::exchange(reservation.cost, Permits{0});
  RefundInSteps(cost, [&](Permits left) {
    return Change(ask, at, [&](const Plan& plan, auto& state) {
      return plan.Refund(state, left, at, reservation.taken);
    });
  });
}

void Ledger::Forget(KeyHash key) noexcept {
  for (std::size_t i = 0; i < shelf_count_.load(std::memory_order_acquire); ++i) {
    all_shelves_[i].load(std::memory_order_relaxed)->Forget(key);
  }
}

Decision Ledger::TakeCell(KeyHash key, const algorithm::Cell& cell, Permits cost,
                          Instant now) noexcept {
  const Timeline::Moment moment = timeline_->FollowClock(now);
  Decision decision;
  words_->ChangeCell(key, moment.now,
                     [&](std::uint64_t& word) { decision = cell.Admit(word, cost, moment.now); });
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

void Ledger::ForgetCell(KeyHash key, Instant now) noexcept {
  words_->ChangeCell(key, timeline_->FollowClock(now).now, [](std::uint64_t& word) { word = 0; });
}

void Ledger::Prefetch(KeyHash key) const noexcept {
  const table::Table::Map map = words_->map();
  map.Prefetch(map.KeyOf(key.low, key.high, Shelf::kCellKind));  // a line, whatever the kind
}

KeyHash Ledger::Hash(std::string_view bytes) const noexcept { return HashKey(bytes, seed_); }

Instant Ledger::Now() const noexcept {
  return wall_minus_boot_ ? Instant(BootTime() + *wall_minus_boot_) : Clock::now();
}

template <typename Count>
std::uint64_t Ledger::SumOverShelves(const Count& count) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < shelf_count_.load(std::memory_order_acquire); ++i) {
    sum += count(*all_shelves_[i].load(std::memory_order_relaxed));
  }
  return sum;
}

std::uint64_t Ledger::evicted() const noexcept {
  return SumOverShelves([](const Shelf& shelf) { return shelf.evicted(); });
}
std::size_t Ledger::bytes() const noexcept {
  return SumOverShelves([](Shelf& shelf) { return shelf.bytes(); });
}
std::uint64_t Ledger::CountKeys(Instant now) noexcept {
  return SumOverShelves([now](Shelf& shelf) { return shelf.CountKeys(now); });
}
KeyStates::Fill Ledger::EstimateFill(Instant now) noexcept {
  KeyStates::Fill all;
  SumOverShelves([&](Shelf& shelf) {
    const KeyStates::Fill fill = shelf.EstimateFill(now);
    all.slots += fill.slots;
    return all.keys += fill.keys;
  });
  return all;
}

}  // namespace weir
