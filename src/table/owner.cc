#include "table/owner.h"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>

namespace weir::table {
namespace {

// Far behind any byte of a table, so that no other program's locks get in the way.
constexpr off_t kFirstByte = off_t{1} << 60;

constexpr std::uint32_t kAdministration = 0;  // nobody's number

flock LockOn(std::uint32_t first, std::uint32_t count = 1) {
  flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kFirstByte + first;
  lock.l_len = count;
  return lock;
}

bool IsHeld(int file, flock lock) {
  if (fcntl(file, F_OFD_GETLK, &lock) != 0) return true;  // not known to be free
  return lock.l_type != F_UNLCK;
}

}  // namespace

bool Owner::IsAlive(std::uint32_t number) const noexcept {
  if (file_ < 0 || number == number_) return true;
  return IsHeld(file_, LockOn(number));
}

std::uint32_t Owner::Enlist(int file, std::atomic<std::uint32_t>& last) noexcept {
  for (std::uint32_t tries = 0; tries < kMost; ++tries) {
    const std::uint32_t number = last.fetch_add(1, std::memory_order_relaxed) % kMost + 1;
    const flock lock = LockOn(number);
    if (fcntl(file, F_OFD_SETLK, &lock) == 0) return number;
  }
  return 0;
}

bool Owner::IsAlone() const noexcept {
  if (file_ < 0) return true;
  // A process does not meet its own locks.
  return !IsHeld(file_, LockOn(1, kMost));
}

void Owner::LockAdministration(int file) noexcept {
  const flock lock = LockOn(kAdministration);
  while (fcntl(file, F_OFD_SETLKW, &lock) != 0 && errno == EINTR) {
  }
}

void Owner::UnlockAdministration(int file) noexcept {
  flock lock = LockOn(kAdministration);
  lock.l_type = F_UNLCK;
  fcntl(file, F_OFD_SETLK, &lock);
}

void Backoff::Pause() noexcept {
  if (++count_ % 64 == 0) {
    sched_yield();
    return;
  }
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

OwnerLock::OwnerLock(std::atomic<std::uint32_t>& lock, const Owner& owner) noexcept : lock_(lock) {
  for (Backoff backoff;; backoff.Pause()) {
    std::uint32_t holder = 0;
    if (lock.compare_exchange_weak(holder, owner.number(), std::memory_order_acquire)) return;
    if (holder == 0 || !backoff.IsSuspicious() || owner.IsAlive(holder)) continue;
    if (lock.compare_exchange_strong(holder, owner.number(), std::memory_order_acquire)) return;
  }
}

}  // namespace weir::table
