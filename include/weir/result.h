// A value or the reason why there is none, for failures that are expected: a limit that makes no
// sense, a file that cannot be opened. (C++20 has no std::expected.)
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace weir {

// Says what is wrong, where, and what would be right.
struct Error {
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : held_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  // REQUIRES: !ok()
  [[nodiscard]] const Error& error() const { return std::get<Error>(held_); }

  // The value; throws std::invalid_argument with the error's message where there is none.
  [[nodiscard]] const T& value() const& {
    Demand();
    return std::get<T>(held_);
  }
  [[nodiscard]] T&& value() && {
    Demand();
    return std::get<T>(std::move(held_));
  }

  // REQUIRES: ok()
  const T& operator*() const { return std::get<T>(held_); }
  T& operator*() { return std::get<T>(held_); }
  const T* operator->() const { return &std::get<T>(held_); }
  T* operator->() { return &std::get<T>(held_); }

 private:
  void Demand() const {
    if (!ok()) throw std::invalid_argument(error().message);
  }

  std::variant<T, Error> held_;
};

}  // namespace weir
