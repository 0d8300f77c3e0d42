#include "wire/grpc_connection.h"

#include <nghttp2/nghttp2.h>

#include <array>
#include <new>
#include <utility>

#include "wire/grpc_callbacks.h"
#include "wire/grpc_stream.h"

namespace weir::wire {
namespace {

// Calls whose state is kept for others.
constexpr std::size_t kSpare = 128;
// What a header field counts for besides its bytes (RFC 9113, 6.5.2).
constexpr std::size_t kFieldOverhead = 32;

// "application/grpc", "application/grpc+proto", but not "application/grpc-web".
bool IsGrpc(std::string_view type) {
  constexpr std::string_view kGrpc = "application/grpc";
  if (!type.starts_with(kGrpc)) return false;
  type.remove_prefix(kGrpc.size());
  return type.empty() || type[0] == '+' || type[0] == ';';
}

}  // namespace

GrpcConnection::GrpcConnection(GrpcService& service, const GrpcLimits& limits)
    : service_(service), limits_(limits), session_(Callbacks::NewSession(*this)) {
  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.fields},
      // Answers go out in the order in which they are made: nobody's tree of priorities is kept.
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  }};
  if (nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) != 0 ||
      nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                            static_cast<std::int32_t>(limits.window)) != 0) {
    nghttp2_session_del(session_);
    throw std::bad_alloc();
  }
}

GrpcConnection::~GrpcConnection() { nghttp2_session_del(session_); }

GrpcConnection::Progress GrpcConnection::Serve(std::string_view bytes, Instant now,
                                               std::string& out) {
  now_ = now;
  answered_ = 0;
  Progress progress;
  while (progress.consumed < bytes.size() && !progress.more) {
    const std::string_view unread = bytes.substr(progress.consumed);
    const ssize_t read = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const std::uint8_t*>(unread.data()), unread.size());
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    if (read == NGHTTP2_ERR_FLOODED) {
      EndForFlood();
    } else if (read <= 0) {
      return {.consumed = bytes.size(), .close = true};  // it does not speak HTTP/2
    } else {
      progress.consumed += static_cast<std::size_t>(read);
    }
    Write(out);
    if (read < 0 || nghttp2_session_want_read(session_) == 0) break;
    progress.more = out.size() >= kEnough && progress.consumed < bytes.size();
  }
  KeepLoose();
  progress.close = is_over();
  if (progress.close) progress.consumed = bytes.size();
  progress.in_request = answered_ == 0 && (!is_greeted_ || awaited_ > 0 || waiting_ > 0);
  return progress;
}

void GrpcConnection::Write(std::string& out) {
  WriteFrames(out);
  // Not before: nghttp2 would forget the answer. Most have ended by now.
  for (const std::int32_t id : to_reset_) {
    if (Callbacks::Find(session_, id) == nullptr) continue;
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR);
  }
  if (!to_reset_.empty()) WriteFrames(out);
  to_reset_.clear();
  unwritten_ = 0;
}

void GrpcConnection::WriteFrames(std::string& out) {
  const std::uint8_t* data = nullptr;
  ssize_t size = 0;
  while ((size = nghttp2_session_mem_send(session_, &data)) > 0) {
    out.append(Callbacks::View(data, static_cast<std::size_t>(size)));
  }
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (size < 0) throw std::bad_alloc();
}

