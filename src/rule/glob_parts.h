// A glob taken apart: literals with wildcards between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::rule {

struct Wildcard {
  enum class Reach : std::uint8_t {
    kExactly,   // `least` characters, none of them '/'
    kSegment,   // as many or more, none of them '/'
    kAnything,  // any number of any characters; `least` is 0
  };
  Reach reach = Reach::kAnything;
  std::uint32_t least = 0;

  auto operator<=>(const Wildcard&) const = default;
};

// literals[0] wildcards[0] literals[1] ... literals[n]; literals may be empty.
struct GlobParts {
  explicit GlobParts(std::string_view glob);

  // The glob from wildcard `i` on.
  [[nodiscard]] std::string TextFrom(std::size_t i) const;

  std::vector<std::string> literals = {{}};
  std::vector<Wildcard> wildcards;
};

}  // namespace weir::rule
