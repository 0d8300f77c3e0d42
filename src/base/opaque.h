// Values that the compiler is not to see through.
//
// Where a register is worth more than an instruction, a compiler that remembers two addresses of
// one object, or a number it could read again, saves the wrong one.
#pragma once

namespace weir {

// The same pointer, as one that the compiler knows nothing about: it reads behind it afresh.
template <typename T>
[[gnu::always_inline]] inline T* Opaque(T* pointer) noexcept {
  asm("" : "+r"(pointer));  // NOLINT(hicpp-no-assembler): emits nothing
  return pointer;
}

}  // namespace weir
