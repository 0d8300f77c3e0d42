// WEIR.CHECK and WEIR.PEEK: may this request pass, by the rules?

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/text.h"
#include "frontend/check_shape.h"
#include "frontend/limit_texts.h"
#include "frontend/rate_limit_fields.h"
#include "frontend/resp_session.h"
#include "service/policy.h"

namespace weir {
namespace {

using wire::RespWriter;

constexpr std::string_view kCost = "COST";
// In capitals only, as values come in any case.
bool IsNext(std::string_view text) { return text == CheckShape::kNext; }

// Of a limit whose text is known.
constexpr std::size_t kUsualAnswer = 6 * RespWriter::kMostOfNumber + LimitText::kMost;
static_assert(kUsualAnswer <= TextRow::kMostReserved);

std::int64_t LimitOf(const Finding& finding) {
  return finding.limit != nullptr ? static_cast<std::int64_t>(QuotaOf(*finding.limit).count) : 0;
}

}  // namespace

// Inlined: it is all that most commands have to say.
[[gnu::always_inline]] inline void RespSession::TellOne(const CheckReply& decided,
                                                        RespWriter& reply) {
  const Finding* const decisive = decided.decisive();
  if (decisive == nullptr || decisive->limit == nullptr) return TellSeldom(decided, reply);
  const LimitText* const text = LimitTexts::OfThread().Find(*decisive, decided.space()->serial());
  if (text == nullptr) return TellSeldom(decided, reply);
  const bool allowed = decided.allowed();
  // Each number is worked out where it is written: so few have to be kept meanwhile.
  char* to = reply.Reserve(kUsualAnswer);
  to = allowed ? Put(to, "*7\r\n:1\r\n") : Put(to, "*7\r\n:0\r\n");
  to = text->Put(to);
  to = RespWriter::PutInteger(to, static_cast<std::int64_t>(decided.remaining().count));
  to = RespWriter::PutInteger(to, allowed ? 0 : MillisUp(decisive->decision.retry_after));
  to = RespWriter::PutInteger(to, MillisUp(decisive->decision.reset_after));
  const Nanos wait = decided.wait();
  reply.Use(RespWriter::PutInteger(to, wait == Nanos(0) ? 0 : MillisUp(wait)));
}

void RespSession::TellSeldom(const CheckReply& decided, RespWriter& reply) {
  const Finding* decisive = decided.decisive();
  reply.Array(7);
  reply.Integer(decided.allowed() ? 1 : 0);
  if (decisive == nullptr) {  // no rule had a say
    reply.Null();
    reply.Integers(-1, -1, 0, 0, MillisUp(decided.wait()));
    return;
  }
  reply.Bulk(decisive->rule->rule->name);
  reply.Integers(LimitOf(*decisive), static_cast<std::int64_t>(decided.remaining().count),
                 decided.allowed() ? 0 : MillisUp(decisive->decision.retry_after),
                 MillisUp(decisive->decision.reset_after), MillisUp(decided.wait()));
}

// WEIR.CHECK namespace [COST n] name value ... [NEXT [COST n] name value ...]...
// WEIR.PEEK, the same, takes nothing.
// Each request is answered by [allowed, rule, limit, remaining, retry ms, reset ms, wait ms];
// several by an array of such.
void RespSession::Check(Arguments arguments, RespWriter& reply) {
  CheckRequest request{.space = arguments[1], .attributes = {}};
  if (SameIgnoringCase(arguments[0], "WEIR.PEEK")) request.intent = CheckRequest::Intent::kLook;
  Arguments rest = arguments.subspan(2);
  const auto next = [](Arguments from) {
    return static_cast<std::size_t>(std::find_if(from.begin(), from.end(), IsNext) - from.begin());
  };
  // Looked through before anything is decided: a command is carried out whole or not at all.
  std::size_t requests = 1;
  for (Arguments left = rest;; ++requests) {
    const std::size_t end = next(left);
    if (end == 0 || end % 2 != 0) {
      WrongCount(arguments[0], reply);
      return;
    }
    if (left[0] == kCost && !ParseCount(left[1])) {
      reply.Error("ERR COST must be a whole number");
      return;
    }
    if (end == left.size()) break;
    left = left.subspan(end + 1);
  }
  if (requests == 1 && !checks_.may_wait()) {
    TellOne(DecideOne(request, rest), reply);
    LearnShape(arguments, request);
    return;
  }
  const auto for_each = [&](const auto& use) {
    for (Arguments left = rest;;) {
      const std::size_t end = next(left);
      use(DecideOne(request, left.first(end)));
      if (end == left.size()) return;
      left = left.subspan(end + 1);
    }
  };
  if (checks_.may_wait()) {
    // All are asked before one is waited for.
    const std::size_t first = checks_.position();
    for_each([](const CheckReply&) {});
    if (checks_.IsWaiting(first)) return;
    checks_.GoTo(first);
  }
  if (requests > 1) reply.Array(requests);
  for_each([&](const CheckReply& decided) { TellOne(decided, reply); });
}

CheckReply& RespSession::DecideOne(CheckRequest& request, Arguments arguments) {
  request.cost.reset();
  if (arguments[0] == kCost) {
    request.cost = Permits{*ParseCount(arguments[1])};
    arguments = arguments.subspan(2);
  }
  CheckReply& decided = checks_.Next();
  const rule::Space* space = checker_.Open(request.space, decided);
  if (space == nullptr) return decided;
  const rule::Schema& schema = space->schema();
  rule::Values values(schema);
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    values.Add(schema, arguments[i], arguments[i + 1]);
  }
  checker_.Decide(request, values, now_, decided);
  return decided;
}

void RespSession::LearnShape(Arguments arguments, const CheckRequest& request) {
  if (check_misses_++ % kPatience != 0) return;
  if (check_shape_ == nullptr) check_shape_ = std::make_unique<CheckShape>();
  check_shape_->Learn(arguments, request.cost ? 4 : 2, request);
}

// All of a run are read before the first is decided: by then their memory is on its way. They are
// decided by the same rules.
RespSession::Done RespSession::CheckLikeLast(std::string_view bytes, RespWriter& reply) {
  const CheckRequest& request = check_shape_->request();
  thread_local std::vector<rule::Values> values;
  values.clear();
  values.reserve(kMostInRun);
  std::size_t size = check_shape_->Read(bytes, values.emplace_back(check_shape_->present()));
  if (size == 0) return {};
  CheckReply& decided = checks_.Next();
  const rule::Space* space = checker_.Open(request.space, decided);
  if (space == nullptr) {
    TellOne(decided, reply);
    return {size, 1};
  }
  if (!check_shape_->IsBoundTo(*space)) [[unlikely]] {
    check_shape_->Bind(*space);
    return CheckLikeLast(bytes, reply);
  }
  std::array<Checker::Foreseen, kMostInRun> foreseen;
  Done done;
  while (size > 0) {
    values.back().Finish();
    checker_.Foresee(request, values.back(), decided, foreseen[done.requests]);
    done.size += size;
    if (++done.requests == foreseen.size()) break;
    size =
        check_shape_->Read(bytes.substr(done.size), values.emplace_back(check_shape_->present()));
  }
  for (std::size_t i = 0; i < done.requests; ++i) {
    if (i > 0) Checker::GoOn(decided);
    checker_.Decide(request, values[i], foreseen[i], now_, decided);
    TellOne(decided, reply);
  }
  return done;
}

}  // namespace weir
