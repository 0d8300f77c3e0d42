// Which of the two forms of rules, YAML or JSON, a client sends and wants (RFC 9110, 8.3
// and 12.5.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir {

enum class Media : std::uint8_t { kJson, kYaml };

std::string_view NameOf(Media media);  // "application/json"

// Of a field Content-Type. Nothing if it is neither.
std::optional<Media> MediaOf(std::string_view content_type);

// Of a field Accept: the one that is wanted most, JSON if both are as welcome. Nothing if neither
// is.
std::optional<Media> WantedMedia(std::string_view accept);

}  // namespace weir
