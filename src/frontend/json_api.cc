#include "frontend/json_api.h"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <optional>
#include <string>
#include <vector>

#include "frontend/problem_details.h"
#include "frontend/rate_limit_fields.h"
#include "rule/utf8.h"
#include "service/policy.h"

namespace weir {
namespace {

constexpr std::size_t kMostRequests = 1000;
constexpr int kDeepest = 8;

// The parser calls itself for each level, so the depth is seen to before it starts.
bool IsTooDeep(std::string_view json) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDeepest) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

JsonAnswer Wrong(const std::string& what) { return {400, ProblemDetails(400, what)}; }

std::string_view TextOf(const rapidjson::Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

// One request of a body, read. Views of the document.
struct Request {
  std::string_view space;
  std::vector<rule::Attribute> attributes;
  std::optional<Permits> cost;
  std::string_view outcome;
  CheckRequest::Intent intent = CheckRequest::Intent::kTake;

  [[nodiscard]] CheckRequest check() const { return {space, attributes, cost, intent}; }
};

// Returns what is wrong, or nothing.
std::string ReadRequest(const rapidjson::Value& from, Request& to) {
  if (!from.IsObject()) return "a request must be an object";
  for (const auto& member : from.GetObject()) {
    const std::string_view name = TextOf(member.name);
    const rapidjson::Value& value = member.value;
    if (name == "namespace" && value.IsString()) {
      to.space = TextOf(value);
    } else if (name == "outcome" && value.IsString()) {
      to.outcome = TextOf(value);
    } else if (name == "cost" && value.IsUint64()) {
      to.cost = Permits{value.GetUint64()};
    } else if (name == "attributes" && value.IsObject()) {
      for (const auto& attribute : value.GetObject()) {
        if (!attribute.value.IsString()) {
          return "attribute '" + rule::Shown(TextOf(attribute.name)) + "' must be a text";
        }
        to.attributes.push_back({TextOf(attribute.name), TextOf(attribute.value)});
      }
    } else if (name == "namespace" || name == "outcome" || name == "cost" || name == "attributes") {
      return "'" + std::string(name) +
             "' is of the wrong type: namespace and outcome are texts, cost is a whole number, "
             "attributes are an object of texts";
    } else {
      return "unknown member '" + rule::Shown(name) +
             "': there are namespace, attributes, cost, outcome";
    }
  }
  if (to.space.empty()) return "'namespace' is missing";
  return {};
}

// Times that are for ever are null.
void AppendMillis(std::string_view name, Nanos duration, std::string& out) {
  out += ",\"";
  out += name;
  out += "\":";
  out += duration == Nanos::max() ? "null" : std::to_string(MillisUp(duration));
}

void AppendFinding(const Finding& finding, std::string& out) {
  out += "{\"rule\":";
  AppendJsonString(finding.rule->rule->name, out);
  if (finding.limit != nullptr) {
    out += ",\"limit\":";
    AppendJsonString(finding.limit->ToString(), out);
  }
  out += ",\"allowed\":";
  out += finding.decision ? "true" : "false";
  out += ",\"enforced\":";
  out += finding.enforced ? "true" : "false";
  if (finding.why != Finding::Why::kLimit) {
    out += finding.why == Finding::Why::kBanned ? ",\"banned\":true" : ",\"blocked\":true";
  }
  if (finding.decision.grace != Grace::kNone) {
    out +=
        finding.decision.grace == Grace::kSoft ? ",\"grace\":\"soft\"" : ",\"grace\":\"elastic\"";
  }
  out += ",\"remaining\":" + std::to_string(finding.decision.remaining.count);
  AppendMillis("retry_after_ms", finding.decision.retry_after, out);
  AppendMillis("reset_after_ms", finding.decision.reset_after, out);
  out += "}";
}

JsonAnswer Check(Checker& checker, CheckRequest::Intent intent, const rapidjson::Value& root,
                 Instant now, CheckSeries& checks) {
  const rapidjson::Value* batch = nullptr;
  if (root.IsObject()) {
    const auto member = root.FindMember("requests");
    if (member != root.MemberEnd()) batch = &member->value;
  }
  const bool is_batch = batch != nullptr;
  std::vector<Request> requests(1);
  if (!is_batch) {
    if (const std::string wrong = ReadRequest(root, requests[0]); !wrong.empty()) {
      return Wrong(wrong);
    }
  } else {
    if (!batch->IsArray() || batch->Size() > kMostRequests || root.MemberCount() != 1) {
      return Wrong("'requests' must be a list of at most 1000, and nothing beside it");
    }
    requests.resize(batch->Size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto& request = (*batch)[static_cast<rapidjson::SizeType>(i)];
      if (const std::string wrong = ReadRequest(request, requests[i]); !wrong.empty()) {
        return Wrong("request " + std::to_string(i) + ": " + wrong);
      }
    }
  }
  JsonAnswer answer;
  if (is_batch) answer.body = "{\"replies\":[";
  checks.GoTo(0);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (i > 0) answer.body += ',';
    CheckRequest request = requests[i].check();
    request.intent = intent;
    CheckReply& reply = checks.Next();
    checker.Check(request, now, reply);
    if (!reply.is_waiting()) AppendDecision(reply, answer.body);
  }
  answer.waits = checks.IsWaiting();
  if (!answer.waits) checks.Tell();
  answer.body += is_batch ? "]}\n" : "\n";
  return answer;
}

JsonAnswer Settle(Checker& checker, std::string_view path, const rapidjson::Value& root,
                  Instant now, Cluster* cluster) {
  Request request;
  if (const std::string wrong = ReadRequest(root, request); !wrong.empty()) return Wrong(wrong);
  if (path == "/report") {
    if (request.outcome != "failed" && request.outcome != "succeeded") {
      return Wrong("'outcome' must be failed or succeeded");
    }
    checker.Report(
        request.check(),
        request.outcome == "failed" ? Checker::Outcome::kFailed : Checker::Outcome::kSucceeded,
        now);
  } else {
    if (!request.cost) return Wrong("'cost' is missing");
    checker.Correct(request.check(),
                    path == "/charge" ? Checker::Correction::kCharge : Checker::Correction::kRefund,
                    *request.cost, now, cluster);
  }
  return {200, "{}\n"};
}

}  // namespace

