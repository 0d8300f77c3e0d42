#include "server/stored_rules_output.h"

#include <ctime>
#include <ostream>
#include <string_view>

#include "rule/rule_file.h"
#include "rule/utf8.h"
#include "server/json_output.h"
#include "server/line_diff.h"
#include "server/rule_summary.h"
#include "server/text_table.h"

namespace weir {
namespace {

using catalog::Change;
using catalog::StoredRule;
using rule::Shown;

std::string TimeText(std::chrono::sys_time<std::chrono::microseconds> time) {
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

struct Verb {
  std::string_view done;
  std::string_view would;
};

Verb VerbOf(Difference::What what) {
  switch (what) {
    case Difference::What::kCreated:
      return {"created", "would create"};
    case Difference::What::kChanged:
      return {"changed", "would change"};
    case Difference::What::kDeleted:
      return {"deleted", "would delete"};
    case Difference::What::kMoved:
      return {"moved", "would move"};
  }
  return {};
}

std::string_view NameOf(Refused::Why why) {
  switch (why) {
    case Refused::Why::kInvalid:
      return "invalid";
    case Refused::Why::kConflict:
      return "conflict";
    case Refused::Why::kNotFound:
      return "not found";
    case Refused::Why::kFailed:
      return "failed";
  }
  return {};
}

ExitCode CodeOf(Refused::Why why) {
  switch (why) {
    case Refused::Why::kInvalid:
      return kWrong;
    case Refused::Why::kConflict:
      return kConflict;
    case Refused::Why::kNotFound:
      return kNotFound;
    case Refused::Why::kFailed:
      return kDatabase;
  }
  return kDatabase;
}

void WriteRule(const StoredRule& rule, JsonOutput& json) {
  json.Object([&] {
    json.Key("namespace").Text(rule.space);
    json.Key("name").Text(rule.name);
    json.Key("revision").Number(rule.revision);
    json.Key("text").Text(rule.text);
  });
}

}  // namespace

void PrintText(const std::vector<StoredRule>& rules, std::ostream& out) {
  if (rules.empty()) {
    out << "there are no rules\n";
    return;
  }
  std::vector<TextRow> rows = {{"RULE", "REVISION", "MODE", "BY", "LIMIT"}};
  for (const StoredRule& stored : rules) {
    TextRow row = {Shown(stored.space) + "/" + stored.name, std::to_string(stored.revision)};
    rule::Problems problems;
    if (const std::optional<rule::Rule> rule = rule::ReadRule(stored.text, "", problems)) {
      row.insert(row.end(), {ModeText(*rule), KeysText(*rule), AllowanceText(*rule)});
    } else {
      row.insert(row.end(), {"", "", "cannot be read: " + problems.front().what});
    }
    rows.push_back(std::move(row));
  }
  PrintTable(rows, out);
}

void PrintJson(const std::vector<StoredRule>& rules, std::ostream& out) {
  JsonOutput json(out);
  json.List(rules, [&json](const StoredRule& rule) { WriteRule(rule, json); });
}

void PrintJson(const StoredRule& rule, std::ostream& out) {
  JsonOutput json(out);
  WriteRule(rule, json);
}

void PrintText(const std::vector<Change>& changes, std::ostream& out) {
  std::vector<TextRow> rows = {{"REVISION", "TIME", "AUTHOR", "CHANGE", "RULE", "COMMENT"}};
  for (const Change& change : changes) {
    rows.push_back({std::to_string(change.revision), TimeText(change.time), Shown(change.author),
                    change.text ? "put" : "deleted", Shown(change.space) + "/" + change.name,
                    Shown(change.comment)});
  }
  PrintTable(rows, out);
}

void PrintJson(const std::vector<Change>& changes, std::ostream& out) {
  JsonOutput json(out);
  json.List(changes, [&json](const Change& change) {
    json.Object([&] {
      json.Key("revision").Number(change.revision);
      json.Key("time").Text(TimeText(change.time));
      json.Key("author").Text(change.author);
      json.Key("comment").Text(change.comment);
      json.Key("namespace").Text(change.space);
      json.Key("name").Text(change.name);
      json.Key("change").Text(change.text ? "put" : "deleted");
      json.Key("text").TextOrNull(change.text.value_or(""));
    });
  });
}

void PrintText(const Applied& applied, Intent intent, std::ostream& out) {
  for (const Difference& difference : applied.differences) {
    const Verb verb = VerbOf(difference.what);
    out << (intent == Intent::kDryRun ? verb.would : verb.done) << " " << difference.space << "/"
        << difference.name << "\n";
    if (intent != Intent::kDryRun) continue;
    for (const DiffLine& line : DiffLines(difference.before, difference.after)) {
      if (line.mark != ' ') out << "  " << line.mark << " " << line.line << "\n";
    }
  }
  if (applied.differences.empty()) {
    out << "nothing to change: revision " << applied.revision << " is in force\n";
  } else if (intent == Intent::kDryRun) {
    out << "dry run: nothing was changed\n";
  } else {
    out << "revision " << applied.revision << "\n";
  }
}

void PrintJson(const Applied& applied, Intent intent, std::ostream& out) {
  JsonOutput json(out);
  json.Object([&] {
    json.Key("dry_run").Flag(intent == Intent::kDryRun);
    json.Key("revision").Number(applied.revision);
    json.Key("differences").List(applied.differences, [&json](const Difference& difference) {
      json.Object([&] {
        json.Key("what").Text(VerbOf(difference.what).done);
        json.Key("namespace").Text(difference.space);
        json.Key("name").Text(difference.name);
        json.Key("before").TextOrNull(difference.before);
        json.Key("after").TextOrNull(difference.after);
      });
    });
  });
}

ExitCode PrintRefused(const Refused& refused, bool as_json, Streams io) {
  for (const rule::Problem& problem : refused.problems) io.err << problem.ToString() << "\n";
  if (!refused.message.empty()) io.err << refused.message << "\n";
  if (as_json) {
    JsonOutput json(io.out);
    json.Object([&] {
      json.Key("refused").Text(NameOf(refused.why));
      json.Key("message").TextOrNull(refused.message);
      json.Key("problems").ProblemList(refused.problems);
    });
  }
  return CodeOf(refused.why);
}

}  // namespace weir
