#include "table/records.h"

#include <algorithm>

#include "base/check.h"
#include "base/time.h"
#include "table/owner.h"

namespace weir::table {
namespace {

constexpr int kForgottenBits = 47;
constexpr int kUnitBits = 15;  // 32 us

}  // namespace

RecordWord RecordWord::Of(std::uint64_t word) noexcept {
  const std::uint64_t units = word & ((std::uint64_t{1} << kForgottenBits) - 1);
  return {static_cast<std::uint32_t>(word >> 48), (word >> kForgottenBits & 1) != 0,
          ToInstant(units << kUnitBits)};
}

std::uint64_t RecordWord::word() const noexcept {
  const std::uint64_t unit = std::uint64_t{1} << kUnitBits;
  const std::uint64_t units =
      std::min((ToNanos(forgotten_at) + unit - 1) / unit, (std::uint64_t{1} << kForgottenBits) - 1);
  return std::uint64_t{owner} << 48 | std::uint64_t{blank} << kForgottenBits |
         (forgotten_at > Instant{} ? units : 0);
}

Nanos RecordWord::ForgottenIn(std::uint64_t word, Instant now) noexcept {
  const RecordWord record = Of(word);
  if (record.owner != 0) return Nanos::max();
  return std::max(Nanos(0), record.forgotten_at - std::max(now, Instant{}));
}

Records::Locked::Locked(Records& records, AtomicSlot& slot, RecordWord word) noexcept
    : records_(records),
      slot_(slot),
      word_(word),
      words_(records.RecordOf(records.table_.NumberOf(slot))) {
  word_.owner = 0;
  if (word_.blank) std::fill(words_.begin(), words_.end(), 0);
}

Records::Locked::~Locked() { slot_.word().store(word_.word(), std::memory_order_release); }

void Records::Locked::Show() noexcept {
  RecordWord mine = word_;
  mine.owner = records_.table_.memory().owner().number();
  slot_.word().store(mine.word(), std::memory_order_release);
}

std::span<std::uint64_t> Records::Locked::BeginRewrite() noexcept {
  word_.blank = true;
  Show();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return words_;
}

void Records::Locked::EndRewrite(Instant forgotten_at) noexcept {
  word_.blank = false;
  word_.forgotten_at = std::max(forgotten_at, Instant(Nanos(1)));
  Show();
}

void Records::Locked::Commit(std::span<const WordWrite> writes, Instant forgotten_at) noexcept {
  word_.blank = false;
  word_.forgotten_at = std::max(forgotten_at, Instant(Nanos(1)));
  if (!records_.table_.memory().is_file()) {
    for (const WordWrite& write : writes) words_[write.index] = write.value;
    return;
  }
  WEIR_CHECK(writes.size() <= kMaxWordWrites);
  Journal& journal = records_.ClaimJournal();
  journal.slot = records_.table_.NumberOf(slot_);
  journal.word = word_.word();
  journal.count = writes.size();
  std::copy(writes.begin(), writes.end(), journal.writes.begin());
  journal.complete.store(1, std::memory_order_release);  // from here on it will happen
  std::atomic_signal_fence(std::memory_order_seq_cst);
  for (const WordWrite& write : writes) words_[write.index] = write.value;
  // The journal is closed before the record is let go: a complete one says that its owner is still
  // at it.
  Show();
  journal.complete.store(0, std::memory_order_release);
  journal.owner.store(0, std::memory_order_release);
}

Records::Locked Records::Lock(const Key& key, Instant now) noexcept {
  const RecordWord added{table_.memory().owner().number(), true, Instant{}};
  for (;;) {
    AtomicSlot* slot = table_.Find(key, now);
    if (slot == nullptr) {
      slot = table_.Add(key, added.word(), now);
      if (slot != nullptr) return {*this, *slot, added};
      continue;
    }
    RecordWord word{};
    if (TryLock(*slot, key.tag, word)) return {*this, *slot, word};
  }
}

bool Records::TryLock(AtomicSlot& slot, std::uint64_t tag, RecordWord& word) noexcept {
  const Owner& me = table_.memory().owner();
  for (Backoff backoff;; backoff.Pause()) {
    const Slot seen = slot.Load();
    if (seen.tag != tag) return false;
    word = RecordWord::Of(seen.word);
    if (word.owner == 0) {
      if (slot.Swap(seen, {tag, seen.word | std::uint64_t{me.number()} << 48})) return true;
    } else if (backoff.IsSuspicious() && !me.IsAlive(word.owner)) {
      TakeOver(slot, word.owner);
    }
  }
}

void Records::TakeOver(AtomicSlot& slot, std::uint32_t dead) noexcept {
  Header& header = table_.memory().header();
  const OwnerLock alone(header.recovery, table_.memory().owner());
  for (Journal& journal : header.journals) {
    if (journal.owner.load(std::memory_order_acquire) == dead) Replay(journal);
  }
  // It had not got that far: what it found is still there.
  std::uint64_t word = slot.word().load(std::memory_order_acquire);
  RecordWord record = RecordWord::Of(word);
  if (record.owner != dead) return;
  slot.word().compare_exchange_strong(word, word & ((std::uint64_t{1} << 48) - 1),
                                      std::memory_order_acq_rel);
}

// REQUIRES: the owner of the journal is dead, and the recovery lock is held.
void Records::Replay(Journal& journal) noexcept {
  const auto fits = [this](const WordWrite& write) { return write.index < stride_; };
  const bool sane =
      journal.slot < table_.slot_count() && journal.count <= kMaxWordWrites &&
      std::all_of(journal.writes.begin(), journal.writes.begin() + journal.count, fits);
  if (sane && journal.complete.load(std::memory_order_acquire) != 0) {
    AtomicSlot& changed = table_.SlotAt(journal.slot);
    // If the slot is not its own any more, all was done but for saying so.
    const std::uint64_t word = changed.word().load(std::memory_order_acquire);
    if (RecordWord::Of(word).owner == journal.owner.load(std::memory_order_relaxed)) {
      const std::span<std::uint64_t> words = RecordOf(journal.slot);
      for (std::size_t i = 0; i < journal.count; ++i) {
        words[journal.writes[i].index] = journal.writes[i].value;
      }
      changed.word().store(journal.word, std::memory_order_release);
    }
  }
  journal.complete.store(0, std::memory_order_release);
  journal.owner.store(0, std::memory_order_release);
}

Journal& Records::ClaimJournal() noexcept {
  Header& header = table_.memory().header();
  const Owner& me = table_.memory().owner();
  for (Backoff backoff;; backoff.Pause()) {
    for (Journal& journal : header.journals) {
      std::uint32_t holder = 0;
      if (journal.owner.compare_exchange_strong(holder, me.number(), std::memory_order_acq_rel)) {
        return journal;
      }
      if (!backoff.IsSuspicious() || me.IsAlive(holder)) continue;
      const OwnerLock alone(header.recovery, me);
      if (journal.owner.load(std::memory_order_acquire) == holder) Replay(journal);
    }
  }
}

}  // namespace weir::table
