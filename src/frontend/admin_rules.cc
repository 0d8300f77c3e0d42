#include "frontend/admin_rules.h"

#include <algorithm>
#include <string>
#include <utility>

#include "frontend/admin_change.h"
#include "frontend/admin_reply.h"
#include "frontend/json_body.h"
#include "rule/json.h"
#include "rule/rule_file.h"
#include "rule/rule_writer.h"
#include "rule/utf8.h"
#include "rule/yaml.h"
#include "rule/yaml_writer.h"

namespace weir {
namespace {

using catalog::Authorship;
using catalog::Revision;

constexpr std::string_view kBody = "body";  // what the text of a call is called in messages

// A text that was read before, in the form that is wanted.
AdminReply Document(const std::string& yaml, Media wanted) {
  if (wanted == Media::kYaml) return {.content_type = NameOf(wanted), .body = yaml};
  rule::YamlNode root;
  rule::Problems problems;
  if (!rule::ReadYaml(yaml, "rules", root, problems)) {
    return Refusal(422, "what is kept cannot be read; ask for application/yaml", problems);
  }
  return {.body = rule::ToJson(root) + "\n"};
}

// What is in force, of a server that reads files. The version of all of it is the ETag.
AdminReply FromFiles(const AdminParts& parts, const AdminCall& call, const std::string& space,
                     const std::string& name) {
  const auto active = parts.checker->rules();
  const rule::Space* found = active->book->Find(space);
  if (found == nullptr) {
    return Refusal(404,
                   "there is no namespace " + rule::Shown(space) + "; GET /v1/rules lists all");
  }
  std::string text;
  rule::RuleSet set{space, {}};
  for (const rule::CompiledRule& rule : found->rules()) {
    if (name.empty()) set.rules.push_back(*rule.rule);
    if (!name.empty() && rule.rule->name == name) text = rule::WriteRule(*rule.rule);
  }
  if (name.empty()) text = rule::WriteRules(set);
  if (text.empty()) {
    return Refusal(404, "there is no rule " + rule::Shown(space) + "/" + rule::Shown(name));
  }
  AdminReply reply = Document(text, call.wanted);
  reply.fields.emplace_back("ETag", '"' + active->version + '"');
  return reply;
}

// The body as YAML, or why it cannot be.
Result<std::string> YamlOf(const AdminCall& call) {
  if (call.sent == Media::kJson) return JsonAsYaml(call.body);
  return std::string(call.body);
}

}  // namespace

AdminReply ListNamespaces(const AdminParts& parts, const AdminCall& call) {
  const Result<std::int64_t> limit = CountIn(call, "limit", 1, 1000, 100);
  if (!limit) return Refusal(400, limit.error().message);
  const auto active = parts.checker->rules();
  const auto& spaces = active->book->spaces();
  auto next = spaces.upper_bound(call.Query("after").value_or(""));
  JsonText json;
  json.Object([&] {
    std::string last;
    json.Key("namespaces").List([&] {
      for (std::int64_t i = 0; i < *limit && next != spaces.end(); ++i, ++next) {
        last = next->first;
        json.Object([&] {
          json.Key("namespace").Text(next->first);
          json.Key("rules").Number(next->second.rules().size());
        });
      }
    });
    json.Key("next").TextOrNull(next != spaces.end() ? last : "");
  });
  return Answered(json);
}

AdminReply GetNamespace(const AdminParts& parts, const AdminCall& call) {
  const std::string& space = call.path[0];
  if (parts.rules == nullptr) return FromFiles(parts, call, space, "");
  // The revision first: if a change comes between the two, its ETag is stale and not the text.
  const auto revision = parts.rules->RevisionOf(space);
  if (const auto* refused = std::get_if<Refused>(&revision)) return Refusal(*refused);
  const auto text = parts.rules->Export(space);
  if (const auto* refused = std::get_if<Refused>(&text)) return Refusal(*refused);
  AdminReply reply = Document(std::get<std::string>(text), call.wanted);
  AddTag(std::get<Revision>(revision), reply);
  return reply;
}

AdminReply PutNamespace(const AdminParts& parts, const AdminCall& call) {
  const Result<std::string> yaml = YamlOf(call);
  if (!yaml) return Refusal(400, yaml.error().message);
  const catalog::RuleFile file{std::string(kBody), *yaml};
  const std::string& space = call.path[0];
  return MakeChange(
      parts, call,
      {.action = "rules.put",
       .space = space,
       .name = {},
       .make = [&](std::optional<Revision> made_from, const Authorship& by, Intent intent) {
         return parts.rules->Replace(space, file, made_from, by, intent);
       }});
}

AdminReply DeleteNamespace(const AdminParts& parts, const AdminCall& call) {
  const std::string& space = call.path[0];
  const catalog::RuleFile nothing{std::string(kBody),
                                  "namespace: " + rule::YamlScalar(space) + "\nrules: []\n"};
  return MakeChange(parts, call,
                    {.action = "rules.delete",
                     .space = space,
                     .name = {},
                     .make = [&](std::optional<Revision> made_from, const Authorship& by,
                                 Intent intent) -> ServiceResult<Applied> {
                       const auto known =
                           parts.rules->List(space);  // what never was cannot be deleted
                       if (const auto* refused = std::get_if<Refused>(&known)) return *refused;
                       return parts.rules->Replace(space, nothing, made_from, by, intent);
                     }});
}

AdminReply GetOneRule(const AdminParts& parts, const AdminCall& call) {
  if (parts.rules == nullptr) return FromFiles(parts, call, call.path[0], call.path[1]);
  const auto found = parts.rules->Get(call.path[0], call.path[1]);
  if (const auto* refused = std::get_if<Refused>(&found)) return Refusal(*refused);
  const auto& rule = std::get<catalog::StoredRule>(found);
  AdminReply reply = Document(rule.text, call.wanted);
  AddTag(rule.revision, reply);
  return reply;
}

AdminReply PutOneRule(const AdminParts& parts, const AdminCall& call) {
  const Result<std::string> yaml = YamlOf(call);
  if (!yaml) return Refusal(400, yaml.error().message);
  catalog::RuleFile file{std::string(kBody), *yaml};
  rule::Problems problems;
  const std::optional<rule::Rule> rule = rule::ReadRule(file.text, file.name, problems);
  if (!rule) return Refusal({Refused::Why::kInvalid, "", std::move(problems)});
  if (rule->name != call.path[1]) {
    return Refusal(422, "the rule is named '" + rule->name + "', and the path says '" +
                            rule::Shown(call.path[1]) + "'; write the same name in both");
  }
  if (call.sent == Media::kJson) file.text = rule::WriteRule(*rule);  // kept as people read it
  const std::string& space = call.path[0];
  return MakeChange(
      parts, call,
      {.action = "rules.put",
       .space = space,
       .name = rule->name,
       .make = [&](std::optional<Revision> made_from, const Authorship& by, Intent intent) {
         return parts.rules->Put(space, file, made_from, by, intent);
       }});
}

AdminReply DeleteOneRule(const AdminParts& parts, const AdminCall& call) {
  const std::string& space = call.path[0];
  const std::string& name = call.path[1];
  return MakeChange(
      parts, call,
      {.action = "rules.delete",
       .space = space,
       .name = name,
       .make = [&](std::optional<Revision> made_from, const Authorship& by, Intent intent) {
         return parts.rules->Delete(space, name, made_from, by, intent);
       }});
}

}  // namespace weir
