// What std::unique_ptr needs to give an object back to the C function that frees its kind.
#pragma once

namespace weir {

template <auto Free>
struct FreedBy {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

}  // namespace weir