void AppendDecision(const CheckReply& reply, std::string& out) {
  out += "{\"allowed\":";
  out += reply.allowed() ? "true" : "false";
  if (!reply.knows_space()) out += ",\"unknown_namespace\":true";
  if (reply.allowed_by() != nullptr) {
    out += ",\"allowed_by\":";
    AppendJsonString(reply.allowed_by()->rule->name, out);
  }
  if (const Finding* decisive = reply.decisive()) {
    out += ",\"rule\":";
    AppendJsonString(decisive->rule->rule->name, out);
    out += ",\"remaining\":" + std::to_string(reply.remaining().count);
    AppendMillis("retry_after_ms", decisive->decision.retry_after, out);
    AppendMillis("reset_after_ms", decisive->decision.reset_after, out);
  }
  AppendMillis("wait_ms", reply.wait(), out);
  out += ",\"limits\":[";
  for (std::size_t i = 0; i < reply.findings().size(); ++i) {
    if (i > 0) out += ',';
    AppendFinding(reply.findings()[i], out);
  }
  out += "]}";
}

JsonAnswer AnswerJson(Checker& checker, std::string_view path, std::string_view body, Instant now,
                      CheckSeries& checks) {
  const bool is_peek = path == "/peek";
  const bool is_check = is_peek || path == "/check";
  if (!is_check && path != "/report" && path != "/charge" && path != "/refund") {
    return {404, ProblemDetails(404,
                                "there is /v1/check, /v1/peek, /v1/report, /v1/charge, "
                                "/v1/refund")};
  }
  // The parser reads past the end of text that is cut off within a character.
  if (rule::FirstInvalidUtf8(body) != std::string_view::npos) return Wrong("this is not UTF-8");
  if (IsTooDeep(body)) return Wrong("nested too deep");
  rapidjson::Document root;
  root.Parse(body.data(), body.size());
  if (root.HasParseError()) {
    return Wrong("this is not JSON: " + std::string(GetParseError_En(root.GetParseError())) +
                 " (byte " + std::to_string(root.GetErrorOffset()) + ")");
  }
  if (!is_check) return Settle(checker, path, root, now, checks.cluster());
  return Check(checker, is_peek ? CheckRequest::Intent::kLook : CheckRequest::Intent::kTake, root,
               now, checks);
}

}  // namespace weir
