// What a client sent, as it is shown to people: short, printable, and without secrets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rule/rulebook.h"

namespace weir {

// Whether an attribute of this name is likely to hold something that lets its reader act as the
// client: cookies, and headers, parameters and descriptors that are called after keys, tokens,
// passwords, sessions or authorizations.
bool MayBeSecret(std::string_view attribute);

// "ann"; of what may be a secret, or cannot be printed, a sign that is the same for the same value:
// "#5f1c09ab". It is made with `seed`, which nobody outside knows, so it cannot be tried out.
std::string ShownValue(std::string_view attribute, std::string_view value, std::uint64_t seed);

// "ip=192.0.2.0/24 user=ann", or "all requests". REQUIRES: the request has the key
std::string ShownKey(std::span<const rule::CompiledKeyPart> key, const rule::Schema& schema,
                     const rule::Values& values, std::uint64_t seed);

// What `schema` knows and the request has, by name.
std::vector<std::pair<std::string, std::string>> ShownAttributes(const rule::Schema& schema,
                                                                 const rule::Values& values,
                                                                 std::uint64_t seed);

}  // namespace weir
