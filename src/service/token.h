// API tokens, and the text of the file that says whose they are.
//
//   # digest  role  name  created  expires
//   9f86d081...0a08 viewer grafana 2026-01-31T12:00:00Z never
//
// A token is "weir_" and 256 random bits of the kernel's. The file has only its SHA-256: who reads
// the file cannot call. A slow hash, as for passwords, would buy nothing: it makes guessing costly,
// and 2^256 guesses cost enough.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/access.h"
#include "weir/result.h"

namespace weir {

// "viewer", "editor", "admin"; "none" for kNone.
std::string_view NameOf(Role role);
// Of the first three.
std::optional<Role> RoleOf(std::string_view name);

inline constexpr std::size_t kLongestToken = 512;  // bytes; longer ones are nobody's

// A new one. Nobody else knows it: show it to its owner, keep its digest.
std::string MakeToken();
std::string DigestOfToken(std::string_view token);  // 64 hexadecimal digits

struct TokenEntry {
  std::string digest;
  Role role = Role::kNone;
  std::string name;
  std::chrono::sys_seconds created;
  std::optional<std::chrono::sys_seconds> expires;  // valid until then; nothing: for ever

  [[nodiscard]] bool IsExpired(std::chrono::sys_seconds now) const {
    return expires && now >= *expires;
  }
};

// 1 to 64 letters, digits and "._-@": it stands in a line of words, and in logs.
bool IsTokenName(std::string_view name);

// `file` is named in errors, with the line. Names and digests are there once each.
Result<std::vector<TokenEntry>> ReadTokens(std::string_view text, const std::string& file);
std::string WriteTokens(const std::vector<TokenEntry>& tokens);

}  // namespace weir
