#include "frontend/http_session.h"

#include <algorithm>

#include "base/text.h"
#include "frontend/json_api.h"
#include "frontend/problem_details.h"

namespace weir {
namespace {

using wire::HttpBody;
using wire::HttpReply;
using wire::HttpStatus;

bool IsApi(std::string_view path) { return path.starts_with("/v1/"); }

constexpr std::string_view kRateLimitJson = "/json";
constexpr std::string_view kRateLimitConfig = "/rlconfig";
bool IsRateLimitPage(std::string_view path) {
  return path == kRateLimitJson || path == kRateLimitConfig || path == "/healthcheck";
}

}  // namespace

HttpSession::HttpSession(Checker& checker, const HttpOptions& options,
                         std::optional<rule::Address> peer, std::optional<rule::Address> proxied,
                         ClusterSeat seat)
    : checker_(checker), options_(options), checks_(seat), reply_(checks_.first()) {
  // Whoever may say for whom a connection is has passed on that one's bytes. What is believed is
  // what that one may be believed.
  const std::optional<rule::Address> speaker = proxied ? proxied : peer;
  peer_.address = speaker;
  const auto trusted = [&](const rule::Network& network) { return network.Contains(*speaker); };
  peer_.is_gateway =
      !speaker || std::any_of(options.gateways.begin(), options.gateways.end(), trusted);
}

HttpSession::Progress HttpSession::Serve(std::string_view bytes, Instant now, std::string& out) {
  Progress progress;
  errors_ = 0;
  date_field_ = date_.FieldAt(now);
  thread_local std::vector<Asked> run;
  run.clear();
  run.reserve(kMostInRun);
  while (progress.then == Then::kGoOn) {
    if (out.size() >= kEnough) {
      progress.then = Then::kAgain;
      break;
    }
    if (metrics_) {
      const MetricsReply::Step step = metrics_->Append(out);
      if (!step.is_last) {
        progress.then = Then::kAgain;
        break;
      }
      // Not before: only who has something unread is called again.
      progress.consumed += step.request_bytes;
      if (step.closes) progress.then = Then::kClose;
      metrics_.reset();
      continue;
    }
    const std::string_view unread = bytes.substr(progress.consumed);
    if (body_kind_ != Body::kNone) {
      if (!ReadBody(unread, progress, out)) break;
      const bool wanted = body_kind_ == Body::kWanted;
      body_kind_ = Body::kNone;
      if (wanted) Answer(now, progress, out);
      if (!request_.keep_alive && progress.then == Then::kGoOn) progress.then = Then::kClose;
      continue;
    }
    // Most reads end where a request does.
    const wire::HttpRead read = unread.empty() ? wire::HttpRead{} : reader_.Read(unread, request_);
    if (read.status == HttpStatus::kHead &&
        Join(progress.consumed + read.consumed, now, run, progress, out)) {
      progress.consumed += read.consumed;
      ++progress.requests;
      if (run.size() == kMostInRun || attributes_.owns()) AnswerRun(now, run, progress, out);
      continue;
    }
    if (!run.empty()) AnswerRun(now, run, progress, out);
    if (progress.then != Then::kGoOn || read.status == HttpStatus::kNeedMore) break;
    ++progress.requests;
    if (read.status == HttpStatus::kBad) {
      request_ = {};
      Refuse(read.code, read.reason, out);
      progress.then = Then::kClose;
      break;
    }
    if (IsMetrics()) {
      metrics_.emplace(*options_.metrics, now, To(), read.consumed);
      continue;
    }
    progress.consumed += read.consumed;
    // Only what speaks JSON reads bodies. What a gateway sends along is passed over, after the
    // answer.
    const bool has_body = request_.body != HttpBody::kNone &&
                          (request_.body == HttpBody::kChunked || request_.content_length > 0);
    const bool wanted = has_body && (IsApi(request_.path) || request_.path == kRateLimitJson);
    body_.clear();  // of the request before
    if (has_body) {
      body_kind_ = wanted ? Body::kWanted : Body::kUnwanted;
      body_left_ = request_.content_length;
      chunks_.reset();
      if (request_.body == HttpBody::kChunked) chunks_.emplace();
      if (wanted && request_.expect_continue) wire::AppendHttpContinue(out);
      // The rest may come in another buffer.
      head_.assign(unread.substr(0, read.consumed));
    }
    if (!wanted) Answer(now, progress, out);
    if (!has_body && !request_.keep_alive && progress.then == Then::kGoOn) {
      progress.then = Then::kClose;
    }
    if (progress.then == Then::kWait) head_.assign(unread.substr(0, read.consumed));
    if (has_body || progress.then == Then::kWait) {
      static_cast<void>(wire::HttpReader().Read(head_, request_));
    }
  }
  Finish(progress);
  return progress;
}

void HttpSession::Finish(Progress& progress) {
  progress.errors = errors_;
  is_waiting_ = progress.then == Then::kWait;
  attributes_.Release();
  // What waits needs the rules it was decided by, to give back what it took.
  if (progress.then != Then::kHold && !is_waiting_) Release();
}

bool HttpSession::ReadBody(std::string_view bytes, Progress& progress, std::string& out) {
  if (!chunks_) {
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), body_left_));
    if (body_kind_ == Body::kWanted) body_ += bytes.substr(0, taken);
    progress.consumed += taken;
    body_left_ -= taken;
    return body_left_ == 0;
  }
  const wire::ChunkRead read = chunks_->Read(bytes, body_);
  if (body_kind_ == Body::kUnwanted) body_.clear();
  progress.consumed += read.consumed;
  if (read.status == wire::ChunkStatus::kBad) {
    if (body_kind_ == Body::kWanted) Refuse(read.code, read.reason, out);
    progress.then = Then::kClose;
  }
  return read.status == wire::ChunkStatus::kDone;
}

