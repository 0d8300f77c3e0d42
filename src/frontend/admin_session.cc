#include "frontend/admin_session.h"

#include <algorithm>
#include <memory>

#include "frontend/admin_api.h"
#include "frontend/problem_details.h"
#include "wire/http_reply.h"

namespace weir {
namespace {

constexpr std::size_t kEnough = std::size_t{256} << 10;  // bytes of answers

class AdminConnection final : public net::Handler {
 public:
  explicit AdminConnection(const AdminParts& parts) : checker_(*parts.checker), session_(parts) {}

  net::Progress OnBytes(std::string_view unread, net::Connection& /*connection*/,
                        std::string& out) override {
    const AdminSession::Progress progress = session_.Serve(unread, checker_.Now(), out);
    return {.consumed = progress.consumed,
            .next = progress.close  ? net::Next::kClose
                    : progress.more ? net::Next::kAgain
                                    : net::Next::kRead,
            .in_request = session_.is_in_request()};
  }

 private:
  Checker& checker_;
  AdminSession session_;
};

}  // namespace

wire::HttpLimits AdminSession::Limits() {
  wire::HttpLimits limits;
  limits.body = kLargestAdminBody;
  return limits;
}

AdminSession::Progress AdminSession::Serve(std::string_view bytes, Instant now, std::string& out) {
  Progress progress;
  date_field_ = date_.FieldAt(now);
  while (!progress.close) {
    if (out.size() >= kEnough) {
      progress.more = true;
      break;
    }
    const std::string_view unread = bytes.substr(progress.consumed);
    if (!in_body_ && !ReadHead(unread, progress, out)) break;
    if (in_body_ && !ReadBody(bytes.substr(progress.consumed), progress, out)) break;
    in_body_ = false;
    Answer(now, progress, out);
  }
  return progress;
}

bool AdminSession::ReadHead(std::string_view bytes, Progress& progress, std::string& out) {
  const wire::HttpRead read = reader_.Read(bytes, request_);
  if (read.status == wire::HttpStatus::kNeedMore) return false;
  if (read.status == wire::HttpStatus::kBad) {
    request_ = {};
    Refuse(read.code, read.reason, out);
    progress.close = true;
    return false;
  }
  progress.consumed += read.consumed;
  body_.clear();
  chunks_.reset();
  body_left_ = request_.content_length;
  if (request_.body == wire::HttpBody::kChunked) {
    wire::ChunkLimits limits;
    limits.body = kLargestAdminBody;
    chunks_.emplace(limits);
  }
  in_body_ = chunks_.has_value() || body_left_ > 0;
  if (!in_body_) return true;
  if (request_.expect_continue) wire::AppendHttpContinue(out);
  // The rest may come in another buffer.
  head_.assign(bytes.substr(0, read.consumed));
  static_cast<void>(wire::HttpReader(Limits()).Read(head_, request_));
  return true;
}

bool AdminSession::ReadBody(std::string_view bytes, Progress& progress, std::string& out) {
  if (!chunks_) {
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), body_left_));
    body_ += bytes.substr(0, taken);
    progress.consumed += taken;
    body_left_ -= taken;
    return body_left_ == 0;
  }
  const wire::ChunkRead read = chunks_->Read(bytes, body_);
  progress.consumed += read.consumed;
  if (read.status == wire::ChunkStatus::kBad) {
    Refuse(read.code, read.reason, out);
    progress.close = true;
  }
  return read.status == wire::ChunkStatus::kDone;
}

void AdminSession::Answer(Instant now, Progress& progress, std::string& out) {
  const AdminReply reply = AnswerAdmin(parts_, request_, body_, now);
  wire::HttpReply answer(out, reply.status, wire::HttpReplyTo::Of(request_, date_field_));
  for (const auto& [name, value] : reply.fields) answer.Field(name, value);
  answer.Field("Cache-Control", "no-store");
  answer.Finish(reply.content_type, reply.body);
  body_ = {};  // one large body is not kept for the life of a connection
  if (!request_.keep_alive) progress.close = true;
}

void AdminSession::Refuse(std::uint16_t status, std::string_view detail, std::string& out) {
  wire::HttpReply(out, status, wire::HttpReplyTo::Of(request_, date_field_))
      .Finish("application/problem+json", ProblemDetails(status, detail));
}

net::HandlerFactory AdminHandlers(const AdminParts& parts) {
  return [&parts](const net::ConnectionFacts& /*facts*/) {
    return std::make_unique<AdminConnection>(parts);
  };
}

}  // namespace weir
