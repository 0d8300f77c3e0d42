#include "frontend/admin_explain.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "frontend/admin_attributes.h"
#include "frontend/admin_keys.h"
#include "frontend/admin_reply.h"
#include "frontend/json_api.h"
#include "frontend/json_body.h"
#include "rule/explain.h"
#include "rule/utf8.h"
#include "service/key_lookup.h"

namespace weir {
namespace {

constexpr std::size_t kMostRules = 1000;  // told of one request

struct Question {
  std::string space;
  NamedValues values;
  std::optional<Permits> cost;
};

bool ReadQuestion(const AdminCall& call, Question& question, rule::Problems& problems) {
  rule::YamlNode root;
  if (!ReadJsonObject(call.body, root, problems)) return false;
  static constexpr std::array<std::string_view, 3> kFields = {"namespace", "attributes", "cost"};
  rule::Report report("body", problems);
  const rule::Fields fields(root, kFields, report);
  ReadRequiredText(fields, "namespace", question.space, report);
  if (const rule::YamlNode* attributes = fields.Find("attributes")) {
    question.values.Read(*attributes, report);
  }
  std::uint64_t cost = 0;
  if (fields.Count("cost", 0, UINT64_MAX, cost)) question.cost = Permits{cost};
  return report.count() == 0;
}

std::string_view NameOf(rule::Mode mode) {
  static constexpr std::array<std::string_view, 3> kNames = {"enforce", "shadow", "off"};
  return kNames[static_cast<std::size_t>(mode)];
}

}  // namespace

AdminReply ExplainCall(const AdminParts& parts, const AdminCall& call) {
  Question question;
  rule::Problems problems;
  if (!ReadQuestion(call, question, problems)) {
    return Refusal(400, problems.front().ToString(), problems);
  }
  const auto active = parts.checker->rules();
  const auto sets = active->book->sets();
  const auto set = std::find_if(sets.begin(), sets.end(), [&](const rule::RuleSet& one) {
    return one.space == question.space;
  });
  if (set == sets.end()) {
    return Refusal(404, "there is no namespace " + rule::Shown(question.space) +
                            " in force: requests to it pass; GET /v1/rules lists those there are");
  }
  const std::vector<rule::Attribute> attributes = question.values.attributes();
  CheckReply reply;
  parts.checker->Check({question.space, attributes, question.cost, CheckRequest::Intent::kLook},
                       call.now, reply);
  std::vector<rule::Explanation> explained =
      rule::Explain(*set, attributes,
                    std::chrono::sys_seconds(
                        std::chrono::floor<std::chrono::seconds>(call.now.time_since_epoch())));
  // Those that apply first: of many rules, most do not, and not all of those are told.
  std::stable_partition(explained.begin(), explained.end(),
                        [](const rule::Explanation& one) { return one.applies; });
  const std::size_t told = std::min(explained.size(), kMostRules);
  JsonText json;
  json.Object([&] {
    json.Key("namespace").Text(question.space);
    std::string decision;
    AppendDecision(reply, decision);
    json.Key("decision").Raw(decision);
    json.Key("rules").List([&] {
      for (std::size_t i = 0; i < told; ++i) {
        const rule::Explanation& one = explained[i];
        json.Object([&] {
          json.Key("rule").Text(one.rule->name);
          json.Key("mode").Text(NameOf(one.rule->mode));
          json.Key("applies").Flag(one.applies);
          json.Key("why").Text(one.why);
          const KeyLookup keys =
              one.applies ? LookUpKey(*parts.checker, {question.space, one.rule->name, attributes},
                                      call.now)
                          : KeyLookup(NoSuchKey{});
          const auto* found = std::get_if<std::vector<KeyState>>(&keys);
          WriteKeys(found != nullptr ? *found : std::vector<KeyState>(), json);
        });
      }
    });
    json.Key("left_out").Number(explained.size() - told);
  });
  return Answered(json);
}

}  // namespace weir
