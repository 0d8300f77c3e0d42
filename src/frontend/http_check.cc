// /check and /peek: may this request pass, by the rules?
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/same_few.h"
#include "base/text.h"
#include "frontend/allowed_answer.h"
#include "frontend/http_session.h"
#include "frontend/problem_details.h"

namespace weir {
namespace {

using wire::HttpReply;

constexpr std::string_view kCheck = "/check";
// A path of its own and not a parameter: behind some gateways the query is the client's.
constexpr std::string_view kPeek = "/peek";

// "/check" and what lies behind it, but not "/checkout".
[[gnu::always_inline]] inline bool IsBelow(std::string_view prefix, std::string_view path) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

// Whether a rule in shadow would have refused what passes.
bool IsRefusedInShadow(const CheckReply& reply) {
  const auto findings = reply.findings();
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return !finding.enforced && !finding.decision.allowed();
  });
}

// On every decision, and on nothing else: so a gateway knows a refusal from a failure, whatever the
// status. What was decided about one request says nothing about the next.
[[gnu::always_inline]] inline void AddDecision(std::string_view decision, TextRow& row) {
  char* to = Put(row.Reserve(128), "X-Weir-Decision: ");
  std::memcpy(to, decision.data(), decision.size());
  row.Use(Put(to + decision.size(), "\r\nCache-Control: no-store\r\n"));
}

}  // namespace

bool HttpSession::IsCheck(std::string_view path) { return IsBelow(kCheck, path); }
bool HttpSession::IsPeek(std::string_view path) { return IsBelow(kPeek, path); }

// Nothing about it is special: what is decided about it has no bearing on what follows it.
bool HttpSession::Join(std::size_t end, Instant now, std::vector<Asked>& run, Progress& progress,
                       std::string& out) {
  const bool is_plain = request_.body == wire::HttpBody::kNone && request_.keep_alive &&
                        request_.version == wire::HttpVersion::k11 && request_.method != "HEAD";
  if (!is_plain || checks_.may_wait() || !IsCheck(request_.path)) return false;
  places_.Use(request_);
  const GatewayFields said = Said();
  if (said[GatewayFields::Name::kWeirCost]) return false;
  const std::string_view name = NamespaceOf(said);
  const rule::Space* space = reply_.space();
  if (run.empty()) {
    space = checker_.Open(name, reply_);
    if (space == nullptr) {
      TellCheck(CheckRequest::Intent::kTake, To(), progress, out);
      return true;
    }
  } else if (!SameFew(name, space->name())) {
    return false;
  }
  Asked& asked = run.emplace_back(*space, end);
  attributes_.Find({request_, kCheck, said, places_}, peer_.address, *space, options_.clients, now,
                   asked.values);
  checker_.Foresee({}, asked.values, reply_, asked.foreseen);
  return true;
}

void HttpSession::AnswerRun(Instant now, std::vector<Asked>& run, Progress& progress,
                            std::string& out) {
  if (run.empty()) return;
  const wire::HttpReplyTo to{.date = date_field_};
  const std::uint64_t rules = reply_.space()->serial();
  // Answers that are as usual, all of which are appended at once.
  std::array<char, kMostInRun * kRoomForAllowed> usual;
  char* usual_end = usual.data();
  const auto append = [&] {
    out.append(usual.data(), usual_end);
    usual_end = usual.data();
  };
  std::uint64_t left = run.size();
  for (const Asked& asked : run) {
    if (left-- != run.size()) Checker::GoOn(reply_);
    checker_.Decide({}, asked.values, asked.foreseen, now, reply_);
    if (reply_.allowed() && reply_.wait() == Nanos(0) && options_.fields == FieldStyle::kDraft10) {
      if (char* const end = PutAllowed(reply_, rules, date_field_, usual_end)) [[likely]] {
        usual_end = end;
        continue;
      }
    }
    append();
    TellCheck(CheckRequest::Intent::kTake, to, progress, out);
    if (progress.then == Then::kGoOn) continue;
    progress.consumed = asked.end;  // what follows is read again, when it is its turn
    progress.requests -= left;
    break;
  }
  append();
  run.clear();
}

GatewayFields HttpSession::Said() const {
  return peer_.is_gateway ? GatewayFields(request_.fields, places_.gateway()) : GatewayFields();
}

std::string_view HttpSession::NamespaceOf(const GatewayFields& said) const {
  return said[GatewayFields::Name::kWeirNamespace].value_or(options_.space);
}

void HttpSession::AnswerCheck(Instant now, Progress& progress, std::string& out) {
  places_.Use(request_);
  const GatewayFields said = Said();
  CheckRequest check{};
  check.space = NamespaceOf(said);
  const bool is_peek = IsPeek(request_.path);
  if (is_peek) check.intent = CheckRequest::Intent::kLook;
  if (const auto& cost = said[GatewayFields::Name::kWeirCost]) {
    const Result<std::uint64_t> permits = ParseCount(*cost);
    if (!permits) {
      Refuse(400, "X-Weir-Cost must be a whole number", out);
      return;
    }
    check.cost = Permits{*permits};
  }
  if (const rule::Space* const space = checker_.Open(check.space, reply_)) {
    rule::Values values(space->schema());
    attributes_.Find({request_, is_peek ? kPeek : kCheck, said, places_}, peer_.address, *space,
                     options_.clients, now, values);
    checker_.Decide(check, values, now, reply_);
  }
  if (reply_.is_waiting()) {
    progress.then = Then::kWait;
    return;
  }
  reply_.Finish();
  TellCheck(check.intent, To(), progress, out);
}

void HttpSession::TellCheck(CheckRequest::Intent intent, const wire::HttpReplyTo& to,
                            Progress& progress, std::string& out) {
  const std::uint64_t rules = reply_.knows_space() ? reply_.space()->serial() : 0;
  if (!reply_.allowed()) {
    TellRefusal(rules, to, progress, out);
    return;
  }
  // Who only looks is told at once.
  const bool waits = reply_.wait() > Nanos(0) && intent == CheckRequest::Intent::kTake;
  HttpReply answer(waits ? held_ : out, 200, to);
  AddFields(reply_, rules, options_.fields, answer.row());
  if (IsRefusedInShadow(reply_)) {
    AddDecision("shadow-deny", answer.row());
  } else {
    AddDecision("allow", answer.row());
  }
  answer.Finish();
  if (waits) {
    progress.then = Then::kHold;
    progress.hold = reply_.wait();
    close_after_held_ = !to.keep_alive;
  }
}

void HttpSession::TellRefusal(std::uint64_t rules, const wire::HttpReplyTo& to, Progress& progress,
                              std::string& out) {
  const Finding& decisive = *reply_.decisive();
  const rule::Rule& rule = *decisive.rule->rule;
  const bool drops = rule.exceed.what == rule::Exceed::kDrop;
  // To a gateway, a connection that ends is a Weir that is down. The one to drop is its client's.
  if (drops && !peer_.is_gateway) {
    progress.then = Then::kDrop;
    return;
  }
  HttpReply answer(out, rule.status, to);
  AddFields(reply_, rules, options_.fields, answer.row());
  AddDecision(drops ? "drop" : "deny", answer.row());
  answer.Finish("application/problem+json", RefusalDetails(decisive));
}

}  // namespace weir
