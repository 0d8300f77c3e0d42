// Names for rules that come from files without names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

namespace weir::rule {

// Makes names that are legal for a rule and unique, the same ones from the same paths every time.
//
// A path such as "key_value.other_key" is its own name where it can be. Where it holds characters
// that a name may not, is too long, or is taken, the name ends in a hash of the path.
class NameMaker {
 public:
  static constexpr std::size_t kLongest = 128;

  std::string NameFor(std::string_view path);

 private:
  std::unordered_set<std::string> taken_;
};

}  // namespace weir::rule
