#include "rule/report.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace weir::rule {

void Report::Add(Place place, std::string what, std::string remedy) {
  if (full()) return;
  if (count() == kMost) {
    what = "there are more problems than these " + std::to_string(kMost);
    remedy = "mend them first";
  }
  problems_.push_back({file_, place, rule_, std::move(what), std::move(remedy)});
}

void Report::Sort() {
  std::stable_sort(problems_.begin() + static_cast<std::ptrdiff_t>(first_), problems_.end(),
                   [](const Problem& a, const Problem& b) {
                     return std::tie(a.place.line, a.place.column) <
                            std::tie(b.place.line, b.place.column);
                   });
}

}  // namespace weir::rule
