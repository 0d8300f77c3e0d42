#include "frontend/http_attributes.h"

#include <algorithm>
#include <utility>

#include "base/byte_block.h"
#include "wire/http_values.h"

namespace weir {
namespace {

using Name = GatewayFields::Name;
using wire::HttpRequest;
using wire::Plus;

struct Target {
  std::string_view path;
  std::string_view query;
};

// "/a?b=c", or a whole URL.
Target Split(std::string_view uri) {
  if (const std::size_t scheme = uri.starts_with('/') ? uri.npos : uri.find("://");
      scheme < uri.find('/')) {
    const std::size_t path = uri.find('/', scheme + 3);
    uri = path != std::string_view::npos ? uri.substr(path) : "/";
  }
  const std::size_t mark = uri.find('?');
  if (mark == std::string_view::npos) return {uri, {}};
  return {uri.substr(0, mark), uri.substr(mark + 1)};
}

// Without the port.
std::string_view HostOf(std::string_view authority) {
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return has_port ? authority.substr(0, colon) : authority;
}

bool IsUpper(char c) { return rule::ToLower(c) != c; }

// What is left of the path behind our prefix: "/check/a" is a question about "/a".
std::string_view Behind(std::string_view prefix, std::string_view path) {
  path.remove_prefix(prefix.size());
  return path.empty() ? "/" : path;
}

}  // namespace

void HttpAttributes::Identify(const HttpQuestion& question, const rule::RequestSources& sources,
                              Instant now, rule::Values& values) {
  owns_ = true;
  const rule::Identity identity = clients_->Identify(question.request.fields, now);
  values.Set(rule::Schema::kIpNumber, {ip_text_.data(), identity.ip.Write(ip_text_.data())},
             &identity.ip);
  if (sources.user && identity.user) values.Set(*sources.user, Keep(*identity.user));
}

void HttpAttributes::Find(const HttpQuestion& question, const std::optional<rule::Address>& peer,
                          const rule::Space& space, const rule::ClientIdentifier& clients,
                          Instant now, rule::Values& values) {
  if (!kept_.empty()) kept_.clear();
  owns_ = false;
  const HttpRequest& request = question.request;
  const GatewayFields& said = question.said;
  const rule::RequestSources& sources = space.sources();
  if (!clients_) clients_.emplace(clients, peer);
  const rule::HeaderField* const forwarded_for = question.places.ForwardedFor(request);
  rule::Address address;
  if (!sources.user && forwarded_for != nullptr && clients_->IsAddressIn(*forwarded_for, address)) {
    values.Set(rule::Schema::kIpNumber, forwarded_for->value, &address);
  } else {
    Identify(question, sources, now, values);
  }
  if (sources.path || !sources.query.empty()) {
    const std::string_view uri =
        said.FirstOf({}, Name::kForwardedUri, Name::kOriginalUri, Name::kOriginalUrl);
    // Most of the time it is a path and nothing else, with nothing encoded in it.
    const bool is_plain = uri.starts_with('/') && !HasEither(uri, '?', '%');
    const Target target = is_plain ? Target{uri, {}}
                          : uri.empty()
                              ? Target{Behind(question.prefix, request.path), request.query}
                              : Split(uri);
    if (sources.path) {
      values.Set(*sources.path, is_plain ? uri : Decoded(target.path, Plus::kItself));
    }
    for (const rule::NamedSource& source : sources.query) {
      const auto value = wire::FindQueryParameter(target.query, source.name);
      if (value) values.Set(source.number, Decoded(*value, Plus::kBlank));
    }
  }
  if (sources.method) {
    values.Set(*sources.method,
               said.FirstOf(request.method, Name::kForwardedMethod, Name::kOriginalMethod));
  }
  if (sources.host) {
    values.Set(*sources.host, Lower(HostOf(said.FirstOf(request.authority, Name::kForwardedHost))));
  }
  for (const FieldPlaces::Wanted& wanted : question.places.ForRules(request, space)) {
    values.Set(wanted.number, request.fields[wanted.place].value);
  }
  if (sources.cookies.empty() || !question.places.has_cookies()) return;
  for (const rule::NamedSource& source : sources.cookies) {
    const auto value = wire::FindCookie(request.fields, source.name);
    if (value) values.Set(source.number, *value);
  }
}

std::string_view HttpAttributes::Decoded(std::string_view text, Plus plus) {
  const auto decoded = wire::PercentDecode(text, plus, scratch_);
  if (!decoded || decoded->data() == text.data()) return text;
  return Keep(std::string(*decoded));
}

std::string_view HttpAttributes::Lower(std::string_view text) {
  if (std::none_of(text.begin(), text.end(), IsUpper)) return text;
  std::string lower(text);
  for (char& c : lower) c = rule::ToLower(c);
  return Keep(std::move(lower));
}

}  // namespace weir
