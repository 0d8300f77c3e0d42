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
  // from `first_name` on. If they are too long for that, there are none.
  // REQUIRES: a name at least, each with a value, and none of these is kNext
  void Learn(Arguments arguments, std::size_t first_name, const CheckRequest& request);

  // The size of the command that `bytes` begin with, or 0 if it is not all there or of another
  // shape. Until the next call, request() and Fill() are what it asks.
  std::size_t Read(std::string_view bytes) {
    return template_.Read(bytes, [&](std::size_t gap, std::string_view value) {
      values_[gap] = value;
      return value != kNext;
    });
  }
  // Without its attributes.
  [[nodiscard]] const CheckRequest& request() const { return request_; }
  // Sets those that the rules of `space` ask for. REQUIRES: `values` are of its schema, and empty
  void Fill(const rule::Space& space, rule::Values& values) {
    if (space.serial() != serial_) Bind(space);
    for (std::size_t i = 0; i < known_; ++i)
      values.Set(numbers_[i].number, values_[numbers_[i].gap]);
  }

 private:
  // Which value has which number in a schema.
  struct Numbered {
    std::uint8_t gap;
    rule::Schema::Number number;
  };

  void Bind(const rule::Space& space);

  wire::RespTemplate template_;
  CheckRequest request_;
  std::string space_;
  std::vector<std::string> names_;
  // As the rules with this serial have it: those of the values that they ask for.
  std::uint64_t serial_ = 0;  // 0: none has
  std::size_t known_ = 0;
  std::array<Numbered, wire::RespTemplate::kMostGaps> numbers_{};
  std::array<std::string_view, wire::RespTemplate::kMostGaps> values_;
};

}  // namespace weir
