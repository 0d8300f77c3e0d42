// "Did you mean ...?": the known word nearest to one that is not known.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace weir::rule {

// The number of letters to insert, remove, replace or swap with their neighbour to get from `a` to
// `b`.
std::size_t EditDistance(std::string_view a, std::string_view b);

// What to say to somebody who wrote `word`: "did you mean 'limit'?" if one of `known` is near
// enough, else all of them: "there are a, b, c".
std::string Suggest(std::string_view word, std::span<const std::string_view> known);

}  // namespace weir::rule
