#include "service/token.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <unordered_set>

#include "base/check.h"
#include "base/text.h"
#include "base/utc_time.h"
#include "rule/api_keys.h"
#include "rule/base64url.h"
#include "rule/utf8.h"

namespace weir {
namespace {

constexpr std::string_view kPrefix = "weir_";  // so that scanners of repositories know one
constexpr std::size_t kRandomBytes = 32;
constexpr std::string_view kNever = "never";
constexpr std::string_view kHeading =
    "# Who may call the admin API: the SHA-256 of a token, role, name, created, expires.\n"
    "# Written by `weir token`; a server reads it again when it changes.\n";

bool IsDigest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// What is wrong with a line is told with the remedy, for those who write it by hand.
Result<TokenEntry> ReadEntry(const std::vector<std::string_view>& words) {
  if (words.size() != 5) {
    return Error{"expected digest, role, name, created and expires, got " +
                 std::to_string(words.size()) + " words"};
  }
  TokenEntry entry;
  if (!IsDigest(words[0])) {
    return Error{
        "give the SHA-256 of the token in 64 lower-case hexadecimal digits, not the token"};
  }
  entry.digest = words[0];
  const std::optional<Role> role = RoleOf(words[1]);
  if (!role) {
    return Error{"there are the roles viewer, editor and admin, got '" + rule::Shown(words[1]) +
                 "'"};
  }
  entry.role = *role;
  if (!IsTokenName(words[2])) {
    return Error{"a name has 1 to 64 letters, digits and ._-@, got '" + rule::Shown(words[2]) +
                 "'"};
  }
  entry.name = words[2];
  const auto created = ParseUtc(words[3]);
  if (created) entry.created = *created;
  if (words[4] != kNever) entry.expires = ParseUtc(words[4]);
  if (!created || (words[4] != kNever && !entry.expires)) {
    return Error{"expected a time such as 2026-01-31T12:00:00Z, got '" +
                 rule::Shown(created ? words[4] : words[3]) + "'"};
  }
  return entry;
}

}  // namespace

std::string_view NameOf(Role role) {
  switch (role) {
    case Role::kNone:
      return "none";
    case Role::kViewer:
      return "viewer";
    case Role::kEditor:
      return "editor";
    case Role::kAdmin:
      return "admin";
  }
  return "none";
}

std::optional<Role> RoleOf(std::string_view name) {
  for (const Role role : {Role::kViewer, Role::kEditor, Role::kAdmin}) {
    if (name == NameOf(role)) return role;
  }
  return std::nullopt;
}

std::string MakeToken() {
  std::array<char, kRandomBytes> bytes{};
  ssize_t got = 0;
  do {
    got = getrandom(bytes.data(), bytes.size(), 0);  // waits until the kernel has enough
  } while (got < 0 && errno == EINTR);
  WEIR_CHECK(got == static_cast<ssize_t>(bytes.size()));
  return std::string(kPrefix) + rule::EncodeBase64Url({bytes.data(), bytes.size()});
}

std::string DigestOfToken(std::string_view token) { return rule::ApiKeys::Digest(token); }

bool IsTokenName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '@';
  });
}

Result<std::vector<TokenEntry>> ReadTokens(std::string_view text, const std::string& file) {
  std::vector<TokenEntry> tokens;
  std::unordered_set<std::string> seen;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::vector<std::string_view> words = SplitWords(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (words.empty() || words[0].starts_with('#')) continue;
    const std::string place = file + ":" + std::to_string(number) + ": ";
    Result<TokenEntry> entry = ReadEntry(words);
    if (!entry) return Error{place + entry.error().message};
    // One set does for both: no digest has a blank.
    if (!seen.insert("name " + entry->name).second) {
      return Error{place + "there are two tokens '" + entry->name + "'; give each its own name"};
    }
    if (!seen.insert(entry->digest).second) {
      return Error{place + "the token of '" + entry->name + "' is another's too; remove one"};
    }
    tokens.push_back(std::move(*entry));
  }
  return tokens;
}

std::string WriteTokens(const std::vector<TokenEntry>& tokens) {
  std::string text(kHeading);
  for (const TokenEntry& token : tokens) {
    text += token.digest + " " + std::string(NameOf(token.role)) + " " + token.name + " " +
            FormatUtc(token.created) + " " +
            (token.expires ? FormatUtc(*token.expires) : std::string(kNever)) + "\n";
  }
  return text;
}

}  // namespace weir
