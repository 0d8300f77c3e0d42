// Base64 in the alphabet of URLs (RFC 4648, section 5), in the one way that tokens write it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::rule {

// Nothing for padding, blanks, other letters, and bits at the end that mean nothing: a token can be
// written in one way only.
std::optional<std::string> DecodeBase64Url(std::string_view text);

// In that way: without padding.
std::string EncodeBase64Url(std::string_view bytes);

}  // namespace weir::rule
