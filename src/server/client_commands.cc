#include "server/client_commands.h"

#include <ostream>

#include "rule/json.h"
#include "server/explain_output.h"
#include "server/json_table.h"
#include "server/request_text.h"
#include "server/text_table.h"

namespace weir {
namespace {

void AddRules(const JsonValue& status, std::vector<TextRow>& rows) {
  const JsonValue& rules = status["rules"];
  const bool in_force = rules["state"].text == "in_force";
  rows.push_back({"rules", (in_force ? "" : ShownValue(rules["state"]) + ": ") +
                               ShownValue(status["rule_count"]) + " in " +
                               ShownValue(status["namespaces"]) + " namespaces, version " +
                               ShownValue(rules["version"]) + " of " +
                               ShownValue(rules["source"])});
  if (!rules["since"].is_null())
    rows.push_back({"", "in force since " + ShownValue(rules["since"])});
  if (!rules["away"].is_null())
    rows.push_back({"", "cannot be reached: " + ShownValue(rules["away"])});
  for (const JsonValue& problem : rules["problems"].items) {
    rows.push_back({"", "cannot be used: " + ShownValue(problem)});
  }
}

std::string Size(const JsonValue& bytes) {
  const std::int64_t all = bytes.number();
  return all < 1 << 20 ? std::to_string(all >> 10) + " KiB" : std::to_string(all >> 20) + " MiB";
}

void PrintStatus(const JsonValue& status, std::ostream& out) {
  std::vector<TextRow> rows = {{"server", "weir " + ShownValue(status["version"]) + ", up " +
                                              ShownMillis(status["uptime_ms"]) + ", since " +
                                              ShownValue(status["started"])}};
  for (const JsonValue& listener : status["listeners"].items) {
    rows.push_back({ShownValue(listener["protocol"]), "on " + ShownValue(listener["address"])});
  }
  AddRules(status, rows);
  const JsonValue& table = status["table"];
  rows.push_back({"keys", ShownValue(table["keys"]) + " of " + ShownValue(table["slots"]) + ", " +
                              Size(table["bytes"]) +
                              "; forgotten to make room: " + ShownValue(table["evicted"])});
  const JsonValue& connections = status["connections"];
  if (!connections.is_null()) {
    rows.push_back({"clients", ShownValue(connections["open"]) + " connections, " +
                                   ShownValue(connections["accepted"]) + " so far"});
  }
  PrintTable(rows, out);
}

// "ip=10.1.2.3: sliding_window 5/1m, 3 left", and when there is more if there is none.
std::vector<std::string> KeysOf(const JsonValue& rule) {
  std::vector<std::string> lines;
  for (const JsonValue& key : rule["keys"].items) {
    const std::string name = ShownValue(key["key"]);
    if (!key["banned_for_ms"].is_null()) {
      lines.push_back(name + ": banned for " + ShownMillis(key["banned_for_ms"]));
    }
    if (key["limits"].items.empty()) lines.push_back(name + ": " + ShownValue(key["allowance"]));
    for (const JsonValue& limit : key["limits"].items) {
      std::string line = name + ": " + ShownValue(limit["limit"]) + ", " +
                         ShownValue(limit["remaining"]) + " left";
      if (!limit["allowed"].is_true()) line += ", again in " + ShownMillis(limit["retry_after_ms"]);
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::string AnswerOf(const JsonValue& rule, const JsonValue& allowed_by) {
  if (!rule["applies"].is_true()) return "no";
  if (!allowed_by.is_null()) return rule["rule"].text == allowed_by.text ? "allows" : "not asked";
  return rule["mode"].text == "shadow" ? "shadow" : "applies";
}

void PrintVerdict(const JsonValue& decision, bool any_applies, std::ostream& out) {
  if (!decision["allowed"].is_true()) {
    out << "  It is refused: " << ShownValue(decision["rule"]);
    if (!decision["retry_after_ms"].is_null()) {
      out << ", again in " << ShownMillis(decision["retry_after_ms"]);
    }
    out << ".\n";
  } else if (!decision["allowed_by"].is_null()) {
    out << "  It passes: " << ShownValue(decision["allowed_by"])
        << " allows it, and no other rule is asked.\n";
  } else {
    out << (any_applies ? "  It passes.\n" : "  It passes: no rule applies.\n");
  }
}

std::string Object(const RequestAttributes& attributes) {
  std::string json;
  for (const auto& [name, value] : attributes) {
    json += (json.empty() ? "" : ",") + rule::JsonString(name) + ":" + rule::JsonString(value);
  }
  return "{" + json + "}";
}

}  // namespace

RulePlace SplitPlace(const std::string& place) {
  const std::size_t slash = place.find('/');
  if (slash == std::string::npos) return {place, ""};
  return {place.substr(0, slash), place.substr(slash + 1)};
}

int ShowStatus(const ClientQuestion& question, Streams io) {
  ExitCode code = kDone;
  const auto status = AskServer(question.client, {.target = "/v1/status"}, io, code);
  if (!status) return code;
  if (!question.client.json) PrintStatus(*status, io.out);
  // For scripts that watch it: the server is there, and its rules are not what they should be.
  const std::string& state = (*status)["rules"]["state"].text;
  return state.empty() || state == "in_force" ? kDone : kWrong;
}

int ExplainNow(const ClientQuestion& question, Streams io) {
  const Result<RequestAttributes> request = ParseRequest(question.request);
  if (!request) {
    io.err << "--request: " << request.error().message << "\n";
    return kUnreadable;
  }
  std::string body = R"({"namespace":)" + rule::JsonString(question.place) + R"(,"attributes":)" +
                     Object(*request);
  if (question.cost) body += R"(,"cost":)" + std::to_string(*question.cost);
  ExitCode code = kDone;
  const auto answer = AskServer(
      question.client, {.method = "POST", .target = "/v1/explain", .body = body + "}"}, io, code);
  if (!answer) return code;
  const JsonValue& decision = (*answer)["decision"];
  if (!question.client.json) {
    std::vector<ExplainedRow> rows;
    bool any_applies = false;
    for (const JsonValue& rule : (*answer)["rules"].items) {
      any_applies = any_applies || rule["applies"].is_true();
      rows.push_back({AnswerOf(rule, decision["allowed_by"]), ShownValue(rule["rule"]),
                      ShownValue(rule["why"]), KeysOf(rule)});
    }
    PrintExplained(question.place, *request, rows, io.out);
    PrintVerdict(decision, any_applies, io.out);
  }
  return decision["allowed"].is_true() ? kDone : kWrong;
}

int ShowAudit(const ClientQuestion& question, Streams io) {
  const std::string target = "/v1/audit" + ApiQuery({{"limit", std::to_string(question.most)}});
  ExitCode code = kDone;
  const auto trail = AskServer(question.client, {.target = target}, io, code);
  if (trail && !question.client.json) {
    PrintObjects((*trail)["entries"], "nothing was changed yet", io.out);
  }
  return code;
}

}  // namespace weir
