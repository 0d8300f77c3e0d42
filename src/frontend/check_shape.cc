#include "frontend/check_shape.h"

namespace weir {

void CheckShape::Learn(Arguments arguments, std::size_t first_name, const CheckRequest& request) {
  serial_ = 0;
  present_ = 0;
  numbers_.fill(rule::Values::kNowhere);
  names_.clear();
  constexpr std::uint64_t kEverySecond = 0xAAAA'AAAA'AAAA'AAAA;
  if (!template_.Learn(arguments, kEverySecond << first_name)) return;
  space_ = request.space;
  request_ = request;
  request_.space = space_;
  request_.attributes = {};
  for (std::size_t i = first_name; i < arguments.size(); i += 2) names_.emplace_back(arguments[i]);
}

void CheckShape::Bind(const rule::Space& space) {
  serial_ = space.serial();
  present_ = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    numbers_[i] = rule::Values::kNowhere;
    const rule::Schema::Number* number = space.schema().Look(names_[i]);
    if (number == nullptr) continue;
    const std::uint64_t bit = std::uint64_t{1} << *number;
    if ((present_ & bit) != 0) continue;  // of one given twice, the first counts
    present_ |= bit;
    numbers_[i] = *number;
  }
}

}  // namespace weir
