#include "frontend/admin_keys.h"

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "base/text.h"
#include "frontend/admin_attributes.h"
#include "frontend/admin_change.h"
#include "frontend/admin_reply.h"
#include "frontend/json_body.h"
#include "rule/limit_reader.h"
#include "rule/rule_file.h"
#include "rule/rule_writer.h"
#include "rule/utf8.h"
#include "service/key_override.h"

namespace weir {
namespace {

using catalog::Authorship;
using catalog::Revision;
using std::chrono::sys_seconds;

sys_seconds SecondsOf(Instant now) {
  return sys_seconds(std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()));
}

// Who is meant: the body of every call here.
struct Client {
  std::string space;
  std::string rule;
  NamedValues values;
  rule::Allowance allowance;  // these two only of an override
  sys_seconds until;
};

void ReadUntil(const rule::Fields& fields, Instant now, sys_seconds& until, rule::Report& report) {
  const rule::YamlNode* instant = fields.Find("until");
  const rule::YamlNode* length = fields.Find("for");
  if ((instant == nullptr) == (length == nullptr)) {
    report.Add(fields.place(), "an override ends some time: it needs one of 'until' and 'for'",
               R"(write "for": "1h", or "until": "2027-01-31T12:00:00Z")");
  } else if (instant != nullptr) {
    if (rule::ReadInstant(*instant, "until", until, report) && until <= SecondsOf(now)) {
      report.Add(instant->place, "until is over already", "name a time that is to come");
    }
  } else {
    constexpr auto kLongest = std::chrono::hours(24 * 366);
    const Result<Nanos> time = ParseDuration(length->scalar);
    if (!time || *time < std::chrono::seconds(1) || *time > kLongest) {
      report.Add(length->place, "for must be a duration from 1s to 366d", R"(write "for": "1h")");
      return;
    }
    until = SecondsOf(now) + std::chrono::ceil<std::chrono::seconds>(*time);
  }
}

enum class Wants : unsigned char { kClient, kOverride };

// False if the body makes no sense, and then `problems` say why.
bool ReadClient(const AdminCall& call, Wants wants, Client& client, rule::Problems& problems) {
  rule::YamlNode root;
  if (!ReadJsonObject(call.body, root, problems)) return false;
  static constexpr std::array<std::string_view, 7> kFields = {
      "namespace", "rule", "attributes", "limit", "limits", "until", "for"};
  constexpr std::size_t kOfClient = 3;
  const std::span<const std::string_view> known =
      std::span(kFields).first(wants == Wants::kClient ? kOfClient : kFields.size());
  rule::Report report("body", problems);
  const rule::Fields fields(root, known, report);
  ReadRequiredText(fields, "namespace", client.space, report);
  ReadRequiredText(fields, "rule", client.rule, report);
  if (const rule::YamlNode* attributes = fields.Find("attributes")) {
    client.values.Read(*attributes, report);
  }
  if (wants == Wants::kOverride) {
    if (const auto read = rule::ReadAllowance(fields, {}, report)) client.allowance = *read;
    ReadUntil(fields, call.now, client.until, report);
  }
  return report.count() == 0;
}

AdminReply BadBody(const rule::Problems& problems) {
  return Refusal(400, problems.front().ToString(), problems);
}

AdminReply NotThere(const NoSuchKey& nothing) {
  return Refusal(nothing.why == NoSuchKey::Why::kNoSuchRule ? 404 : 422, nothing.message);
}

std::string_view NameOf(KeyState::By by) {
  static constexpr std::array<std::string_view, 3> kNames = {"rule", "tier", "override"};
  return kNames[static_cast<std::size_t>(by)];
}

std::string_view NameOf(rule::CompiledAllowance::Kind kind) {
  static constexpr std::array<std::string_view, 3> kNames = {"unlimited", "blocked", "limited"};
  return kNames[static_cast<std::size_t>(kind)];
}

AdminReply TellKeys(const Client& client, const std::vector<KeyState>& keys) {
  JsonText json;
  json.Object([&] {
    json.Key("namespace").Text(client.space);
    json.Key("rule").Text(client.rule);
    WriteKeys(keys, json);
  });
  return Answered(json);
}

// A change of the rule that `edit` makes of what is kept.
AdminReply EditRule(
    const AdminParts& parts, const AdminCall& call, const std::string& action, const Client& client,
    const std::function<Result<rule::Rule>(rule::Rule, std::span<const rule::Attribute>)>& edit) {
  const auto make = [&](std::optional<Revision> made_from, const Authorship& by,
                        Intent intent) -> ServiceResult<Applied> {
    const auto kept = parts.rules->Get(client.space, client.rule);
    if (const auto* refused = std::get_if<Refused>(&kept)) return *refused;
    const auto& stored = std::get<catalog::StoredRule>(kept);
    rule::Problems problems;
    std::optional<rule::Rule> rule = rule::ReadRule(stored.text, stored.name, problems);
    if (!rule) return Refused{Refused::Why::kInvalid, "", std::move(problems)};
    const std::vector<rule::Attribute> attributes = client.values.attributes();
    const Result<rule::Rule> edited = edit(*std::move(rule), attributes);
    if (!edited) return Refused{Refused::Why::kInvalid, edited.error().message, {}};
    // Made from what was read just now, if the caller does not mind which that is.
    return parts.rules->Put(client.space, {"override", rule::WriteRule(*edited)},
                            made_from.value_or(stored.revision), by, intent);
  };
  return MakeChange(parts, call,
                    {.action = action, .space = client.space, .name = client.rule, .make = make});
}

}  // namespace

