#include "frontend/ratelimit_pages.h"

#include <envoy/service/ratelimit/v3/rls.pb.h>
#include <google/protobuf/util/json_util.h>

#include <optional>
#include <variant>

#include "rule/descriptor_tree.h"
#include "service/limit_unit.h"
#include "service/policy.h"

namespace weir {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;

RateLimitPage BadRequest(std::string_view why) {
  RateLimitPage page{.status = 400};
  page.body = "Bad Request: " + std::string(why) + "\n";
  return page;
}

// Of a rule that limits something; an unlimited one has neither a unit nor a number.
struct UnitAndRequests {
  LimitUnit unit = LimitUnit::kUnknown;
  std::uint64_t requests = 0;
};
UnitAndRequests Told(const rule::Rule& rule) {
  if (std::holds_alternative<rule::Blocked>(rule.allowance)) {
    return {UnitOf(rule.descriptor->window), 0};
  }
  const auto* limit = std::get_if<Limit>(&rule.allowance);
  if (limit == nullptr) return {};
  const Policy policy = PolicyOf(*limit);
  return {UnitOf(policy.window), policy.quota.count};
}

void AppendLine(const rule::RuleSet& set, const rule::Rule& rule, std::string& out) {
  const auto truth = [](bool value) { return value ? "true" : "false"; };
  out += set.space;
  for (const rule::DescriptorEntry& entry : rule.descriptor->entries) {
    out += '.';
    out += Composite(entry);
  }
  const UnitAndRequests told = Told(rule);
  out += ": unit=";
  out += NameOf(told.unit);
  out += " requests_per_unit=";
  out += std::to_string(told.requests);
  out += ", shadow_mode: ";
  out += truth(rule.mode == rule::Mode::kShadow);
  out += ", quota_mode: ";
  out += truth(rule.descriptor->quota_mode);
  out += '\n';
}

}  // namespace

RateLimitPage AnswerRateLimitJson(Checker& checker, const RateLimitOptions& options,
                                  std::string_view body, Instant now, DescriptorReply& reply) {
  RateLimitRequest request;
  const auto read =
      google::protobuf::util::JsonStringToMessage({body.data(), body.size()}, &request);
  if (!read.ok()) return BadRequest("expected a RateLimitRequest in JSON: " + read.ToString());
  std::string bytes;
  const std::optional<wire::GrpcStatus> status =
      RateLimitMethod(checker, options).Answer(request.SerializeAsString(), now, reply, bytes);
  if (!status) return {.waits = true};
  if (!status->ok()) return BadRequest(status->message);

  RateLimitResponse response;
  RateLimitPage page{.content_type = "application/json"};
  if (!response.ParseFromString(bytes) ||
      !google::protobuf::util::MessageToJsonString(response, &page.body).ok()) {
    return {.status = 500, .body = "Internal Server Error\n"};
  }
  if (response.overall_code() == RateLimitResponse::OVER_LIMIT) page.status = 429;
  return page;
}

RateLimitPage RateLimitConfig(const rule::Rulebook& book) {
  RateLimitPage page;
  for (const rule::RuleSet& set : book.sets()) {
    for (const rule::Rule& rule : set.rules) {
      if (!rule.descriptor || rule.descriptor->whitelisted || rule.mode == rule::Mode::kOff) {
        continue;
      }
      AppendLine(set, rule, page.body);
    }
  }
  return page;
}

RateLimitPage RateLimitHealth(bool ready) {
  return ready ? RateLimitPage{.body = "OK"} : RateLimitPage{.status = 500};
}

}  // namespace weir
