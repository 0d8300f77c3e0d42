#include "rule/client.h"

#include <array>
#include <utility>

namespace weir::rule {
namespace {

struct Found {
  int times = 0;
  std::string_view value;  // of the last
};

Found FindField(HeaderFields fields, std::string_view name) {
  Found found;
  for (const HeaderField& field : fields) {
    if (!SameIgnoringCase(field.name, name)) continue;
    ++found.times;
    found.value = Trimmed(field.value);
  }
  return found;
}

// The token of "Bearer TOKEN"; nothing if the field is of another scheme.
std::optional<std::string_view> BearerToken(std::string_view value) {
  constexpr std::string_view kScheme = "bearer ";
  if (!SameIgnoringCase(value.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  return Trimmed(value.substr(kScheme.size()));
}

Credential AskApiKey(const ClientOptions& options, HeaderFields fields,
                     std::optional<std::string>& user) {
  if (options.api_keys.empty()) return Credential::kNone;
  const Found found = FindField(fields, options.api_key_header);
  if (found.times == 0) return Credential::kNone;
  const std::string* known = found.times == 1 ? options.api_keys.FindUser(found.value) : nullptr;
  if (known == nullptr) return Credential::kUnknownKey;
  user = *known;
  return Credential::kAccepted;
}

Credential AskToken(const ClientOptions& options, HeaderFields fields, Instant now,
                    std::optional<std::string>& user) {
  if (!options.tokens) return Credential::kNone;
  const Found found = FindField(fields, options.token_header);
  if (found.times > 1) return Credential::kNotVerified;
  const std::optional<std::string_view> text = BearerToken(found.value);
  if (!text) return Credential::kNone;
  Result<Token> token = options.tokens->Read(*text);
  if (!token) return Credential::kNotVerified;
  if (now >= token->until) return Credential::kExpired;
  if (now < token->from) return Credential::kNotVerified;
  user = std::move(token->user);
  return Credential::kAccepted;
}

}  // namespace

std::string_view Describe(Credential credential) {
  static constexpr std::array<std::string_view, 5> kTexts = {
      "the credential is accepted", "there is no credential", "the token cannot be verified",
      "the token has expired", "the API key is not known"};
  return kTexts[static_cast<std::size_t>(credential)];
}

Identity ClientIdentifier::Identify(const ClientOptions& options, const ConnectionFacts& facts,
                                    Instant now) {
  Identity identity{
      .ip = ClientAddress(facts.peer, facts.proxied, facts.fields, options.trusted),
      .user = std::nullopt,
      .credential = Credential::kNone,
  };
  identity.credential = AskApiKey(options, facts.fields, identity.user);
  if (identity.user) return identity;
  const Credential token = AskToken(options, facts.fields, now, identity.user);
  if (token != Credential::kNone) identity.credential = token;
  return identity;
}

}  // namespace weir::rule
