// Who asks most, and what was decided last: what a server has seen, as far as it remembers.
#include <ostream>
#include <string>
#include <vector>

#include "server/client_commands.h"
#include "server/json_table.h"
#include "server/text_table.h"

namespace weir {
namespace {

// "allowed", or why it was not: the first limit that refused.
TextRow RowOf(const JsonValue& decision) {
  const JsonValue* decisive = nullptr;
  for (const JsonValue& limit : decision["limits"].items) {
    const bool refuses = !decision["allowed"].is_true() && limit["outcome"].text != "allowed";
    if (decisive == nullptr || (refuses && (*decisive)["outcome"].text == "allowed")) {
      decisive = &limit;
    }
  }
  TextRow row = {ShownValue(decision["time"]), ShownValue(decision["namespace"]),
                 decision["allowed"].is_true() ? "allowed" : "denied"};
  if (decisive != nullptr) {
    row.insert(row.end(), {ShownValue((*decisive)["rule"]), ShownValue((*decisive)["key"]),
                           ShownValue((*decisive)["remaining"])});
  } else {
    row.insert(row.end(), {ShownValue(decision["allowed_by"]), "", ""});
  }
  row.push_back(ShownValue(decision["attributes"]));
  return row;
}

}  // namespace

int ShowTop(const ClientQuestion& question, Streams io) {
  const RulePlace place = SplitPlace(question.place);
  const std::string target = "/v1/top" + ApiQuery({{"namespace", place.space},
                                                   {"rule", place.name},
                                                   {"by", question.by},
                                                   {"limit", std::to_string(question.most)}});
  ExitCode code = kDone;
  const auto top = AskServer(question.client, {.target = target}, io, code);
  if (!top || question.client.json) return code;
  std::vector<TextRow> rows = {{"KEY", question.by == "denied" ? "DENIED" : "CONSUMED"}};
  for (const JsonValue& key : (*top)["keys"].items) {
    rows.push_back({ShownValue(key["key"]), ShownValue(key["count"])});
  }
  if (rows.size() == 1) {
    io.out << "nobody since " << ShownValue((*top)["since"]) << "\n";
    return code;
  }
  PrintTable(rows, io.out);
  io.out << "since " << ShownValue((*top)["since"]);
  if ((*top)["one_in"].number() > 1) {
    io.out << "; about: one decision in " << ShownValue((*top)["one_in"]) << " was looked at";
  }
  io.out << "\n";
  return code;
}

int ShowDecisions(const ClientQuestion& question, Streams io) {
  const RulePlace place = SplitPlace(question.place);
  const std::string allowed = question.allowed ? "true" : question.denied ? "false" : "";
  const std::string target = "/v1/decisions" + ApiQuery({{"namespace", place.space},
                                                         {"rule", place.name},
                                                         {"allowed", allowed},
                                                         {"limit", std::to_string(question.most)}});
  ExitCode code = kDone;
  const auto answer = AskServer(question.client, {.target = target}, io, code);
  if (!answer || question.client.json) return code;
  const JsonValue& decisions = (*answer)["decisions"];
  if (decisions.items.empty()) {
    io.out << "there are none yet\n";
    return code;
  }
  std::vector<TextRow> rows = {{"TIME", "NAMESPACE", "OUTCOME", "RULE", "KEY", "LEFT", "REQUEST"}};
  for (const JsonValue& decision : decisions.items) rows.push_back(RowOf(decision));
  PrintTable(rows, io.out);
  return code;
}

}  // namespace weir
