#include "frontend/admin_history.h"

#include <algorithm>
#include <limits>
#include <string>

#include "frontend/admin_change.h"
#include "frontend/admin_reply.h"

namespace weir {
namespace {

using catalog::Authorship;
using catalog::Change;
using catalog::Revision;

constexpr Revision kLastRevision = std::numeric_limits<Revision>::max();

std::string NameIn(const AdminCall& call) { return call.path.size() > 1 ? call.path[1] : ""; }

}  // namespace

AdminReply GetHistory(const AdminParts& parts, const AdminCall& call) {
  if (parts.rules == nullptr) return KeptInFiles(parts);
  const Result<std::int64_t> limit = CountIn(call, "limit", 1, 1000, 100);
  if (!limit) return Refusal(400, limit.error().message);
  const Result<std::int64_t> before = CountIn(call, "before", 1, kLastRevision, kLastRevision);
  if (!before) return Refusal(400, before.error().message);
  // One more than is told, to know whether there is more; of an older page, all of it.
  const int most =
      *before == kLastRevision ? static_cast<int>(*limit) + 1 : std::numeric_limits<int>::max();
  const auto found = parts.rules->History(call.path[0], NameIn(call), most);
  if (const auto* refused = std::get_if<Refused>(&found)) return Refusal(*refused);
  const auto& changes = std::get<std::vector<Change>>(found);
  auto change = std::find_if(changes.begin(), changes.end(),
                             [&](const Change& one) { return one.revision < *before; });
  JsonText json;
  json.Object([&] {
    Revision last = 0;
    json.Key("changes").List([&] {
      for (std::int64_t i = 0; i < *limit && change != changes.end(); ++i, ++change) {
        last = change->revision;
        json.Object([&] {
          json.Key("revision").Number(change->revision);
          json.Key("namespace").Text(change->space);
          json.Key("rule").Text(change->name);
          json.Key("author").Text(change->author);
          json.Key("comment").Text(change->comment);
          json.Key("time").Text(TimeText(change->time));
          json.Key("text");
          change->text ? json.Text(*change->text) : json.Null();
        });
      }
    });
    json.Key("next");
    change != changes.end() ? json.Number(last) : json.Null();
  });
  return Answered(json);
}

AdminReply GetDiff(const AdminParts& parts, const AdminCall& call) {
  if (parts.rules == nullptr) return KeptInFiles(parts);
  const Result<std::int64_t> from = CountIn(call, "from", 0, kLastRevision, 0);
  if (!from) return Refusal(400, from.error().message);
  const Result<std::int64_t> to = CountIn(call, "to", 0, kLastRevision, kLastRevision);
  if (!to) return Refusal(400, to.error().message);
  const auto found = parts.rules->Diff(call.path[0], NameIn(call), *from, *to);
  if (const auto* refused = std::get_if<Refused>(&found)) return Refusal(*refused);
  JsonText json;
  json.Object([&] { WriteDifferences(std::get<std::vector<Difference>>(found), json); });
  return Answered(json);
}

AdminReply RollBackRules(const AdminParts& parts, const AdminCall& call) {
  const Result<std::int64_t> to = CountIn(call, "to", 1, kLastRevision, 0);
  if (!to) return Refusal(400, to.error().message);
  if (*to == 0) return Refusal(400, "say which revision to go back to: ?to=7; the history has it");
  const std::string& space = call.path[0];
  const std::string name = NameIn(call);
  return MakeChange(parts, call,
                    {.action = "rules.rollback",
                     .space = space,
                     .name = name,
                     .make = [&](std::optional<Revision> made_from, const Authorship& by,
                                 Intent intent) -> ServiceResult<Applied> {
                       const auto in_force = RevisionInForce(*parts.rules, space, name);
                       if (const auto* refused = std::get_if<Refused>(&in_force)) return *refused;
                       const auto now = std::get<Revision>(in_force);
                       if (made_from && *made_from != now) {
                         return Refused{Refused::Why::kConflict,
                                        "it was changed: the roll-back was made from revision " +
                                            std::to_string(*made_from) + ", and " +
                                            std::to_string(now) +
                                            " is in force; look at the history again",
                                        {}};
                       }
                       return parts.rules->Rollback(space, name, *to, by, intent);
                     }});
}

}  // namespace weir
