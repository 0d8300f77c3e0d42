// Percent-encoding (RFC 3986, 2.1), in paths and in the parameters of a query.
//
// A '%' that two hexadecimal digits do not follow is refused, not kept: others decode it in other
// ways, and a rule must not see another path than whoever serves it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::wire {

enum class Plus : std::uint8_t {
  kItself,  // in a path
  kBlank,   // in a query, as forms send it
};

// `text` itself if nothing in it is encoded; otherwise a view of `storage`, which is overwritten
// and no longer than `text`. Decoded once: "%2541" is "%41". Nothing if a '%' stands for no byte.
std::optional<std::string_view> PercentDecode(std::string_view text, Plus plus,
                                              std::string& storage);

// Whether `encoded` decodes to `plain`, without decoding it anywhere.
bool PercentDecodesTo(std::string_view encoded, Plus plus, std::string_view plain);

}  // namespace weir::wire