bool HttpSession::IsMetrics() const {
  return options_.metrics != nullptr && request_.path == "/metrics" &&
         (request_.method == "GET" || request_.method == "HEAD") &&
         request_.body == HttpBody::kNone;
}

void HttpSession::Answer(Instant now, Progress& progress, std::string& out) {
  const std::string_view path = request_.path;
  if (IsCheck(path) || IsPeek(path)) {
    AnswerCheck(now, progress, out);
  } else if (IsApi(path)) {
    AnswerApi(now, progress, out);
  } else if (path == "/healthz" || path == "/readyz") {
    const bool ready = path == "/healthz" || is_ready();
    HttpReply(out, ready ? 200 : 503, To()).Finish("text/plain", ready ? "ok\n" : "not ready\n");
  } else if (IsRateLimitPage(path)) {
    AnswerRateLimitPage(now, progress, out);
  } else {
    Refuse(404,
           "there is /check, /peek, /v1/check, /v1/peek, /v1/report, /v1/charge, /v1/refund, "
           "/healthz, /readyz, /metrics, /json, /rlconfig, /healthcheck",
           out);
  }
}

void HttpSession::AnswerApi(Instant now, Progress& progress, std::string& out) {
  if (request_.method != "POST") {
    ++errors_;
    HttpReply answer(out, 405, To());
    answer.Field("Allow", "POST");
    answer.Finish("application/problem+json", ProblemDetails(405, "use POST"));
    return;
  }
  const JsonAnswer answer = AnswerJson(checker_, request_.path.substr(3), body_, now, checks_);
  if (answer.waits) {
    progress.then = Then::kWait;
    return;
  }
  if (answer.status != 200) ++errors_;
  HttpReply(out, answer.status, To())
      .Finish(answer.status == 200 ? "application/json" : "application/problem+json", answer.body);
}

// Few ask this way: the reply is made for each.
RateLimitPage HttpSession::AnswerRateLimit(Instant now) {
  if (descriptors_ == nullptr) {
    descriptors_ = std::make_unique<DescriptorReply>();
    if (checks_.may_wait()) descriptors_->Join(*checks_.cluster(), *checks_.waiter());
  }
  RateLimitPage page =
      AnswerRateLimitJson(checker_, options_.rate_limit, body_, now, *descriptors_);
  if (!page.waits) descriptors_.reset();
  return page;
}

void HttpSession::AnswerRateLimitPage(Instant now, Progress& progress, std::string& out) {
  RateLimitPage page;
  if (request_.path == kRateLimitJson) {
    page = AnswerRateLimit(now);
    if (page.waits) {
      progress.then = Then::kWait;
      return;
    }
  } else if (request_.path != kRateLimitConfig) {
    page = RateLimitHealth(is_ready());
  } else if (peer_.is_gateway) {
    page = RateLimitConfig(*checker_.rules()->book);
  } else {
    Refuse(403, "only gateways are told the rules", out);
    return;
  }
  HttpReply(out, page.status, To()).Finish(page.content_type, page.body);
}

void HttpSession::Refuse(std::uint16_t status, std::string_view detail, std::string& out) {
  ++errors_;
  HttpReply(out, status, To()).Finish("application/problem+json", ProblemDetails(status, detail));
}

HttpSession::Progress HttpSession::Resume(Instant now, std::string& out) {
  Progress progress;
  if (is_waiting_) {
    errors_ = 0;
    date_field_ = date_.FieldAt(now);
    Answer(now, progress, out);
    const bool is_last = body_kind_ == Body::kNone && !request_.keep_alive;
    if (is_last && progress.then == Then::kGoOn) progress.then = Then::kClose;
    Finish(progress);
    return progress;
  }
  out += held_;
  held_.clear();
  Release();
  if (close_after_held_) progress.then = Then::kClose;
  return progress;
}

void HttpSession::Abandon(Instant now) {
  held_.clear();
  checker_.GiveBack(reply_, now);
  checks_.Abandon(checker_, now);
  if (descriptors_ != nullptr) DescriptorChecker(checker_).GiveBack(*descriptors_, now);
  Release();
}

}  // namespace weir
