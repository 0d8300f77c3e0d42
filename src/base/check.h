// Bugs end the process: a limiter that goes on with a broken invariant lies to everybody it serves.
#pragma once

namespace weir::internal {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
}  // namespace weir::internal

// For what only a bug can make false; never for a caller's input.
#define WEIR_CHECK(condition)                                        \
  do {                                                               \
    if (!(condition)) [[unlikely]]                                   \
      ::weir::internal::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)
