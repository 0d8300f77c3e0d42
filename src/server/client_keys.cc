#include "server/client_keys.h"

#include <ostream>
#include <utility>

#include "rule/json.h"
#include "rule/utf8.h"
#include "server/json_table.h"
#include "server/remote_rules.h"
#include "server/stored_rules_output.h"
#include "server/text_table.h"

namespace weir {
namespace {

// The body of these calls, without its closing brace. The error says what is wrong with the line.
Result<std::string> ClientOf(const ClientQuestion& question) {
  const RulePlace place = SplitPlace(question.place);
  if (place.space.empty() || place.name.empty()) {
    return Error{"'" + rule::Shown(question.place) + "' names no rule; write NAMESPACE/RULE"};
  }
  std::string attributes;
  for (const std::string& attribute : question.attributes) {
    const std::size_t equals = attribute.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Error{"expected NAME=VALUE, such as ip=10.1.2.3, got '" + rule::Shown(attribute) +
                   "'"};
    }
    attributes += (attributes.empty() ? "" : ",") + rule::JsonString(attribute.substr(0, equals)) +
                  ":" + rule::JsonString(attribute.substr(equals + 1));
  }
  return R"({"namespace":)" + rule::JsonString(place.space) + R"(,"rule":)" +
         rule::JsonString(place.name) + R"(,"attributes":{)" + attributes + "}";
}

std::string ChangeQuery(const ClientQuestion& question) {
  return ApiQuery({{"dry_run", question.dry_run ? "true" : ""}, {"comment", question.comment}});
}

void PrintKeys(const JsonValue& answer, std::ostream& out) {
  std::vector<TextRow> rows = {{"KEY", "LIMIT", "LEFT", "MORE IN", "FULL IN", "BANNED FOR"}};
  for (const JsonValue& key : answer["keys"].items) {
    const std::string name = ShownValue(key["key"]);
    const std::string banned = ShownMillis(key["banned_for_ms"]);
    if (key["limits"].items.empty()) {
      rows.push_back({name, ShownValue(key["allowance"]), "", "", "", banned});
    }
    for (const JsonValue& limit : key["limits"].items) {
      const bool allowed = limit["allowed"].is_true();
      rows.push_back({name, ShownValue(limit["limit"]), ShownValue(limit["remaining"]),
                      allowed ? "" : ShownMillis(limit["retry_after_ms"]),
                      ShownMillis(limit["reset_after_ms"]), banned});
    }
  }
  PrintTable(rows, out);
}

// Asks about the client of `question`; nothing if there is no answer, and `code` says why.
std::optional<JsonValue> AskAbout(const ClientQuestion& question, ApiCall call,
                                  const std::string& more, Streams io, ExitCode& code) {
  const Result<std::string> client = ClientOf(question);
  if (!client) {
    io.err << client.error().message << "\n";
    code = kUnreadable;
    return std::nullopt;
  }
  call.method = "POST";
  call.body = *client + more + "}";
  return AskServer(question.client, call, io, code);
}

// A change of the rule: it must be there, and which revision it has does not matter, since the
// server makes the change from the one that is in force.
int ChangeRule(const ClientQuestion& question, const std::string& path, const std::string& more,
               Streams io) {
  ExitCode code = kDone;
  const auto change =
      AskAbout(question, {.target = path + ChangeQuery(question), .fields = {{"If-Match", "*"}}},
               more, io, code);
  if (change && !question.client.json) {
    PrintText(AppliedOf(*change), question.dry_run ? Intent::kDryRun : Intent::kForReal, io.out);
  }
  return code;
}

}  // namespace

int LookAtKey(const ClientQuestion& question, Streams io) {
  ExitCode code = kDone;
  const auto answer = AskAbout(question, {.target = "/v1/keys/lookup"}, "", io, code);
  if (answer && !question.client.json) PrintKeys(*answer, io.out);
  return code;
}

int ResetKey(const ClientQuestion& question, Streams io) {
  ExitCode code = kDone;
  const std::string target =
      "/v1/keys/reset" + ApiQuery({{"dry_run", question.dry_run ? "true" : ""}});
  const auto answer = AskAbout(question, {.target = target}, "", io, code);
  if (!answer || question.client.json) return code;
  io.out << (question.dry_run ? "would forget:\n" : "forgotten; it was:\n");
  PrintKeys(*answer, io.out);
  return code;
}

int OverrideKey(const ClientQuestion& question, Streams io) {
  std::string limits;
  for (const std::string& limit : question.limits) {
    limits += (limits.empty() ? "" : ",") + rule::JsonString(limit);
  }
  std::string more =
      question.limits.size() == 1 ? R"(,"limit":)" + limits : R"(,"limits":[)" + limits + "]";
  if (!question.lasts.empty()) more += R"(,"for":)" + rule::JsonString(question.lasts);
  if (!question.until.empty()) more += R"(,"until":)" + rule::JsonString(question.until);
  return ChangeRule(question, "/v1/keys/override", more, io);
}

int RestoreKey(const ClientQuestion& question, Streams io) {
  return ChangeRule(question, "/v1/keys/restore", "", io);
}

}  // namespace weir
