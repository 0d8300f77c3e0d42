// The field Date, which every answer of a server with a clock has (RFC 9110, 6.6.1).
//
// It changes once a second, so it is made once a second: otherwise asking for it costs a
// comparison.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weir/units.h"

namespace weir::wire {

class HttpDate {
 public:
  static constexpr std::size_t kSize = 37;

  HttpDate() { Format(Instant()); }

  // "Date: Sun, 06 Nov 1994 08:49:37 GMT", ended by CR LF. Good until the next call.
  std::string_view FieldAt(Instant now) {
    // As unsigned numbers, a time before `second_` is a very long one after it.
    if (Count(now) - second_ >= kSecond) Format(now);
    return {text_.data(), text_.size()};
  }

 private:
  static constexpr std::uint64_t kSecond = 1'000'000'000;
  static std::uint64_t Count(Instant now) {
    return static_cast<std::uint64_t>(now.time_since_epoch().count());
  }
  void Format(Instant now);

  std::uint64_t second_ = 0;  // when the second of `text_` begins
  std::array<char, kSize> text_{};
};

}  // namespace weir::wire
