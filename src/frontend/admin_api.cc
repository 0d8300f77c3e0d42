#include "frontend/admin_api.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/text.h"
#include "frontend/admin_reply.h"
#include "frontend/admin_routes.h"
#include "rule/closest.h"
#include "rule/utf8.h"
#include "service/token.h"
#include "wire/percent.h"

namespace weir {
namespace {

using wire::HttpRequest;

// The next segment of a path behind its slash; nothing if there is none.
std::optional<std::string_view> TakeSegment(std::string_view& path) {
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(end);
  return segment;
}

// Whether the path is like the template; `values` are what stands for its {...}, still encoded.
bool Matches(std::string_view pattern, std::string_view path,
             std::vector<std::string_view>& values) {
  values.clear();
  for (;;) {
    const auto wanted = TakeSegment(pattern);
    const auto given = TakeSegment(path);
    if (!wanted || !given) return !wanted && !given;
    if (!wanted->starts_with('{')) {
      if (*wanted != *given) return false;
    } else if (given->empty()) {
      return false;
    } else {
      values.push_back(*given);
    }
  }
}

// Decoded, and text.
std::optional<std::string> Decoded(std::string_view text, wire::Plus plus) {
  std::string storage;
  const auto decoded = wire::PercentDecode(text, plus, storage);
  if (!decoded || rule::FirstInvalidUtf8(*decoded) != std::string_view::npos) return std::nullopt;
  return std::string(*decoded);
}

// What is wrong with the query, if something is.
std::optional<std::string> ReadQuery(const AdminRoute& route, std::string_view query,
                                     AdminCall& call) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view parameter = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (parameter.empty()) continue;
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    auto name = Decoded(parameter.substr(0, equals), wire::Plus::kBlank);
    auto value =
        Decoded(parameter.substr(std::min(equals + 1, parameter.size())), wire::Plus::kBlank);
    if (!name || !value) return "the query is not percent-encoded UTF-8";
    std::vector<std::string_view> known;
    for (const AdminParameter& one : route.query) known.push_back(one.name);
    if (std::find(known.begin(), known.end(), *name) == known.end()) {
      return "unknown parameter '" + rule::Shown(*name) + "'; " +
             (known.empty() ? "this call takes none" : rule::Suggest(*name, known));
    }
    if (call.Query(*name)) return "parameter '" + *name + "' is there twice; leave out one";
    call.query.emplace_back(*std::move(name), *std::move(value));
  }
  return std::nullopt;
}

std::optional<std::string> ReadPrecondition(const HttpRequest& request, Precondition& into) {
  const auto match = request.Field("if-match");
  const auto none_match = request.Field("if-none-match");
  if (match && none_match) return "If-Match and If-None-Match are both there; send one of them";
  if (none_match) {
    if (*none_match != "*") return "of If-None-Match, a change takes only *: for what is new";
    into.kind = Precondition::Kind::kIsNew;
  } else if (match && *match == "*") {
    into.kind = Precondition::Kind::kExists;
  } else if (match) {
    const bool quoted = match->size() >= 2 && match->front() == '"' && match->back() == '"';
    if (!quoted) return "If-Match must be one ETag, as a GET told it: \"7\", with its quotes";
    const Result<std::uint64_t> revision = ParseCount(match->substr(1, match->size() - 2));
    into.kind = Precondition::Kind::kRevision;
    into.revision = -1;  // of something else than rules: never in force
    if (revision && *revision <= INT64_MAX) into.revision = static_cast<std::int64_t>(*revision);
  }
  return std::nullopt;
}

std::string_view TokenOf(const HttpRequest& request) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view field = request.Field("authorization").value_or("");
  if (!SameIgnoringCase(field.substr(0, kScheme.size()), kScheme)) return {};
  const std::size_t token = field.find_first_not_of(' ', kScheme.size());
  return token == std::string_view::npos ? std::string_view() : field.substr(token);
}

// Who calls, or why they may not.
std::optional<AdminReply> Authorize(const AdminParts& parts, const AdminRoute& route,
                                    const HttpRequest& request, Caller& caller) {
  if (route.least == Role::kNone) return std::nullopt;
  const std::string_view token = TokenOf(request);
  if (!token.empty() && parts.access != nullptr) caller = parts.access->Identify(token);
  if (caller.role == Role::kNone) {
    AdminReply reply = Refusal(
        401, token.empty()
                 ? "say who you are: Authorization: Bearer TOKEN; weir token create makes one"
                 : "this token is not known, or not valid any more; weir token create makes "
                   "another");
    reply.fields.emplace_back(
        "WWW-Authenticate",
        token.empty() ? "Bearer realm=\"weir\"" : "Bearer realm=\"weir\", error=\"invalid_token\"");
    return reply;
  }
  if (caller.role >= route.least) return std::nullopt;
  return Refusal(403, "this takes the role " + std::string(NameOf(route.least)) + ", which '" +
                          rule::Shown(caller.name) + "' does not have; use a token that does");
}

AdminReply Call(const AdminParts& parts, const AdminRoute& route, const HttpRequest& request,
                const std::vector<std::string_view>& values, std::string_view body, Instant now) {
  AdminCall call;
  call.body = body;
  call.now = now;
  if (auto refusal = Authorize(parts, route, request, call.caller)) return *std::move(refusal);
  for (const std::string_view value : values) {
    auto decoded = Decoded(value, wire::Plus::kItself);
    if (!decoded) return Refusal(400, "the path is not percent-encoded UTF-8");
    call.path.push_back(*std::move(decoded));
  }
  if (const auto wrong = ReadQuery(route, request.query, call)) return Refusal(400, *wrong);
  if (route.nature == AdminNature::kEdits) {
    if (const auto wrong = ReadPrecondition(request, call.precondition)) {
      return Refusal(400, *wrong);
    }
  }
  if (route.body != AdminBody::kNone) {
    const auto sent = MediaOf(request.Field("content-type").value_or(""));
    const bool fits = sent && (*sent == Media::kJson || route.body == AdminBody::kRules);
    if (!fits) {
      return Refusal(415, route.body == AdminBody::kRules
                              ? "send rules with Content-Type: application/yaml, or "
                                "application/json"
                              : "send it with Content-Type: application/json");
    }
    call.sent = *sent;
  }
  if (route.answer == AdminAnswer::kRules) {
    const auto wanted = WantedMedia(request.Field("accept").value_or(""));
    if (!wanted) return Refusal(406, "rules come as application/json and application/yaml");
    call.wanted = *wanted;
  }
  return route.handler(parts, call);
}

}  // namespace

AdminReply AnswerAdmin(const AdminParts& parts, const HttpRequest& request, std::string_view body,
                       Instant now) {
  const std::string_view method = request.method == "HEAD" ? "GET" : request.method;
  std::vector<std::string_view> values;
  std::string allowed;
  for (const AdminRoute& route : AdminRoutes()) {
    if (!Matches(route.path, request.path, values)) continue;
    if (route.method == method) return Call(parts, route, request, values, body, now);
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
    if (route.method == "GET") allowed += ", HEAD";
  }
  if (allowed.empty()) {
    return Refusal(404, "there is nothing under this path; GET /v1/openapi.json tells all calls");
  }
  AdminReply reply = Refusal(405, "use one of " + allowed);
  reply.fields.emplace_back("Allow", allowed);
  return reply;
}

}  // namespace weir
