#include "server/remote_rules.h"

#include <algorithm>

#include "base/text.h"
#include "base/utc_time.h"
#include "catalog/file_sets.h"
#include "rule/rule_file.h"
#include "rule/rule_writer.h"
#include "server/client_options.h"

namespace weir {
namespace {

using catalog::Authorship;
using catalog::Change;
using catalog::Revision;
using catalog::RuleFile;
using catalog::StoredRule;

constexpr char kRules[] = "/v1/rules";
constexpr char kYaml[] = "application/yaml";
constexpr int kPage = 1000;  // the most that the API tells at once

std::vector<std::string> Place(const std::string& space, const std::string& name) {
  if (name.empty()) return {space};
  return {space, name};
}

// "7", with its quotes. Of a server that reads files it is no revision: 0.
Revision RevisionIn(std::string_view tag) {
  if (tag.size() < 2) return 0;
  const Result<std::uint64_t> revision = ParseCount(tag.substr(1, tag.size() - 2));
  return revision ? static_cast<Revision>(*revision) : 0;
}

std::string Tag(Revision revision) { return "\"" + std::to_string(revision) + "\""; }

Difference::What WhatOf(std::string_view name) {
  if (name == "created") return Difference::What::kCreated;
  if (name == "deleted") return Difference::What::kDeleted;
  if (name == "moved") return Difference::What::kMoved;
  return Difference::What::kChanged;
}

// The value, or the refusal of the other type.
template <typename T>
const Refused* RefusalIn(const ServiceResult<T>& result) {
  return std::get_if<Refused>(&result);
}

}  // namespace

Applied AppliedOf(const JsonValue& change) {
  Applied applied{.revision = change["revision"].number(), .differences = {}, .doubts = {}};
  for (const JsonValue& difference : change["differences"].items) {
    applied.differences.push_back({WhatOf(difference["what"].text), difference["namespace"].text,
                                   difference["rule"].text, difference["before"].text,
                                   difference["after"].text});
  }
  return applied;
}

Refused RefusedOf(const wire::HttpAnswer& answer) {
  Refused refused{Refused::Why::kFailed, RefusalText(answer), {}};
  if (answer.status == 404) refused.why = Refused::Why::kNotFound;
  if (answer.status == 412) refused.why = Refused::Why::kConflict;
  if (answer.status == 400 || answer.status == 409 || answer.status == 422) {
    refused.why = Refused::Why::kInvalid;
  }
  const Result<JsonValue> body = JsonValue::Parse(answer.body);
  if (!body) return refused;
  for (const JsonValue& problem : (*body)["problems"].items) {
    refused.problems.push_back(
        {problem["place"].text,
         {static_cast<int>(problem["line"].number()), static_cast<int>(problem["column"].number())},
         problem["rule"].text,
         problem["what"].text,
         problem["remedy"].text});
  }
  // The detail is the first of them then.
  if (!refused.problems.empty()) refused.message.clear();
  return refused;
}

ServiceResult<wire::HttpAnswer> RemoteRules::Ask(const ApiCall& call) {
  Result<wire::HttpAnswer> answer = client_.Ask(call);
  if (!answer) return Refused{Refused::Why::kFailed, answer.error().message, {}};
  if (answer->status >= 300) return RefusedOf(*answer);
  return std::move(*answer);
}

ServiceResult<JsonValue> RemoteRules::AskJson(const ApiCall& call) {
  const auto answer = Ask(call);
  if (const Refused* refused = RefusalIn(answer)) return *refused;
  Result<JsonValue> body = JsonValue::Parse(std::get<wire::HttpAnswer>(answer).body);
  if (!body) {
    return Refused{
        Refused::Why::kFailed, "the server answers no JSON: " + body.error().message, {}};
  }
  return std::move(*body);
}

ServiceResult<std::vector<std::string>> RemoteRules::Namespaces() {
  std::vector<std::string> spaces;
  std::string after;
  do {
    const auto page = AskJson(
        {.target = kRules + ApiQuery({{"limit", std::to_string(kPage)}, {"after", after}})});
    if (const Refused* refused = RefusalIn(page)) return *refused;
    const auto& list = std::get<JsonValue>(page);
    for (const JsonValue& one : list["namespaces"].items) spaces.push_back(one["namespace"].text);
    after = list["next"].text;
  } while (!after.empty());
  return spaces;
}

// A call for each rule: the revision of a rule is told with that rule alone.
ServiceResult<std::vector<StoredRule>> RemoteRules::List(std::optional<std::string_view> space) {
  std::vector<std::string> spaces;
  if (space) {
    spaces.emplace_back(*space);
  } else {
    auto all = Namespaces();
    if (const Refused* refused = RefusalIn(all)) return *refused;
    spaces = std::get<std::vector<std::string>>(std::move(all));
  }
  std::vector<StoredRule> rules;
  for (const std::string& one : spaces) {
    const auto set = AskJson({.target = ApiPath(kRules, {one})});
    if (const Refused* refused = RefusalIn(set)) return *refused;
    for (const JsonValue& rule : std::get<JsonValue>(set)["rules"].items) {
      auto stored = Get(one, rule["name"].text);
      if (const Refused* refused = RefusalIn(stored)) return *refused;
      rules.push_back(std::get<StoredRule>(std::move(stored)));
    }
  }
  return rules;
}

ServiceResult<StoredRule> RemoteRules::Get(const std::string& space, const std::string& name) {
  auto answer = Ask({.target = ApiPath(kRules, {space, name}), .fields = {{"Accept", kYaml}}});
  if (const Refused* refused = RefusalIn(answer)) return *refused;
  auto& rule = std::get<wire::HttpAnswer>(answer);
  return StoredRule{space, name, RevisionIn(rule.Field("etag")), std::move(rule.body)};
}

ServiceResult<std::vector<Change>> RemoteRules::History(const std::string& space,
                                                        const std::string& name, int most) {
  std::vector<Change> changes;
  std::string before;
  do {
    const int left = std::min(most - static_cast<int>(changes.size()), kPage);
    const auto page =
        AskJson({.target = ApiPath("/v1/history", Place(space, name)) +
                           ApiQuery({{"limit", std::to_string(left)}, {"before", before}})});
    if (const Refused* refused = RefusalIn(page)) return *refused;
    const auto& list = std::get<JsonValue>(page);
    for (const JsonValue& one : list["changes"].items) {
      Change change{.revision = one["revision"].number(),
                    .space = one["namespace"].text,
                    .name = one["rule"].text,
                    .text = std::nullopt,
                    .author = one["author"].text,
                    .comment = one["comment"].text,
                    .time = ParseUtc(one["time"].text).value_or(std::chrono::sys_seconds())};
      if (!one["text"].is_null()) change.text = one["text"].text;
      changes.push_back(std::move(change));
    }
    before = list["next"].text;
  } while (!before.empty() && static_cast<int>(changes.size()) < most);
  return changes;
}

ServiceResult<std::pair<std::string, std::string>> RemoteRules::Precondition(
    const std::string& path, std::optional<Revision> made_from) {
  using Field = std::pair<std::string, std::string>;
  const Field is_new{"If-None-Match", "*"};
  if (made_from) return *made_from == 0 ? is_new : Field{"If-Match", Tag(*made_from)};
  const auto there = Ask({.target = path, .fields = {{"Accept", kYaml}}});
  const Refused* refused = RefusalIn(there);
  if (refused == nullptr) return Field{"If-Match", "*"};
  if (refused->why == Refused::Why::kNotFound) return is_new;
  return *refused;
}

ServiceResult<Applied> RemoteRules::MakeChange(
    ApiCall call, const std::vector<std::pair<std::string, std::string>>& query,
    const Authorship& by, Intent intent) {
  std::vector<std::pair<std::string, std::string>> all = query;
  all.emplace_back("comment", by.comment);
  all.emplace_back("dry_run", intent == Intent::kDryRun ? "true" : "");
  call.target += ApiQuery(all);
  const auto change = AskJson(call);
  if (const Refused* refused = RefusalIn(change)) return *refused;
  return AppliedOf(std::get<JsonValue>(change));
}

ServiceResult<Applied> RemoteRules::Put(const std::string& space, const RuleFile& file,
                                        std::optional<Revision> made_from, const Authorship& by,
                                        Intent intent) {
  // Read here first: for its name, and so that what is wrong is told with the place in the file.
  rule::Problems problems;
  const std::optional<rule::Rule> rule = rule::ReadRule(file.text, file.name, problems);
  if (!rule) return Refused{Refused::Why::kInvalid, "", std::move(problems)};
  const std::string path = ApiPath(kRules, {space, rule->name});
  const auto from = Precondition(path, made_from);
  if (const Refused* refused = RefusalIn(from)) return *refused;
  return MakeChange({.method = "PUT",
                     .target = path,
                     .body = file.text,
                     .content_type = kYaml,
                     .fields = {std::get<0>(from)}},
                    {}, by, intent);
}

ServiceResult<Applied> RemoteRules::Delete(const std::string& space, const std::string& name,
                                           std::optional<Revision> made_from, const Authorship& by,
                                           Intent intent) {
  const std::string path = ApiPath(kRules, {space, name});
  if (!made_from) {  // what is not there is not found, and no conflict
    const auto there = Get(space, name);
    if (const Refused* refused = RefusalIn(there)) return *refused;
  }
  return MakeChange({.method = "DELETE",
                     .target = path,
                     .fields = {{"If-Match", made_from ? Tag(*made_from) : "*"}}},
                    {}, by, intent);
}

ServiceResult<Applied> RemoteRules::Rollback(const std::string& space, const std::string& name,
                                             Revision to, const Authorship& by, Intent intent) {
  const auto from = Precondition(ApiPath(kRules, Place(space, name)), std::nullopt);
  if (const Refused* refused = RefusalIn(from)) return *refused;
  return MakeChange({.method = "POST",
                     .target = ApiPath("/v1/rollback", Place(space, name)),
                     .fields = {std::get<0>(from)}},
                    {{"to", std::to_string(to)}}, by, intent);
}

ServiceResult<Applied> RemoteRules::Import(const std::vector<RuleFile>& files, const Authorship& by,
                                           Intent intent) {
  rule::Problems problems;
  Applied all;
  const std::vector<catalog::FileSet> sets = catalog::ReadFileSets(files, problems, &all.doubts);
  if (!problems.empty()) return Refused{Refused::Why::kInvalid, "", std::move(problems)};
  const auto import_all = [&](Intent how) -> std::optional<Refused> {
    all.differences.clear();
    for (const catalog::FileSet& file : sets) {
      const std::string path = ApiPath(kRules, {file.set.space});
      const auto from = Precondition(path, std::nullopt);
      if (const Refused* refused = RefusalIn(from)) return *refused;
      const auto change = MakeChange({.method = "PUT",
                                      .target = path,
                                      .body = rule::WriteRules(file.set),
                                      .content_type = kYaml,
                                      .fields = {std::get<0>(from)}},
                                     {}, by, how);
      if (const Refused* refused = RefusalIn(change)) return *refused;
      const auto& applied = std::get<Applied>(change);
      all.revision = std::max(all.revision, applied.revision);
      all.differences.insert(all.differences.end(), applied.differences.begin(),
                             applied.differences.end());
    }
    return std::nullopt;
  };
  if (auto refused = import_all(Intent::kDryRun)) return *std::move(refused);
  if (intent == Intent::kDryRun) return all;
  if (auto refused = import_all(Intent::kForReal)) return *std::move(refused);
  return all;
}

ServiceResult<std::string> RemoteRules::Export(const std::string& space) {
  auto answer = Ask({.target = ApiPath(kRules, {space}), .fields = {{"Accept", kYaml}}});
  if (const Refused* refused = RefusalIn(answer)) return *refused;
  return std::move(std::get<wire::HttpAnswer>(answer).body);
}

}  // namespace weir
