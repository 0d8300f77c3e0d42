// Records: state per key that takes more than one word.
//
// The slots of the table stay as they are; beside each lies a record of a fixed number of words.
// The word of a slot then says who is changing the record, whether it holds anything yet, and until
// when it is worth keeping:
//
//     owner (16 bits) | blank (1 bit) | forgotten at, in units of 32 us (47 bits)
//
// A record is changed under that lock, all or nothing. In a file the changes are first put into a
// journal: a process that is killed before they are complete there has changed nothing, and one
// that is killed later has its changes finished by whoever finds the lock.
#pragma once

#include <cstdint>
#include <span>

#include "base/word_write.h"
#include "table/table.h"

namespace weir::table {

// The word of a slot that has a record.
struct RecordWord {
  std::uint32_t owner;   // 0: nobody
  bool blank;            // what lies in the record is left over from another key
  Instant forgotten_at;  // rounded up

  static RecordWord Of(std::uint64_t word) noexcept;
  [[nodiscard]] std::uint64_t word() const noexcept;
  // For a Tenancy: how long it will be remembered. Who is being changed cannot be thrown out.
  static Nanos ForgottenIn(std::uint64_t word, Instant now) noexcept;
};

class Records {
 public:
  explicit Records(Table& table)
      : table_(table),
        words_(table.memory().records()),
        stride_(table.memory().header().identity.geometry.record_words) {}

  // The record of one key, which nobody else can see or change meanwhile.
  class Locked {
   public:
    ~Locked();
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

    [[nodiscard]] std::span<const std::uint64_t> words() const noexcept { return words_; }
    // For whoever replaces a record as a whole, between these two. A process that is killed in
    // between leaves a blank one.
    std::span<std::uint64_t> BeginRewrite() noexcept;
    void EndRewrite(Instant forgotten_at) noexcept;
    // Changes the record, and says how long it is worth keeping from now on.
    void Commit(std::span<const WordWrite> writes, Instant forgotten_at) noexcept;

   private:
    friend class Records;
    void Show() noexcept;  // what is under way, to whoever may have to finish it
    Locked(Records& records, AtomicSlot& slot, RecordWord word) noexcept;

    Records& records_;
    AtomicSlot& slot_;
    RecordWord word_;  // to be put back, without owner
    std::span<std::uint64_t> words_;
  };

  // Adds the key if it is not there.
  [[nodiscard]] Locked Lock(const Key& key, Instant now) noexcept;
  // Runs `change(record)` on the record of a slot, if it is in use.
  template <typename Change>
  void Visit(AtomicSlot& slot, const Change& change) noexcept {
    RecordWord word{};
    const std::uint64_t tag = slot.tag();
    if (tag == 0 || !TryLock(slot, tag, word)) return;
    Locked locked(*this, slot, word);
    change(locked);
  }

 private:
  bool TryLock(AtomicSlot& slot, std::uint64_t tag, RecordWord& word) noexcept;
  // Finishes or undoes what a dead process left of this slot.
  void TakeOver(AtomicSlot& slot, std::uint32_t dead) noexcept;
  Journal& ClaimJournal() noexcept;
  void Replay(Journal& journal) noexcept;
  [[nodiscard]] std::span<std::uint64_t> RecordOf(std::size_t slot_number) const noexcept {
    return {words_ + slot_number * stride_, stride_};
  }

  Table& table_;
  std::uint64_t* words_;
  std::size_t stride_;
};

}  // namespace weir::table