bool GrpcConnection::is_over() const {
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

void GrpcConnection::GoAway() {
  if (is_leaving_) return;
  is_leaving_ = true;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

void GrpcConnection::Charge(Nanos cost) {
  if (!flood_.Charge(cost, now_)) EndForFlood();
}

void GrpcConnection::EndForFlood() {
  nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
}

// --- calls
// ----------------------------------------------------------------------------------------

GrpcConnection::Stream& GrpcConnection::Begin(std::int32_t id) {
  if (spare_.empty()) spare_.push_back(std::make_unique<Stream>(*this));
  streams_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  Stream& stream = *streams_.back();
  stream.id = id;
  stream.place = streams_.size() - 1;
  stream.is_awaited = true;
  ++awaited_;
  return stream;
}

void GrpcConnection::Recycle(Stream& stream) {
  if (stream.found.shape == GrpcShape::kStreams || stream.is_late()) service_.OnGone(stream);
  if (loose_ == &stream) loose_ = nullptr;
  AwaitNoMore(stream);
  waiting_ -= stream.reader.waiting();
  stream.Clear();
  const std::size_t place = stream.place;
  std::unique_ptr<Stream> owned = std::move(streams_[place]);
  if (place + 1 < streams_.size()) {
    streams_[place] = std::move(streams_.back());
    streams_[place]->place = place;
  }
  streams_.pop_back();
  if (spare_.size() < kSpare) spare_.push_back(std::move(owned));
}

void GrpcConnection::AwaitNoMore(Stream& stream) {
  if (stream.is_awaited) --awaited_;
  stream.is_awaited = false;
}

void GrpcConnection::OnField(Stream& stream, std::string_view name, std::string_view value) {
  stream.field_bytes += name.size() + value.size() + kFieldOverhead;
  if (name == ":path") {
    stream.found = service_.Find(value);
  } else if (name == ":method") {
    stream.is_post = value == "POST";
  } else if (name == "content-type") {
    stream.is_grpc = IsGrpc(value);
  }
}

void GrpcConnection::OnHead(Stream& stream) {
  if (stream.field_bytes > limits_.fields) return stream.FinishHttp("431");
  if (!stream.is_post) return stream.FinishHttp("405");
  if (!stream.is_grpc) return stream.FinishHttp("415");
  if (stream.found.shape == GrpcShape::kUnknown) {
    return stream.Finish({GrpcCode::kUnimplemented, "there is no such method here"});
  }
  if (stream.found.shape == GrpcShape::kStreams) AwaitNoMore(stream);
}

void GrpcConnection::OnData(Stream& stream, std::string_view bytes) {
  while (!bytes.empty() && !stream.is_finished()) {
    if (stream.has_question) {
      return Refuse(stream, {GrpcCode::kInternal, "a unary call has one message, got another"});
    }
    const std::size_t waited = stream.reader.waiting();
    const GrpcRead read = stream.reader.Next(bytes, limits_.message);
    waiting_ += stream.reader.waiting() - waited;
    bytes.remove_prefix(read.consumed);
    switch (read.status) {
      case GrpcReadStatus::kNeedMore:
        if (waiting_ > limits_.waiting + kGrpcPrefix) {
          Refuse(stream, {GrpcCode::kResourceExhausted, "too many long messages at once"});
        }
        break;
      case GrpcReadStatus::kMessage:
        OnMessage(stream, read.message);
        break;
      case GrpcReadStatus::kCompressed:
        Refuse(stream, {GrpcCode::kUnimplemented, "compressed messages are not read here"});
        break;
      case GrpcReadStatus::kTooLong:
        Refuse(stream, {GrpcCode::kResourceExhausted,
                        "a message may have " + std::to_string(limits_.message) + " bytes"});
        break;
    }
  }
}

void GrpcConnection::OnMessage(Stream& stream, std::string_view message) {
  if (stream.found.shape == GrpcShape::kStreams) {
    ++answered_;
    service_.OnMessage(stream, message);
  } else {
    stream.has_question = true;
    stream.question = message;
    loose_ = &stream;
  }
}

// The bytes in which a message was found are about to go, and its call is not complete.
void GrpcConnection::KeepLoose() {
  if (loose_ == nullptr) return;
  loose_->question = loose_->reader.Keep(loose_->question);
  loose_ = nullptr;
}

void GrpcConnection::OnEnd(Stream& stream) {
  AwaitNoMore(stream);
  if (stream.is_finished()) return;
  ++answered_;
  if (stream.found.shape == GrpcShape::kStreams) return service_.OnEnd(stream);
  if (loose_ == &stream) loose_ = nullptr;
  if (!stream.has_question) {
    return Refuse(stream, {GrpcCode::kInternal, "a unary call has one message, got none"});
  }
  stream.Answer();
}

void GrpcConnection::Refuse(Stream& stream, const GrpcStatus& status) {
  waiting_ -= stream.reader.waiting();
  stream.reader.Clear();
  if (loose_ == &stream) loose_ = nullptr;
  AwaitNoMore(stream);
  stream.Finish(status);
}

}  // namespace weir::wire
