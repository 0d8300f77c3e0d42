#include "frontend/admin_reply.h"

#include <array>
#include <cstdio>

#include "base/text.h"
#include "rule/utf8.h"
#include "wire/http_reply.h"

namespace weir {
namespace {

constexpr std::string_view kProblemType = "application/problem+json";

std::uint16_t StatusOf(Refused::Why why) {
  switch (why) {
    case Refused::Why::kInvalid:
      return 422;
    case Refused::Why::kConflict:
      return 412;
    case Refused::Why::kNotFound:
      return 404;
    case Refused::Why::kFailed:
      break;
  }
  return 503;
}

}  // namespace

AdminReply Answered(JsonText& json) { return {.body = json.Take()}; }

AdminReply Refusal(std::uint16_t status, std::string_view detail, const rule::Problems& problems) {
  JsonText json;
  json.Object([&] {
    json.Key("title").Text(wire::HttpPhrase(status));
    json.Key("status").Number(status);
    json.Key("detail").Text(detail);
    if (problems.empty()) return;
    json.Key("problems").ListOf(problems, [&](const rule::Problem& problem) {
      json.Object([&] {
        json.Key("place").Text(problem.file);
        json.Key("line").Number(problem.place.line);
        json.Key("column").Number(problem.place.column);
        json.Key("rule").TextOrNull(problem.rule);
        json.Key("what").Text(problem.what);
        json.Key("remedy").TextOrNull(problem.remedy);
      });
    });
  });
  return {.status = status, .content_type = kProblemType, .body = json.Take()};
}

AdminReply Refusal(std::uint16_t status, std::string_view detail) {
  return Refusal(status, detail, {});
}

AdminReply Refusal(const Refused& refused) {
  const std::uint16_t status = StatusOf(refused.why);
  if (refused.problems.empty()) return Refusal(status, refused.message);
  const std::string first = refused.problems.front().ToString();
  return Refusal(status, refused.message.empty() ? first : refused.message, refused.problems);
}

AdminReply KeptInFiles(const AdminParts& parts) {
  return Refusal(409, "this server reads its rules from " + rule::Shown(parts.files) +
                          ": edit them there, and they are in force a moment later; a server with "
                          "--database keeps rules, and their history, itself");
}

AdminReply PreconditionMissing() {
  return Refusal(428,
                 "say what the change was made from: If-Match with the ETag that a GET told, "
                 "If-None-Match: * for what is new, or ?dry_run=true to change nothing");
}

void AddTag(catalog::Revision revision, AdminReply& reply) {
  reply.fields.emplace_back("ETag", '"' + std::to_string(revision) + '"');
}

std::string TimeText(std::chrono::sys_time<std::chrono::microseconds> time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

Result<std::int64_t> CountIn(const AdminCall& call, std::string_view name, std::int64_t least,
                             std::int64_t most, std::int64_t otherwise) {
  const auto text = call.Query(name);
  if (!text) return otherwise;
  const Result<std::uint64_t> count = ParseCount(*text);
  if (!count || *count > static_cast<std::uint64_t>(most) ||
      static_cast<std::int64_t>(*count) < least) {
    return Error{std::string(name) + " must be a whole number from " + std::to_string(least) +
                 " to " + std::to_string(most) + ", got '" + rule::Shown(*text) + "'"};
  }
  return static_cast<std::int64_t>(*count);
}

Result<bool> FlagIn(const AdminCall& call, std::string_view name) {
  const auto text = call.Query(name);
  if (!text || *text == "false") return false;
  if (*text == "true") return true;
  return Error{std::string(name) + " must be true or false, got '" + rule::Shown(*text) + "'"};
}

}  // namespace weir
