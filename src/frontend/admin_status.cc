#include "frontend/admin_status.h"

#include <array>
#include <chrono>
#include <string>

#include "frontend/admin_reply.h"
#include "rule/utf8.h"

namespace weir {
namespace {

using catalog::RetrieverStatus;

std::string_view NameOf(RetrieverStatus::State state) {
  static constexpr std::array<std::string_view, 4> kNames = {"no_rules", "in_force", "bad", "away"};
  return kNames[static_cast<std::size_t>(state)];
}

void WriteTime(std::string_view name, const std::optional<RetrieverStatus::Time>& time,
               JsonText& json) {
  json.Key(name);
  time ? json.Text(TimeText(*time)) : json.Null();
}

void WriteRules(const RetrieverStatus& status, JsonText& json) {
  json.Object([&] {
    json.Key("state").Text(NameOf(status.state()));
    json.Key("source").Text(status.source);
    json.Key("version").Text(status.version);
    WriteTime("since", status.since, json);
    WriteTime("last_look", status.last_look, json);
    json.Key("looks").Number(status.looks);
    json.Key("published").Number(status.published);
    json.Key("failures").Number(status.failures);
    json.Key("away").TextOrNull(status.is_away ? status.away : "");
    const rule::Problems none;
    const rule::Problems& problems = status.is_bad ? status.problems : none;
    json.Key("problems").ListOf(problems, [&](const rule::Problem& problem) {
      json.Text(problem.ToString());
    });
  });
}

void WriteConnections(const net::Totals& totals, JsonText& json) {
  json.Object([&] {
    json.Key("open").Number(totals.open_now());
    json.Key("accepted").Number(totals.accepted);
    json.Key("received_bytes").Number(totals.bytes_in);
    json.Key("sent_bytes").Number(totals.bytes_out);
  });
}

void WriteTable(Ledger& ledger, Instant now, JsonText& json) {
  const KeyStates::Fill fill = ledger.EstimateFill(now);
  json.Object([&] {
    json.Key("keys").Number(fill.keys);
    json.Key("slots").Number(fill.slots);
    json.Key("bytes").Number(ledger.bytes());
    json.Key("evicted").Number(ledger.evicted());
  });
}

void WriteCounts(const RuleCounters::Sums& sums, std::size_t outcomes,
                 std::string_view (*name_of)(std::size_t), JsonText& json) {
  json.Object([&] {
    for (std::size_t i = 0; i < outcomes; ++i) json.Key(name_of(i)).Number(sums[i]);
  });
}

std::string_view RuleOutcomeName(std::size_t i) { return NameOf(static_cast<RuleOutcome>(i)); }
std::string_view RequestOutcomeName(std::size_t i) {
  return NameOf(static_cast<RequestOutcome>(i));
}

}  // namespace

AdminReply GetHealth(const AdminParts& /*parts*/, const AdminCall& /*call*/) {
  return {.content_type = "text/plain", .body = "ok\n"};
}

AdminReply GetStatus(const AdminParts& parts, const AdminCall& call) {
  const auto active = parts.checker->rules();
  const MetricsSources& sources = parts.status;
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  JsonText json;
  json.Object([&] {
    json.Key("version").Text(sources.version);
    WriteTime("started", sources.started, json);
    json.Key("uptime_ms");
    sources.started ? json.Number((now - *sources.started).count()) : json.Null();
    json.Key("listeners").List([&] {
      if (!parts.listeners) return;
      for (const auto& [protocol, address] : parts.listeners()) {
        json.Object([&, &kind = protocol, &place = address] {
          json.Key("protocol").Text(kind);
          json.Key("address").Text(place);
        });
      }
    });
    json.Key("rules");
    sources.retriever ? WriteRules(sources.retriever(), json) : json.Null();
    json.Key("namespaces").Number(active->book->spaces().size());
    json.Key("rule_count").Number(active->book->rule_count());
    json.Key("table");
    WriteTable(parts.checker->ledger(), call.now, json);
    json.Key("connections");
    const auto totals = sources.connections ? sources.connections() : std::nullopt;
    totals ? WriteConnections(*totals, json) : json.Null();
  });
  return Answered(json);
}

AdminReply GetCounts(const AdminParts& parts, const AdminCall& call) {
  const Result<std::int64_t> limit = CountIn(call, "limit", 1, 1000, 100);
  if (!limit) return Refusal(400, limit.error().message);
  const Result<std::int64_t> after = CountIn(call, "after", 0, UINT32_MAX, 0);
  if (!after) return Refusal(400, after.error().message);
  const auto active = parts.checker->rules();
  const rule::Space* space = active->book->Find(call.path[0]);
  if (space == nullptr) {
    return Refusal(404, "there is no namespace " + rule::Shown(call.path[0]) +
                            " in force; GET /v1/rules lists those there are");
  }
  const auto rules = space->rules();
  const auto first = std::min(static_cast<std::size_t>(*after), rules.size());
  const std::size_t end = std::min(first + static_cast<std::size_t>(*limit), rules.size());
  JsonText json;
  json.Object([&] {
    json.Key("namespace").Text(space->name());
    json.Key("requests");
    WriteCounts(active->counters.Read(*space), kRequestOutcomes, RequestOutcomeName, json);
    json.Key("rules").List([&] {
      for (std::size_t i = first; i < end; ++i) {
        json.Object([&] {
          json.Key("rule").Text(rules[i].rule->name);
          json.Key("requests");
          WriteCounts(active->counters.Read(rules[i]), kRuleOutcomes, RuleOutcomeName, json);
        });
      }
    });
    json.Key("next");
    end < rules.size() ? json.Number(end) : json.Null();
  });
  return Answered(json);
}

AdminReply GetAudit(const AdminParts& parts, const AdminCall& call) {
  const Result<std::int64_t> limit = CountIn(call, "limit", 1, 1000, 100);
  if (!limit) return Refusal(400, limit.error().message);
  JsonText json;
  json.Object([&] {
    json.Key("entries").List([&] {
      if (parts.audit == nullptr) return;
      for (const std::string& line : parts.audit->Latest(static_cast<std::size_t>(*limit))) {
        json.Raw(line);
      }
    });
  });
  return Answered(json);
}

}  // namespace weir
