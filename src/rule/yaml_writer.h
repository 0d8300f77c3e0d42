// The small pieces of YAML text: scalars, and lists and maps on one line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::rule {

// Plain where that can be nothing but this text, else in double quotes.
std::string YamlScalar(std::string_view text);

// "[a, b]" of texts that are YAML already.
std::string FlowList(const std::vector<std::string>& elements);

// "{a: b, c: d}" of names and values that are YAML already.
class FlowMap {
 public:
  FlowMap& Add(std::string_view name, std::string_view value);
  [[nodiscard]] std::string text() const { return "{" + inner_ + "}"; }

 private:
  std::string inner_;
};

}  // namespace weir::rule
