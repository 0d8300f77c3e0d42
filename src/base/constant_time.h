// Comparing secrets in a time that does not tell how much of one was right.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir {

// Takes as long as `said` is, whatever `secret` is. REQUIRES: `secret` is not empty.
inline bool SameSecret(std::string_view said, std::string_view secret) {
  unsigned difference = said.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const char expected = secret[i % secret.size()];
    difference |= static_cast<unsigned>(static_cast<unsigned char>(said[i]) ^
                                        static_cast<unsigned char>(expected));
  }
  return difference == 0;
}

}  // namespace weir
