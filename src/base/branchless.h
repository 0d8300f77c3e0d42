// Choices that the processor must not guess.
//
// Where a condition hangs on memory that is not in the cache and is as good as random, a branch on
// it is guessed wrong half of the time, and then everything that was begun behind it, such as
// fetching the memory of the next request, is thrown away.
#pragma once

#include <cstdint>

namespace weir {

// 1 or 0, as a number the compiler cannot turn back into a branch.
[[gnu::always_inline]] inline std::uint64_t AsNumber(bool condition) noexcept {
  std::uint64_t number = condition ? 1 : 0;
  asm("" : "+r"(number));  // NOLINT(hicpp-no-assembler): emits nothing
  return number;
}

// `value` if the condition holds, otherwise 0.
[[gnu::always_inline]] inline std::uint64_t ValueIf(bool condition, std::uint64_t value) noexcept {
  return value & (0 - AsNumber(condition));
}

}  // namespace weir
