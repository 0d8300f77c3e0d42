// Counters that any number of threads count in and that cost each of them a few instructions.
//
// Every thread counts in memory of its own, so that counting is a plain addition: no locked
// instruction, no cache line that goes back and forth. Who reads adds up what all threads have.
//
//             pad 0      pad 1
//   thread 0  [lines]    [lines]    a line: eight counters that belong together, one line of cache
//   thread 1  [lines]               made when the thread first counts there
//   ...
//
// Pads are never moved or freed before the end, so a line stays valid as more are added. A thread
// that ends leaves what it has counted, and its memory goes to the next thread that begins.
//
// Thread safety: everything may be called by any number of threads at once.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace weir {

// A number for each thread that counts: small, its own while it lives, and then another's.
class ThreadNumber {
 public:
  // What threads beyond that many share; they count with locked instructions.
  static constexpr std::uint32_t kShared = 511;

  // Of a thread that has none yet. Above all others, so that one comparison tells who counts the
  // simple way.
  static constexpr std::uint32_t kNone = UINT32_MAX;

  static std::uint32_t IfTaken() noexcept { return mine; }
  static std::uint32_t Mine() noexcept { return mine != kNone ? mine : Take(); }

 private:
  struct Lease;
  static std::uint32_t Take() noexcept;
  // Known without a constructor, so that reading it is one instruction.
  static constinit thread_local std::uint32_t mine;
};

class CoreCounters {
 public:
  // Counters of one line.
  static constexpr std::size_t kColumns = 8;
  // Where a line is: worked out once, when it is given out.
  struct Line {
    std::uint32_t pad = 0;
    std::uint32_t place = 0;
  };
  using Sums = std::array<std::uint64_t, kColumns>;
  // A counter as one thread has it. That thread alone writes there, so no locked instruction is
  // needed.
  using Cell = std::atomic<std::uint64_t>;

  CoreCounters() noexcept;
  ~CoreCounters();
  CoreCounters(const CoreCounters&) = delete;
  CoreCounters& operator=(const CoreCounters&) = delete;

  // Pads double in size, so that a few of them are enough for any number of lines.
  static constexpr Line LineOf(std::uint32_t number) {
    const std::uint64_t from_first = std::uint64_t{number} + kFirstPad;
    const auto pad = static_cast<std::uint32_t>(std::bit_width(from_first) - kFirstPadBits);
    return {pad, static_cast<std::uint32_t>(from_first - (std::uint64_t{kFirstPad} << pad))};
  }

  // REQUIRES: column < kColumns.
  void Add(Line line, std::size_t column, std::uint64_t more = 1) noexcept {
    const std::uint32_t thread = ThreadNumber::IfTaken();
    if (thread < ThreadNumber::kShared) [[likely]] {
      if (Cells* pad = rows_[thread].load(kAcquire)->pads[line.pad].load(kAcquire)) [[likely]] {
        Cell& cell = pad[line.place][column];
        cell.store(cell.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
        return;
      }
    }
    AddSlowly(line, column, more);
  }

  // Add() of one there.
  static void AddOne(Cell& cell) noexcept {
    cell.store(cell.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // That of the calling thread, for it to count in as long as it lives and this is there; null if
  // it has none of its own.
  [[nodiscard]] Cell* CellOf(Line line, std::size_t column) noexcept;

  // All that was counted before the call, by any thread; some of what is counted meanwhile.
  [[nodiscard]] Sums Read(Line line) const noexcept;

 private:
  static constexpr auto kAcquire = std::memory_order_acquire;
  static constexpr std::uint32_t kFirstPad = 256;  // lines
  static constexpr int kFirstPadBits = std::bit_width(kFirstPad);
  static constexpr std::size_t kPads = 32 - 8 + 1;
  struct alignas(64) Cells : std::array<Cell, kColumns> {};
  // Of one thread.
  struct Row {
    std::array<std::atomic<Cells*>, kPads> pads{};
  };

  // The thread's first time there, or one of those that share a number.
  void AddSlowly(Line line, std::size_t column, std::uint64_t more) noexcept;
  Cells* PadOf(std::uint32_t thread, std::uint32_t pad) noexcept;

  static Row no_pads;  // of threads that have not counted here
  std::array<std::atomic<Row*>, ThreadNumber::kShared + 1> rows_;
};

}  // namespace weir
