// A value that one thread replaces now and then and all others read all the time, without waiting.
//
// A reader writes down what it is looking at; who replaces the value keeps the old one until nobody
// has it written down any more. So reading is a few instructions on a line of its own, never a lock
// and never a count that all cores fight for, and no reader ever frees anything.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"

namespace weir {

template <typename T>
class Published {
  struct alignas(64) Note {
    std::atomic<bool> taken{false};
    std::atomic<const T*> reading{nullptr};
  };

 public:
  explicit Published(std::unique_ptr<const T> first) : owned_(std::move(first)) {
    WEIR_CHECK(owned_ != nullptr);
    current_.store(owned_.get(), std::memory_order_release);
  }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  // What was published last when it was read; it stays as it is, and alive, as long as this does.
  class Reading {
   public:
    Reading(Reading&& other) noexcept
        : note_(std::exchange(other.note_, nullptr)), value_(other.value_) {}
    Reading& operator=(Reading&&) = delete;
    ~Reading() {
      if (note_ == nullptr) return;
      note_->reading.store(nullptr, std::memory_order_release);
      note_->taken.store(false, std::memory_order_release);
    }
    const T& operator*() const noexcept { return *value_; }
    const T* operator->() const noexcept { return value_; }

   private:
    friend class Published;
    Reading(Note& note, const T* value) : note_(&note), value_(value) {}
    Note* note_;
    const T* value_;
  };

  // A Reading must not outlive this.
  [[nodiscard]] Reading Read() const {
    Note& note = TakeNote();
    const T* value = current_.load(std::memory_order_acquire);
    for (;;) {
      // Written down before it is looked at again: who replaces it sees the note, or we see the new
      // value.
      note.reading.store(value, std::memory_order_seq_cst);
      const T* again = current_.load(std::memory_order_seq_cst);
      if (again == value) return Reading(note, value);
      value = again;
    }
  }

  // Whether nothing was published since.
  [[nodiscard]] bool IsCurrent(const Reading& reading) const noexcept {
    return current_.load(std::memory_order_acquire) == reading.value_;
  }

  // Readers that come later get `next`. Older values that nobody reads any more are freed.
  void Publish(std::unique_ptr<const T> next) {
    WEIR_CHECK(next != nullptr);
    const std::lock_guard lock(publishing_);
    current_.store(next.get(), std::memory_order_seq_cst);
    replaced_.push_back(std::exchange(owned_, std::move(next)));
    std::erase_if(replaced_, [this](const auto& value) { return !IsRead(value.get()); });
  }

  // Values that were replaced and are still being read, or were when the last one was published.
  [[nodiscard]] std::size_t replaced() const {
    const std::lock_guard lock(publishing_);
    return replaced_.size();
  }

 private:
  static constexpr std::size_t kNotes = 64;
  // Notes for as many readers as there ever were at a time; more are added when all are taken.
  struct Pad {
    std::array<Note, kNotes> notes;
    std::atomic<Pad*> next{nullptr};
    ~Pad() { delete next.load(std::memory_order_relaxed); }
  };

  // Where a thread took its last note. It comes back to the same one, which is still in its cache,
  // or goes on from there: those behind it were taken longer ago, and are free more likely.
  struct Place {
    std::uint64_t of = 0;  // whose note it was
    Pad* pad = nullptr;
    std::size_t index = 0;
  };

  Note& TakeNote() const {
    thread_local Place place;
    if (place.of != number_) {
      place = {number_, &pad_, std::hash<std::thread::id>{}(std::this_thread::get_id()) % kNotes};
    }
    std::size_t looks = 0;  // on this pad
    bool went_round = false;
    for (;; place.index = (place.index + 1) % kNotes) {
      Note& note = place.pad->notes[place.index];
      bool taken = note.taken.load(std::memory_order_relaxed);
      if (!taken && note.taken.compare_exchange_strong(taken, true, std::memory_order_acquire)) {
        return note;
      }
      if (++looks < kNotes) continue;
      looks = 0;
      place.pad = NextPad(*place.pad, went_round);
    }
  }
  // Behind the last pad comes the first; a new one is made for who went all the way round in vain.
  Pad* NextPad(Pad& pad, bool& went_round) const {
    if (Pad* next = pad.next.load(std::memory_order_acquire); next != nullptr) return next;
    return std::exchange(went_round, true) ? NextOf(pad) : &pad_;
  }
  static Pad* NextOf(Pad& pad) {
    Pad* next = pad.next.load(std::memory_order_acquire);
    if (next != nullptr) return next;
    auto fresh = std::make_unique<Pad>();
    if (pad.next.compare_exchange_strong(next, fresh.get(), std::memory_order_seq_cst)) {
      return fresh.release();
    }
    return next;  // somebody else was first
  }
  [[nodiscard]] bool IsRead(const T* value) const noexcept {
    for (const Pad* pad = &pad_; pad != nullptr; pad = pad->next.load(std::memory_order_seq_cst)) {
      for (const Note& note : pad->notes) {
        if (note.reading.load(std::memory_order_seq_cst) == value) return true;
      }
    }
    return false;
  }

  static std::uint64_t NextNumber() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  const std::uint64_t number_ = NextNumber();  // no other has had it
  mutable Pad pad_;
  std::atomic<const T*> current_;
  mutable std::mutex publishing_;
  std::unique_ptr<const T> owned_;                  // guarded by publishing_
  std::vector<std::unique_ptr<const T>> replaced_;  // guarded by publishing_
};

}  // namespace weir
