// Users by API key. The keys themselves are not kept: only their digests, so that who reads the
// configuration or the memory of the process cannot call as somebody else.
//
// A digest is as hard to guess as its key. Keys are therefore to be random, 128 bits at least; for
// passwords, which people choose, one round of SHA-256 is not enough.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/result.h"

namespace weir::rule {

// Thread safety: const calls may come from any number of threads.
class ApiKeys {
 public:
  static constexpr std::size_t kLongestKey = 512;  // bytes; longer ones are nobody's

  struct Source {
    std::string digest;  // SHA-256 of the key, 64 hexadecimal digits
    std::string user;
  };

  // None.
  ApiKeys() = default;
  // Fails on what is no digest, no name of a user (user_name.h), and on a digest given twice. One
  // user may have several keys.
  static Result<ApiKeys> Make(std::span<const Source> sources);
  // For making entries.
  static std::string Digest(std::string_view key);

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // The user with this key; null if there is none.
  [[nodiscard]] const std::string* FindUser(std::string_view key) const;

 private:
  using DigestBytes = std::array<std::uint8_t, 32>;
  struct Entry {
    DigestBytes digest;
    std::string user;
  };

  static DigestBytes DigestOf(std::string_view key);

  std::vector<Entry> entries_;  // by digest
};

}  // namespace weir::rule
