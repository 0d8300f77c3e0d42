#include "rule/json_web_token.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "rule/base64url.h"
#include "rule/json_object.h"
#include "rule/user_name.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

using std::chrono::seconds;

constexpr seconds kLongestLeeway = std::chrono::hours(24);
// With the leeway added it still fits an Instant. The year 2255.
constexpr seconds kLastSecond{9'000'000'000};

struct Parts {
  std::string_view header;
  std::string_view claims;
  std::string_view signature;
  std::string_view signed_text;  // "header.claims"
};

std::optional<Parts> Split(std::string_view token) {
  const std::size_t first = token.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  if (token.find('.', second + 1) != std::string_view::npos) return std::nullopt;
  return Parts{token.substr(0, first), token.substr(first + 1, second - first - 1),
               token.substr(second + 1), token.substr(0, second)};
}

Result<JsonObject> DecodeObject(std::string_view encoded, const char* what) {
  std::optional<std::string> text = DecodeBase64Url(encoded);
  if (!text) return Error{std::string("the token's ") + what + " are not base64url"};
  Result<JsonObject> object = JsonObject::Parse(std::move(*text));
  if (object) return object;
  return Error{std::string("the token's ") + what +
               " are not a JSON object: " + object.error().message};
}

enum class Round : bool { kDown, kUp };

// A time in seconds since the epoch, which may have a fraction. Nothing if it is no number.
std::optional<seconds> ReadSeconds(const JsonObject::Value& value, Round round) {
  constexpr std::int64_t kLast = kLastSecond.count();
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return seconds(std::clamp<std::int64_t>(*whole, 0, kLast));
  }
  if (const auto* number = std::get_if<double>(&value)) {
    const double rounded = round == Round::kUp ? std::ceil(*number) : std::floor(*number);
    return seconds(static_cast<std::int64_t>(std::clamp(rounded, 0.0, static_cast<double>(kLast))));
  }
  return std::nullopt;
}

bool IsFor(const std::string& audience, const JsonObject::Value* value) {
  if (value == nullptr) return false;
  if (const auto* text = std::get_if<std::string>(value)) return *text == audience;
  const auto* texts = std::get_if<JsonObject::Texts>(value);
  return texts != nullptr && std::find(texts->begin(), texts->end(), audience) != texts->end();
}

std::optional<std::string> ReadUser(const JsonObject::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr || !IsUserName(*text)) return std::nullopt;
  return *text;
}

}  // namespace

TokenVerifier::TokenVerifier(const TokenOptions& options, std::vector<TokenKey> keys)
    : keys_(std::move(keys)),
      claim_(options.claim),
      issuer_(options.issuer),
      audience_(options.audience),
      leeway_(options.leeway) {}

Result<TokenVerifier> TokenVerifier::Make(const TokenOptions& options) {
  if (options.keys.empty()) return Error{"tokens: there is no key to verify them with; give one"};
  if (options.keys.size() > kMostKeys) {
    return Error{"tokens: at most " + std::to_string(kMostKeys) + " keys, got " +
                 std::to_string(options.keys.size())};
  }
  if (options.claim.empty()) return Error{"tokens: name the claim that holds the user, e.g. sub"};
  if (options.leeway < seconds(0) || options.leeway > kLongestLeeway) {
    return Error{"tokens: the leeway must be 0 s to 1 day, got " +
                 std::to_string(options.leeway.count()) + " s"};
  }
  std::vector<TokenKey> keys;
  for (const TokenKeySource& source : options.keys) {
    Result<TokenKey> key = TokenKey::Load(source);
    if (!key) return key.error();
    keys.push_back(std::move(*key));
  }
  return TokenVerifier(options, std::move(keys));
}

bool TokenVerifier::IsSigned(std::string_view algorithm, const std::string* key_id,
                             std::string_view signed_text, std::string_view signature) const {
  const bool named = key_id != nullptr &&
                     std::any_of(keys_.begin(), keys_.end(),
                                 [key_id](const TokenKey& key) { return key.id() == *key_id; });
  return std::any_of(keys_.begin(), keys_.end(), [&](const TokenKey& key) {
    if (NameOf(key.algorithm()) != algorithm) return false;
    // A token without a name may be of any key; one with a name that no key has, of those without.
    const bool fits = named ? key.id() == *key_id : key_id == nullptr || key.id().empty();
    return fits && key.Verifies(signed_text, signature);
  });
}

Result<Token> TokenVerifier::Read(std::string_view token) const {
  if (token.size() > kLongestToken) {
    return Error{"the token has " + std::to_string(token.size()) + " bytes; at most " +
                 std::to_string(kLongestToken) + " are read"};
  }
  const std::optional<Parts> parts = Split(token);
  if (!parts) return Error{"the token does not have three parts: header.claims.signature"};
  const Result<JsonObject> header = DecodeObject(parts->header, "header fields");
  if (!header) return header.error();
  if (header->Find("crit") != nullptr) {
    return Error{"the token demands extensions (crit), and none are known here"};
  }
  const JsonObject::Value* key_id = header->Find("kid");
  if (key_id != nullptr && !std::holds_alternative<std::string>(*key_id)) {
    return Error{"the token's key id (kid) is not a text"};
  }
  const std::string* algorithm = header->FindText("alg");
  if (algorithm == nullptr) return Error{"the token names no algorithm (alg)"};
  const std::optional<std::string> signature = DecodeBase64Url(parts->signature);
  if (!signature) return Error{"the token's signature is not base64url"};
  if (!IsSigned(*algorithm, header->FindText("kid"), parts->signed_text, *signature)) {
    return Error{"no key for this token's algorithm and key id made its signature"};
  }

  // From here on the text is the issuer's, though perhaps not meant for us.
  const Result<JsonObject> claims = DecodeObject(parts->claims, "claims");
  if (!claims) return claims.error();
  if (!issuer_.empty()) {
    const std::string* issuer = claims->FindText("iss");
    if (issuer == nullptr || *issuer != issuer_) return Error{"the token is of another issuer"};
  }
  if (!audience_.empty() && !IsFor(audience_, claims->Find("aud"))) {
    return Error{"the token is for another audience"};
  }
  Token read;
  if (const JsonObject::Value* value = claims->Find("nbf")) {
    const std::optional<seconds> from = ReadSeconds(*value, Round::kUp);
    if (!from) return Error{"the token's nbf is not a number of seconds"};
    read.from = Instant(*from - leeway_);
  }
  if (const JsonObject::Value* value = claims->Find("exp")) {
    const std::optional<seconds> until = ReadSeconds(*value, Round::kDown);
    if (!until) return Error{"the token's exp is not a number of seconds"};
    read.until = Instant(*until + leeway_);
  }
  const JsonObject::Value* value = claims->Find(claim_);
  if (value == nullptr) return Error{"the token has no claim '" + Shown(claim_) + "'"};
  std::optional<std::string> user = ReadUser(*value);
  if (!user) {
    return Error{"the token's claim '" + Shown(claim_) + "' is no name of a user: a text of 1 to " +
                 std::to_string(kLongestUserName) + " bytes without control characters"};
  }
  read.user = std::move(*user);
  return read;
}

Result<std::string> TokenVerifier::Verify(std::string_view token, Instant now) const {
  Result<Token> read = Read(token);
  if (!read) return read.error();
  if (now >= read->until) return Error{"the token has expired"};
  if (now < read->from) return Error{"the token is not valid yet"};
  return std::move(read->user);
}

}  // namespace weir::rule
