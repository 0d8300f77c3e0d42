// A short text that differs if what it was made of differs: tells whether files or rules changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::catalog {

// 32 hexadecimal digits. Where one piece ends and the next begins counts too. Not for secrets: who
// may choose the pieces can make two lists with the same digest.
std::string DigestOf(const std::vector<std::string_view>& pieces);

}  // namespace weir::catalog
