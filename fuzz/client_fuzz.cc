// Any header, any token, any bytes before a connection: nothing crashes, who is not trusted stays
// the address that connected, nothing left of a client's entry changes its address, and the PROXY
// protocol read in pieces is what it is read at once.
#include <fuzzer/FuzzedDataProvider.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "rule/client.h"
#include "rule/user_name.h"
#include "wire/proxy_protocol.h"

namespace {

using namespace weir::rule;
namespace wire = weir::wire;

constexpr weir::Instant kNow{std::chrono::seconds(1'800'000'000)};
const std::string kSecret = "a secret of more than thirty-two bytes";
const std::string kAlice = "the key of alice";

void Demand(bool holds) {
  if (!holds) std::abort();
}

const ClientIdentifier& Identifier(ForwardedHeader header) {
  static const auto kMake = [](ForwardedHeader which) {
    TokenOptions tokens;
    tokens.keys = {{.id = "", .algorithm = TokenAlgorithm::kHs256, .key = kSecret}};
    const std::vector<ApiKeys::Source> keys = {{ApiKeys::Digest(kAlice), "alice"}};
    ClientOptions options;
    options.trusted = {.networks = {*Network::Parse("10.0.0.0/8"), *Network::Parse("fd00::/8")},
                       .count = 0,
                       .header = which};
    options.api_keys = ApiKeys::Make(keys).value();
    options.tokens = TokenVerifier::Make(tokens).value();
    return ClientIdentifier(std::move(options));
  };
  static const ClientIdentifier kPlain = kMake(ForwardedHeader::kXForwardedFor);
  static const ClientIdentifier kNamed = kMake(ForwardedHeader::kForwarded);
  return header == ForwardedHeader::kXForwardedFor ? kPlain : kNamed;
}

std::string Encoded(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

// Any header and claims with a good signature: what they hold is reached, not only refused.
std::string Signed(std::string_view header, std::string_view claims) {
  const std::string text = Encoded(header) + "." + Encoded(claims);
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  HMAC(EVP_sha256(), kSecret.data(), static_cast<int>(kSecret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size);
  return text + "." + Encoded({reinterpret_cast<const char*>(mac.data()), size});
}

void ReadHeaders(FuzzedDataProvider& bytes) {
  const bool named = bytes.ConsumeBool();
  const ForwardedHeader header =
      named ? ForwardedHeader::kForwarded : ForwardedHeader::kXForwardedFor;
  const std::string_view name = named ? "forwarded" : "x-forwarded-for";
  const ClientIdentifier& identifier = Identifier(header);
  const std::string key = bytes.ConsumeBool() ? kAlice : bytes.ConsumeRandomLengthString(64);
  const std::string first = bytes.ConsumeRandomLengthString(2048);
  const std::string second = bytes.ConsumeRemainingBytesAsString();
  const std::vector<HeaderField> fields = {{name, first}, {"x-api-key", key}, {name, second}};

  const Address outside = *Address::Parse("203.0.113.7");
  const Address inside = *Address::Parse("10.0.0.1");
  Demand(identifier.Identify({outside, inside, fields}, kNow).ip == outside);
  const Identity identity = identifier.Identify({inside, std::nullopt, fields}, kNow);
  Demand(identity.user.has_value() == (identity.credential == Credential::kAccepted));
  Demand(!identity.user || identity.user == "alice");

  const std::string client = named ? ", for=203.0.113.7;host=\"a,\\\"b\", for=\"[fd00::1]:80\""
                                   : ", 203.0.113.7, 10.0.0.2";
  const std::string line = second + client;
  const std::vector<HeaderField> appended = {{name, first}, {name, line}};
  Demand(identifier.Identify({inside, std::nullopt, appended}, kNow).ip == outside);
}

void ReadToken(FuzzedDataProvider& bytes) {
  std::string token;
  if (bytes.ConsumeBool()) {
    const bool plain = bytes.ConsumeBool();
    const std::string header = plain ? R"({"alg":"HS256"})" : bytes.ConsumeRandomLengthString(512);
    token = Signed(header, bytes.ConsumeRemainingBytesAsString());
  } else {
    token = bytes.ConsumeRemainingBytesAsString();
  }
  const std::string value = "Bearer " + token;
  const std::vector<HeaderField> fields = {{"authorization", value}};
  const Identity identity =
      Identifier(ForwardedHeader::kForwarded).Identify({Address(), std::nullopt, fields}, kNow);
  Demand(!identity.user || IsUserName(*identity.user));
}

void ReadProxyProtocol(FuzzedDataProvider& bytes) {
  const std::string text = bytes.ConsumeRemainingBytesAsString();
  const wire::ProxyHeader whole = wire::ParseProxyHeader(text);
  Demand(whole.size <= text.size());
  Demand(whole.source.has_value() == whole.destination.has_value());
  Demand((whole.size > 0) == (whole.status == wire::ProxyStatus::kHeader));
  Demand(whole.status != wire::ProxyStatus::kNeedMore || text.size() < wire::kLongestProxyV2);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const wire::ProxyHeader part = wire::ParseProxyHeader(std::string_view(text).substr(0, size));
    if (part.status == wire::ProxyStatus::kNeedMore) continue;
    Demand(part == whole);
    break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  switch (bytes.ConsumeIntegralInRange(0, 2)) {
    case 0:
      ReadHeaders(bytes);
      break;
    case 1:
      ReadToken(bytes);
      break;
    default:
      ReadProxyProtocol(bytes);
      break;
  }
  return 0;
}
