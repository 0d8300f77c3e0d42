#include "frontend/admin_change.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "frontend/admin_reply.h"

namespace weir {
namespace {

using catalog::Revision;
using Kind = Precondition::Kind;

constexpr std::size_t kMostDifferences = 1000;  // told of one change

std::string_view NameOf(Difference::What what) {
  static constexpr std::array<std::string_view, 4> kNames = {"created", "changed", "deleted",
                                                             "moved"};
  return kNames[static_cast<std::size_t>(what)];
}

std::string Named(const AdminChange& change) {
  return change.name.empty() ? change.space : change.space + "/" + change.name;
}

// What the change is made from, as the service wants it.
std::optional<Revision> MadeFrom(const Precondition& precondition) {
  switch (precondition.kind) {
    case Kind::kRevision:
      return precondition.revision;
    case Kind::kIsNew:
      return Revision{0};
    case Kind::kExists:
    case Kind::kNone:
      break;
  }
  return std::nullopt;
}

// Whether the rules that are fetched are at least of this revision.
bool IsInForce(const AdminParts& parts, Revision revision) {
  if (!parts.look_now) return false;
  const catalog::RetrieverStatus status = parts.look_now();
  const Result<std::uint64_t> version = ParseCount(status.version);
  return version && *version >= static_cast<std::uint64_t>(revision);
}

AdminReply Tell(const Applied& applied, Intent intent, bool in_force) {
  JsonText json;
  json.Object([&] {
    json.Key("revision").Number(applied.revision);
    json.Key("dry_run").Flag(intent == Intent::kDryRun);
    json.Key("in_force").Flag(in_force);
    WriteDifferences(applied.differences, json);
    json.Key("notes").ListOf(applied.doubts,
                             [&](const rule::Problem& doubt) { json.Text(doubt.ToString()); });
  });
  return Answered(json);
}

}  // namespace

void WriteDifferences(const std::vector<Difference>& differences, JsonText& json) {
  const std::size_t told = std::min(differences.size(), kMostDifferences);
  json.Key("differences").List([&] {
    for (std::size_t i = 0; i < told; ++i) {
      const Difference& difference = differences[i];
      json.Object([&] {
        json.Key("what").Text(NameOf(difference.what));
        json.Key("namespace").Text(difference.space);
        json.Key("rule").Text(difference.name);
        json.Key("before").TextOrNull(difference.before);
        json.Key("after").TextOrNull(difference.after);
      });
    }
  });
  json.Key("left_out").Number(differences.size() - told);
}

ServiceResult<Revision> RevisionInForce(RulesService& rules, const std::string& space,
                                        const std::string& name) {
  if (name.empty()) return rules.RevisionOf(space);
  const auto rule = rules.Get(space, name);
  if (const auto* refused = std::get_if<Refused>(&rule)) {
    if (refused->why == Refused::Why::kNotFound) return Revision{0};
    return *refused;
  }
  return std::get<catalog::StoredRule>(rule).revision;
}

std::optional<AdminReply> Record(const AdminParts& parts, const AuditEntry& entry) {
  if (parts.audit == nullptr) return std::nullopt;
  const std::optional<Error> failed = parts.audit->Record(entry);
  if (!failed) return std::nullopt;
  return Refusal(503, "nothing was changed, because it could not be recorded: " + failed->message);
}

AdminReply MakeChange(const AdminParts& parts, const AdminCall& call, const AdminChange& change) {
  if (parts.rules == nullptr) return KeptInFiles(parts);
  const Result<bool> dry_run = FlagIn(call, "dry_run");
  if (!dry_run) return Refusal(400, dry_run.error().message);
  const Precondition& precondition = call.precondition;
  if (precondition.kind == Kind::kNone && !*dry_run) return PreconditionMissing();

  const auto refuse = [&](const Refused& refused) {
    AdminReply reply = Refusal(refused);
    if (refused.why != Refused::Why::kConflict) return reply;
    const auto revision = RevisionInForce(*parts.rules, change.space, change.name);
    if (const auto* current = std::get_if<Revision>(&revision)) AddTag(*current, reply);
    return reply;
  };
  const auto in_force = RevisionInForce(*parts.rules, change.space, change.name);
  if (const auto* refused = std::get_if<Refused>(&in_force)) return refuse(*refused);
  if (precondition.kind == Kind::kExists && std::get<Revision>(in_force) == 0) {
    return refuse({Refused::Why::kConflict,
                   "there is no " + Named(change) +
                       " that If-Match: * could mean; make it with If-None-Match: *",
                   {}});
  }

  const catalog::Authorship by{call.caller.name, std::string(call.Query("comment").value_or(""))};
  const std::optional<Revision> made_from = MadeFrom(precondition);
  ServiceResult<Applied> result = change.make(made_from, by, Intent::kDryRun);
  if (const auto* refused = std::get_if<Refused>(&result)) return refuse(*refused);
  if (*dry_run) return Tell(std::get<Applied>(result), Intent::kDryRun, false);

  AuditEntry entry{call.caller.name, change.action, Named(change),
                   "from revision " + std::to_string(std::get<Revision>(in_force))};
  if (!by.comment.empty()) entry.detail += ": " + by.comment;
  if (auto refusal = Record(parts, entry)) return *std::move(refusal);
  result = change.make(made_from, by, Intent::kForReal);
  if (const auto* refused = std::get_if<Refused>(&result)) {
    // The trail says that it would be done; if it cannot even be told otherwise, the caller is.
    entry.action += ".failed";
    entry.detail = refused->message;
    static_cast<void>(Record(parts, entry));
    return refuse(*refused);
  }
  const auto& applied = std::get<Applied>(result);
  AdminReply reply = Tell(applied, Intent::kForReal, IsInForce(parts, applied.revision));
  const auto revision = RevisionInForce(*parts.rules, change.space, change.name);
  if (const auto* now = std::get_if<Revision>(&revision); now != nullptr && *now > 0) {
    AddTag(*now, reply);
  }
  return reply;
}

}  // namespace weir