void WriteKeys(const std::vector<KeyState>& keys, JsonText& json) {
  json.Key("keys").ListOf(keys, [&](const KeyState& state) {
    json.Object([&] {
      json.Key("key").Text(state.key);
      json.Key("by").Text(NameOf(state.by));
      json.Key("allowance").Text(NameOf(state.allowance));
      json.Key("banned_for_ms");
      state.banned_for ? json.Millis(*state.banned_for) : json.Null();
      json.Key("limits").ListOf(state.limits, [&](const KeyLimit& limit) {
        json.Object([&] {
          json.Key("limit").Text(limit.limit);
          json.Key("allowed").Flag(limit.decision.allowed());
          json.Key("remaining").Number(limit.decision.remaining.count);
          json.Key("retry_after_ms").Millis(limit.decision.retry_after);
          json.Key("reset_after_ms").Millis(limit.decision.reset_after);
        });
      });
    });
  });
}

AdminReply LookUpClient(const AdminParts& parts, const AdminCall& call) {
  Client client;
  rule::Problems problems;
  if (!ReadClient(call, Wants::kClient, client, problems)) return BadBody(problems);
  const std::vector<rule::Attribute> attributes = client.values.attributes();
  const KeyLookup found =
      LookUpKey(*parts.checker, {client.space, client.rule, attributes}, call.now);
  if (const auto* nothing = std::get_if<NoSuchKey>(&found)) return NotThere(*nothing);
  AdminReply reply = TellKeys(client, std::get<std::vector<KeyState>>(found));
  if (parts.rules == nullptr) return reply;
  // What an override is made from. If the database is away, the lookup is still good.
  const auto revision = RevisionInForce(*parts.rules, client.space, client.rule);
  if (const auto* now = std::get_if<Revision>(&revision); now != nullptr && *now > 0) {
    AddTag(*now, reply);
  }
  return reply;
}

AdminReply ResetClient(const AdminParts& parts, const AdminCall& call) {
  Client client;
  rule::Problems problems;
  if (!ReadClient(call, Wants::kClient, client, problems)) return BadBody(problems);
  const Result<bool> dry_run = FlagIn(call, "dry_run");
  if (!dry_run) return Refusal(400, dry_run.error().message);
  const std::vector<rule::Attribute> attributes = client.values.attributes();
  const KeyQuestion question{client.space, client.rule, attributes};
  KeyLookup found = LookUpKey(*parts.checker, question, call.now);
  if (const auto* nothing = std::get_if<NoSuchKey>(&found)) return NotThere(*nothing);
  if (*dry_run) return TellKeys(client, std::get<std::vector<KeyState>>(found));
  AuditEntry entry{call.caller.name, "keys.reset", client.space + "/" + client.rule, ""};
  for (const KeyState& state : std::get<std::vector<KeyState>>(found)) {
    entry.detail += (entry.detail.empty() ? "" : "; ") + state.key;
  }
  if (auto refusal = Record(parts, entry)) return *std::move(refusal);
  found = ResetKey(*parts.checker, question, call.now);
  // The rules may have been replaced in between.
  if (const auto* nothing = std::get_if<NoSuchKey>(&found)) return NotThere(*nothing);
  return TellKeys(client, std::get<std::vector<KeyState>>(found));
}

AdminReply OverrideClient(const AdminParts& parts, const AdminCall& call) {
  Client client;
  rule::Problems problems;
  if (!ReadClient(call, Wants::kOverride, client, problems)) return BadBody(problems);
  return EditRule(parts, call, "keys.override", client,
                  [&](rule::Rule rule, std::span<const rule::Attribute> attributes) {
                    return WithOverride(std::move(rule),
                                        {attributes, client.allowance, client.until},
                                        SecondsOf(call.now));
                  });
}

AdminReply RestoreClient(const AdminParts& parts, const AdminCall& call) {
  Client client;
  rule::Problems problems;
  if (!ReadClient(call, Wants::kClient, client, problems)) return BadBody(problems);
  return EditRule(parts, call, "keys.restore", client,
                  [&](rule::Rule rule, std::span<const rule::Attribute> attributes) {
                    return WithoutOverride(std::move(rule), attributes, SecondsOf(call.now));
                  });
}

}  // namespace weir
