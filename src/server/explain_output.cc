#include "server/explain_output.h"

#include <algorithm>
#include <ostream>

#include "rule/utf8.h"
#include "server/json_output.h"
#include "server/text_table.h"

namespace weir {
namespace {

using rule::Explanation;

// The first rule that lets the request pass before all others, if one does.
const Explanation* FindAllow(const std::vector<Explanation>& rules) {
  const auto found = std::find_if(rules.begin(), rules.end(), [](const Explanation& explanation) {
    return explanation.applies && explanation.rule->allow;
  });
  return found != rules.end() ? &*found : nullptr;
}

std::string AnswerOf(const Explanation& explanation, bool asked) {
  if (!explanation.applies) return "no";
  if (explanation.rule->allow) return "allows";
  if (!asked) return "not asked";
  return explanation.rule->mode == rule::Mode::kShadow ? "shadow" : "applies";
}

void PrintOne(const ExplainedRequest& explained, std::ostream& out) {
  const Explanation* allow = FindAllow(explained.rules);
  std::vector<ExplainedRow> rows;
  for (const Explanation& explanation : explained.rules) {
    ExplainedRow row{
        AnswerOf(explanation, allow == nullptr), explanation.rule->name, explanation.why, {}};
    for (const rule::ExplainedKey& key : explanation.keys) {
      row.keys.push_back(key.key + ": " + key.allowance);
    }
    rows.push_back(std::move(row));
  }
  PrintExplained(explained.set->space, *explained.request, rows, out);
  if (allow != nullptr) {
    out << "  It passes: " << allow->rule->name << " allows it, and no other rule is asked.\n";
  } else if (std::none_of(explained.rules.begin(), explained.rules.end(),
                          [](const Explanation& one) { return one.applies; })) {
    out << "  It passes: no rule applies.\n";
  }
}

}  // namespace

void PrintExplained(const std::string& space, const RequestAttributes& request,
                    const std::vector<ExplainedRow>& rules, std::ostream& out) {
  out << "namespace " << rule::Shown(space) << ", request";
  for (const auto& [name, value] : request) {
    out << " " << rule::Shown(name) << "=" << rule::Shown(value);
  }
  out << (request.empty() ? " without attributes\n" : "\n");
  std::vector<TextRow> rows;
  for (const ExplainedRow& rule : rules) {
    rows.push_back({"  " + rule.answer, rule.rule, rule.why});
    for (const std::string& key : rule.keys) rows.push_back({"", "", key});
  }
  PrintTable(rows, out);
}

ExplainedRequest ExplainRequest(const rule::RuleSet& set, const RequestAttributes& request,
                                std::chrono::sys_seconds now) {
  std::vector<rule::Attribute> attributes;
  attributes.reserve(request.size());
  for (const auto& [name, value] : request) attributes.push_back({name, value});
  return {&set, &request, rule::Explain(set, attributes, now)};
}

void PrintText(const std::vector<ExplainedRequest>& explained, std::ostream& out) {
  for (std::size_t i = 0; i < explained.size(); ++i) {
    if (i > 0) out << "\n";
    PrintOne(explained[i], out);
  }
}

void PrintJson(const std::vector<ExplainedRequest>& explained, std::ostream& out) {
  JsonOutput json(out);
  json.List(explained, [&json](const ExplainedRequest& one) {
    const bool asked = FindAllow(one.rules) == nullptr;
    json.Object([&] {
      json.Key("namespace").Text(rule::Shown(one.set->space));
      json.Key("request").List(*one.request, [&json](const auto& attribute) {
        json.Object([&] {
          json.Key("name").Text(rule::Shown(attribute.first));
          json.Key("value").Text(rule::Shown(attribute.second));
        });
      });
      json.Key("rules").List(one.rules, [&](const Explanation& explanation) {
        json.Object([&] {
          json.Key("name").Text(explanation.rule->name);
          json.Key("applies").Flag(explanation.applies);
          json.Key("asked").Flag(explanation.applies && (asked || explanation.rule->allow));
          json.Key("answer").Text(AnswerOf(explanation, asked));
          json.Key("why").Text(explanation.why);
          json.Key("keys").List(explanation.keys, [&json](const rule::ExplainedKey& key) {
            json.Object([&] {
              json.Key("key").Text(key.key);
              json.Key("allowance").Text(key.allowance);
            });
          });
        });
      });
    });
  });
}

}  // namespace weir
