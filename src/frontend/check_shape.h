// What a client's WEIR.CHECK looks like, so that the next one like it need not be understood again.
//
// A client that asks about requests says the same words at the same places, with other values
// between them: the command, the namespace, perhaps a cost, and the names of the attributes. What
// those mean is worked out once for each version of the rules; then a command of this shape costs
// what its values cost. Any other command is for the session to understand, and answered alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rule/attribute.h"
#include "rule/rulebook.h"
#include "service/checker.h"
#include "wire/resp_template.h"

namespace weir {

class CheckShape {
 public:
  using Arguments = wire::RespTemplate::Arguments;

  // Between the requests of one command: wherever it is, also instead of a value, the command is of
  // another shape.
  static constexpr std::string_view kNext = "NEXT";

  CheckShape() = default;
  CheckShape(const CheckShape&) = delete;  // its request looks at its own texts
  CheckShape& operator=(const CheckShape&) = delete;

  // From now on those of the shape of `arguments`, which make `request` of the names and values
  // from `first_name` on. If these are too long for that, or there are none, no command is.
  // REQUIRES: each name has a value, and none of the words is kNext
  void Learn(Arguments arguments, std::size_t first_name, const CheckRequest& request);

  // The size of the command that `bytes` begin with, or 0 if it is not all there or of another
  // shape. Puts into `values`, which are `present()` so far, what it says.
  std::size_t Read(std::string_view bytes, rule::Values& values) const {
    static_assert(wire::RespTemplate::kLongestWord <= rule::Values::kLongest);
    return template_.Read(bytes, [&](std::size_t gap, std::string_view value) {
      values.Put(numbers_[gap], value);
      return value != kNext;
    });
  }
  // What each of them asks for, but for its attributes.
  [[nodiscard]] const CheckRequest& request() const { return request_; }

  // Whether values are put where the rules of `space` look for them; from Bind() on they are.
  [[nodiscard]] bool IsBoundTo(const rule::Space& space) const { return space.serial() == serial_; }
  void Bind(const rule::Space& space);
  // Those of its attributes that these rules ask for.
  [[nodiscard]] std::uint64_t present() const { return present_; }

 private:
  wire::RespTemplate template_;
  CheckRequest request_;
  std::string space_;
  std::vector<std::string> names_;
  std::uint64_t serial_ = 0;  // of the rules it is bound to; none have 0
  std::uint64_t present_ = 0;
  std::array<rule::Schema::Number, wire::RespTemplate::kMostGaps> numbers_{};  // of each value
};

}  // namespace weir
