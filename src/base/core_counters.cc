#include "base/core_counters.h"

#include <mutex>
#include <new>
#include <vector>

namespace weir {
namespace {

// Numbers that threads had and have no more, and the first that nobody had.
struct Numbers {
  std::mutex mutex;
  std::vector<std::uint32_t> returned;  // guarded by mutex
  std::uint32_t fresh = 0;              // guarded by mutex
};

Numbers& AllNumbers() {
  static Numbers& numbers = *new Numbers;  // never freed: threads may end after main() has
  return numbers;
}

// Puts `fresh` in the place of `old`, unless somebody else was first; returns what is there now.
template <typename T, typename Free>
T* Replace(std::atomic<T*>& place, T* old, T* fresh, const Free& free) {
  if (place.compare_exchange_strong(old, fresh, std::memory_order_acq_rel)) return fresh;
  free(fresh);
  return old;
}

}  // namespace

constinit thread_local std::uint32_t ThreadNumber::mine = kNone;

// Gives the number back when the thread ends. Taking the lock orders what this thread has counted
// before what the next one does under the same number.
struct ThreadNumber::Lease {
  ~Lease() {
    const std::uint32_t number = mine;
    mine = kShared;  // for whoever still counts while the thread ends
    if (number == kShared) return;
    Numbers& numbers = AllNumbers();
    const std::lock_guard lock(numbers.mutex);
    numbers.returned.push_back(number);
  }
};

std::uint32_t ThreadNumber::Take() noexcept {
  static thread_local Lease lease;
  static_cast<void>(lease);
  Numbers& numbers = AllNumbers();
  const std::lock_guard lock(numbers.mutex);
  if (!numbers.returned.empty()) {
    mine = numbers.returned.back();
    numbers.returned.pop_back();
  } else {
    mine = numbers.fresh < kShared ? numbers.fresh++ : kShared;
  }
  return mine;
}

constinit CoreCounters::Row CoreCounters::no_pads;

CoreCounters::CoreCounters() noexcept {
  for (std::atomic<Row*>& row : rows_) row.store(&no_pads, std::memory_order_relaxed);
}

CoreCounters::~CoreCounters() {
  for (const std::atomic<Row*>& place : rows_) {
    Row* row = place.load(kAcquire);
    if (row == &no_pads) continue;
    for (const std::atomic<Cells*>& pad : row->pads) delete[] pad.load(kAcquire);
    delete row;
  }
}

void CoreCounters::AddSlowly(Line line, std::size_t column, std::uint64_t more) noexcept {
  // Locked for those that share a number; the others are here once for each pad.
  Cells* cells = PadOf(ThreadNumber::Mine(), line.pad);
  if (cells == nullptr) return;  // without memory, a count is lost: requests go on
  cells[line.place][column].fetch_add(more, std::memory_order_relaxed);
}

CoreCounters::Cell* CoreCounters::CellOf(Line line, std::size_t column) noexcept {
  const std::uint32_t thread = ThreadNumber::Mine();
  if (thread == ThreadNumber::kShared) return nullptr;
  Cells* cells = PadOf(thread, line.pad);
  return cells != nullptr ? &cells[line.place][column] : nullptr;
}

CoreCounters::Cells* CoreCounters::PadOf(std::uint32_t thread, std::uint32_t pad) noexcept {
  // Compared and swapped because of the number that is shared: its threads may be here together.
  Row* row = rows_[thread].load(kAcquire);
  if (row == &no_pads) {
    Row* fresh = new (std::nothrow) Row;
    if (fresh == nullptr) return nullptr;
    row = Replace(rows_[thread], row, fresh, [](Row* spare) { delete spare; });
  }
  Cells* cells = row->pads[pad].load(kAcquire);
  if (cells != nullptr) return cells;
  Cells* fresh = new (std::nothrow) Cells[std::size_t{kFirstPad} << pad]();
  if (fresh == nullptr) return nullptr;
  return Replace(row->pads[pad], cells, fresh, [](Cells* spare) { delete[] spare; });
}

CoreCounters::Sums CoreCounters::Read(Line line) const noexcept {
  Sums sums{};
  for (const std::atomic<Row*>& place : rows_) {
    const Cells* cells = place.load(kAcquire)->pads[line.pad].load(kAcquire);
    if (cells == nullptr) continue;
    for (std::size_t i = 0; i < kColumns; ++i) {
      sums[i] += cells[line.place][i].load(std::memory_order_relaxed);
    }
  }
  return sums;
}

}  // namespace weir
