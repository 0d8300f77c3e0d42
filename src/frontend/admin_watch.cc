#include "frontend/admin_watch.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "frontend/admin_reply.h"
#include "rule/utf8.h"
#include "service/rule_counters.h"
#include "service/watch.h"

namespace weir {
namespace {

std::string TimeOf(Instant at) {
  return TimeText(std::chrono::sys_time<std::chrono::microseconds>(
      std::chrono::floor<std::chrono::microseconds>(at.time_since_epoch())));
}

void WriteDecision(const SeenDecision& seen, JsonText& json) {
  json.Object([&] {
    json.Key("time").Text(TimeOf(seen.at));
    json.Key("namespace").Text(seen.space);
    json.Key("allowed").Flag(seen.allowed);
    json.Key("allowed_by").TextOrNull(seen.allowed_by);
    json.Key("cost").Number(seen.cost.count);
    json.Key("wait_ms").Millis(seen.wait);
    json.Key("attributes").Object([&] {
      for (const auto& attribute : seen.attributes)
        json.Key(attribute.first).Text(attribute.second);
    });
    json.Key("limits").ListOf(seen.parts, [&](const SeenDecision::Part& part) {
      json.Object([&] {
        json.Key("rule").Text(part.rule);
        json.Key("key").Text(part.key);
        json.Key("limit").Text(part.limit);
        json.Key("outcome").Text(NameOf(part.outcome));
        json.Key("remaining").Number(part.remaining.count);
        json.Key("retry_after_ms").Millis(part.retry_after);
      });
    });
  });
}

bool IsInForce(const Checker& checker, std::string_view space, std::string_view rule) {
  const auto active = checker.rules();
  const rule::Space* found = active->book->Find(space);
  return found != nullptr &&
         std::any_of(found->rules().begin(), found->rules().end(),
                     [rule](const rule::CompiledRule& one) { return one.rule->name == rule; });
}

}  // namespace

AdminReply GetDecisions(const AdminParts& parts, const AdminCall& call) {
  const Result<std::int64_t> limit = CountIn(call, "limit", 1, 1000, 100);
  if (!limit) return Refusal(400, limit.error().message);
  const Result<bool> allowed = FlagIn(call, "allowed");
  if (!allowed) return Refusal(400, allowed.error().message);
  Watch::Filter filter{.space = call.Query("namespace").value_or(""),
                       .rule = call.Query("rule").value_or("")};
  if (call.Query("allowed")) filter.allowed = *allowed;
  JsonText json;
  json.Object([&] {
    json.Key("decisions")
        .ListOf(parts.checker->watch().Latest(filter, static_cast<std::size_t>(*limit)),
                [&](const SeenDecision& seen) { WriteDecision(seen, json); });
  });
  return Answered(json);
}

AdminReply GetTop(const AdminParts& parts, const AdminCall& call) {
  const Result<std::int64_t> limit = CountIn(call, "limit", 1, 1000, 100);
  if (!limit) return Refusal(400, limit.error().message);
  const std::string_view by = call.Query("by").value_or("consumed");
  if (by != "consumed" && by != "denied") {
    return Refusal(400, "by must be consumed or denied, got '" + rule::Shown(by) + "'");
  }
  const std::string_view space = call.Query("namespace").value_or("");
  const std::string_view rule = call.Query("rule").value_or("");
  if (space.empty() || rule.empty()) {
    return Refusal(400, "say of which rule: ?namespace=shop&rule=login");
  }
  if (!IsInForce(*parts.checker, space, rule)) {
    return Refusal(404, "there is no rule " + rule::Shown(space) + "/" + rule::Shown(rule) +
                            " in force; GET /v1/counts/{namespace} lists those there are");
  }
  const Watch::Heaviest top = parts.checker->watch().Top(
      space, rule, by == "denied" ? Watch::By::kDenied : Watch::By::kConsumed,
      static_cast<std::size_t>(*limit), call.now);
  JsonText json;
  json.Object([&] {
    json.Key("namespace").Text(space);
    json.Key("rule").Text(rule);
    json.Key("by").Text(by);
    json.Key("since").Text(TimeOf(top.since));
    json.Key("one_in").Number(top.one_in);
    json.Key("keys").ListOf(top.keys, [&](const HeavyKey& key) {
      json.Object([&] {
        json.Key("key").Text(key.key);
        json.Key("count").Number(key.count);
        json.Key("excess").Number(key.excess);
      });
    });
  });
  return Answered(json);
}

}  // namespace weir
