// Locks in shared memory that a killed process cannot keep.
//
// Each process that opens a table gets a number of its own, and proves that it is alive by holding
// a lock of the kernel's on the byte of that number in the table's file; the kernel lets go of it
// when the process ends, however it ends. A lock in the table is a word that holds the number of
// who has it. Who waits for one too long looks whether its owner still lives, and takes it over if
// not.
#pragma once

#include <atomic>
#include <cstdint>

namespace weir::table {

class Owner {
 public:
  // Numbers start over after this many processes.
  static constexpr std::uint32_t kMost = 0xFFFF;
  // Tables in anonymous memory have one owner, who outlives them.
  static constexpr std::uint32_t kOnly = 1;

  // `file` is the table's, or -1.
  constexpr Owner(std::uint32_t number, int file) : number_(number), file_(file) {}

  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] bool IsAlive(std::uint32_t number) const noexcept;

  // The next number that nobody holds; it is this process's as long as `file` is open. Returns 0 if
  // there is none.
  static std::uint32_t Enlist(int file, std::atomic<std::uint32_t>& last) noexcept;
  // Whether `file` has no other owner than this one.
  [[nodiscard]] bool IsAlone() const noexcept;

  // One process at a time may change what all of them go by.
  static void LockAdministration(int file) noexcept;
  static void UnlockAdministration(int file) noexcept;

 private:
  std::uint32_t number_;
  int file_;
};

// Waits its turn politely: spins, then lets others run.
class Backoff {
 public:
  void Pause() noexcept;
  // True now and then, after so long that the one who is waited for may be dead.
  [[nodiscard]] bool IsSuspicious() const noexcept { return count_ % 1024 == 1023; }

 private:
  std::uint32_t count_ = 0;
};

class OwnerLock {
 public:
  OwnerLock(std::atomic<std::uint32_t>& lock, const Owner& owner) noexcept;
  ~OwnerLock() { lock_.store(0, std::memory_order_release); }
  OwnerLock(const OwnerLock&) = delete;
  OwnerLock& operator=(const OwnerLock&) = delete;

 private:
  std::atomic<std::uint32_t>& lock_;
};

}  // namespace weir::table
