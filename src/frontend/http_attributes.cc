#include "frontend/http_attributes.h"

#include <utility>

#include "wire/http_values.h"
#include "wire/percent.h"

namespace weir {
namespace {

using wire::HttpRequest;
using wire::Plus;

struct Target {
  std::string_view path;
  std::string_view query;
};

// "/a?b=c", or a whole URL.
Target Split(std::string_view uri) {
  if (const std::size_t scheme = uri.find("://"); scheme < uri.find('/')) {
    const std::size_t path = uri.find('/', scheme + 3);
    uri = path != std::string_view::npos ? uri.substr(path) : "/";
  }
  const std::size_t mark = uri.find('?');
  if (mark == std::string_view::npos) return {uri, {}};
  return {uri.substr(0, mark), uri.substr(mark + 1)};
}

std::string_view FirstOf(const HttpRequest& request, std::initializer_list<std::string_view> names,
                         std::string_view otherwise) {
  for (const std::string_view name : names) {
    if (const auto value = request.Field(name); value && !value->empty()) return *value;
  }
  return otherwise;
}

// Without the port.
std::string_view HostOf(std::string_view authority) {
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return has_port ? authority.substr(0, colon) : authority;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = rule::ToLower(c);
  return lower;
}

// What is left of the path behind our prefix: "/check/a" is a question about "/a".
std::string_view Behind(std::string_view prefix, std::string_view path) {
  path.remove_prefix(prefix.size());
  return path.empty() ? "/" : path;
}

}  // namespace

std::span<const rule::Attribute> HttpAttributes::Of(const HttpRequest& request,
                                                    std::string_view prefix, const HttpPeer& peer,
                                                    const rule::Schema& schema,
                                                    const rule::ClientIdentifier& clients,
                                                    Instant now) {
  attributes_.clear();
  kept_.clear();
  Target target{Behind(prefix, request.path), request.query};
  std::string_view method = request.method;
  std::string_view authority = request.authority;
  if (peer.is_gateway) {
    const std::string_view uri =
        FirstOf(request, {"x-forwarded-uri", "x-original-uri", "x-original-url"}, {});
    if (!uri.empty()) target = Split(uri);
    method = FirstOf(request, {"x-forwarded-method", "x-original-method"}, method);
    authority = FirstOf(request, {"x-forwarded-host"}, authority);
  }
  const rule::Identity identity =
      clients.Identify({peer.address, std::nullopt, request.fields}, now);
  for (const std::string& name : schema.names()) {
    if (name == rule::kIp) {
      Add(name, Keep(identity.ip.ToString()));
    } else if (name == "path") {
      Add(name, Decoded(target.path, Plus::kItself));
    } else if (name == "method") {
      Add(name, method);
    } else if (name == "host") {
      Add(name, Keep(Lower(HostOf(authority))));
    } else if (name == "user") {
      if (identity.user) Add(name, Keep(*identity.user));
    } else {
      AddNamed(name, request, target.query);
    }
  }
  return attributes_;
}

// header.NAME, query.NAME, cookie.NAME; nothing else can be seen in a request.
void HttpAttributes::AddNamed(const std::string& name, const HttpRequest& request,
                              std::string_view query) {
  const std::string_view text = name;
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return;
  const std::string_view kind = text.substr(0, dot);
  const std::string_view rest = text.substr(dot + 1);
  if (kind == "header") {
    if (const auto value = request.Field(rest)) Add(name, *value);
  } else if (kind == "cookie") {
    if (const auto value = wire::FindCookie(request.fields, rest)) Add(name, *value);
  } else if (kind == "query") {
    if (const auto value = wire::FindQueryParameter(query, rest)) {
      Add(name, Decoded(*value, Plus::kBlank));
    }
  }
}

// As it came if there is nothing to decode in it, or it cannot be decoded.
std::string_view HttpAttributes::Decoded(std::string_view text, Plus plus) {
  const auto decoded = wire::PercentDecode(text, plus, scratch_);
  if (!decoded || decoded->data() == text.data()) return text;
  return Keep(std::string(*decoded));
}

}  // namespace weir
