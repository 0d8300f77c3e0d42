#include "frontend/problem_details.h"

#include "base/hex.h"
#include "frontend/rate_limit_fields.h"
#include "rule/utf8.h"
#include "wire/http_reply.h"

namespace weir {
namespace {

constexpr std::string_view kTypes = "https://iana.org/assignments/http-problem-types#";

std::string_view TypeOf(const Finding& finding) {
  return finding.why == Finding::Why::kBanned ? "abnormal-usage-detected" : "quota-exceeded";
}

std::string MessageOf(const Finding& finding) {
  const rule::Rule& rule = *finding.rule->rule;
  if (!rule.message.empty()) return rule.message;
  switch (finding.why) {
    case Finding::Why::kBlocked:
      return "This is not allowed.";
    case Finding::Why::kBanned:
      return "Banned for a while after too many requests.";
    case Finding::Why::kLimit:
      break;
  }
  return finding.decision.verdict == Verdict::kNever ? "This costs more than is ever allowed."
                                                     : "Too many requests.";
}

}  // namespace

void AppendJsonString(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : rule::Valid(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      AppendHex(static_cast<std::uint8_t>(c), out);
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string ProblemDetails(std::uint16_t status, std::string_view detail) {
  std::string out = "{\"title\":";
  AppendJsonString(wire::HttpPhrase(status), out);
  out += ",\"status\":" + std::to_string(status) + ",\"detail\":";
  AppendJsonString(detail, out);
  return out + "}\n";
}

std::string RefusalDetails(const Finding& decisive) {
  const rule::Rule& rule = *decisive.rule->rule;
  std::string out = "{\"type\":\"";
  out += kTypes;
  out += TypeOf(decisive);
  out += "\",\"title\":";
  AppendJsonString(wire::HttpPhrase(rule.status), out);
  out += ",\"status\":" + std::to_string(rule.status) + ",\"detail\":";
  AppendJsonString(MessageOf(decisive), out);
  out += ",\"violated-policies\":[";
  AppendJsonString(rule.name, out);
  return out + "]}\n";
}

}  // namespace weir
