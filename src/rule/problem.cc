#include "rule/problem.h"

namespace weir::rule {

std::string Problem::ToString() const {
  std::string text = file;
  if (place.line > 0) {
    text += ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  }
  text += ": ";
  if (!rule.empty()) text += "rule '" + rule + "': ";
  text += what;
  if (!remedy.empty()) text += "; " + remedy;
  return text;
}

}  // namespace weir::rule
