#include "wire/grpc_connection.h"

#include <nghttp2/nghttp2.h>

#include <array>
#include <limits>
#include <new>
#include <utility>

#include "wire/grpc_stream.h"

namespace weir::wire {
namespace {

// Calls that are answered before anything is written. nghttp2 counts a call until its answer is
// written, so this many are the most that one client can have under way by sending fast.
constexpr std::size_t kBatch = 128;
// Calls whose state is kept for others.
constexpr std::size_t kSpare = kBatch;
// What a header field counts for besides its bytes (RFC 9113, 6.5.2).
constexpr std::size_t kFieldOverhead = 32;

std::string_view View(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// "application/grpc", "application/grpc+proto", but not "application/grpc-web".
bool IsGrpc(std::string_view type) {
  constexpr std::string_view kGrpc = "application/grpc";
  if (!type.starts_with(kGrpc)) return false;
  type.remove_prefix(kGrpc.size());
  return type.empty() || type[0] == '+' || type[0] == ';';
}

}  // namespace

// --- what nghttp2 calls
// ---------------------------------------------------------------------------

struct GrpcConnection::Callbacks {
  static GrpcConnection& Of(void* user) { return *static_cast<GrpcConnection*>(user); }

  // Exceptions cannot pass through nghttp2: they wait until it has returned.
  template <typename Body>
  static int Shielded(GrpcConnection& connection, Body body) {
    try {
      body();
      return 0;
    } catch (...) {
      connection.thrown_ = std::current_exception();
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  static Stream* Find(nghttp2_session* session, std::int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  static int OnBeginFields(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    return Shielded(Of(user), [&] {
      Stream& stream = Of(user).Begin(frame->hd.stream_id);
      nghttp2_session_set_stream_user_data(session, stream.id, &stream);
    });
  }

  static int OnField(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name,
                     std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                     std::uint8_t /*flags*/, void* user) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;  // trailers say nothing to us
    Stream* stream = Find(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    return Shielded(Of(user), [&] {
      Of(user).OnField(*stream, View(name, name_size), View(value, value_size));
    });
  }

  static int OnData(nghttp2_session* session, std::uint8_t /*flags*/, std::int32_t id,
                    const std::uint8_t* data, std::size_t size, void* user) {
    Stream* stream = Find(session, id);
    if (stream == nullptr) return 0;
    GrpcConnection& connection = Of(user);
    const int result = Shielded(connection, [&] { connection.OnData(*stream, View(data, size)); });
    const bool is_enough = connection.unwritten_ >= kBatch || connection.unsent_ >= kEnough;
    return result == 0 && is_enough ? static_cast<int>(NGHTTP2_ERR_PAUSE) : result;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    GrpcConnection& connection = Of(user);
    const bool is_end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
      case NGHTTP2_DATA:
        break;
      case NGHTTP2_SETTINGS:
        connection.is_greeted_ = true;
        connection.Charge(FloodGuard::kFrame);
        return 0;
      case NGHTTP2_RST_STREAM:
        connection.Charge(FloodGuard::kReset);
        return 0;
      default:
        connection.Charge(FloodGuard::kFrame);
        return 0;
    }
    if (frame->hd.length == 0 && !is_end) connection.Charge(FloodGuard::kFrame);
    Stream* stream = Find(session, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    return Shielded(connection, [&] {
      if (is_end) stream->has_ended = true;
      const bool is_head =
          frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
      if (is_head) connection.OnHead(*stream);
      if (is_end) connection.OnEnd(*stream);
      connection.KeepLoose();
    });
  }

  // nghttp2 resets a stream or ends the connection for it.
  static int OnInvalidFrame(nghttp2_session* /*session*/, const nghttp2_frame* /*frame*/,
                            int /*error*/, void* user) {
    Of(user).Charge(FloodGuard::kReset);
    return 0;
  }

  static int OnClosed(nghttp2_session* session, std::int32_t id, std::uint32_t /*error*/,
                      void* user) {
    Stream* stream = Find(session, id);
    if (stream == nullptr) return 0;
    return Shielded(Of(user), [&] { Of(user).Recycle(*stream); });
  }

  static const nghttp2_session_callbacks* All() {
    static const nghttp2_session_callbacks* const kAll = [] {
      nghttp2_session_callbacks* all = nullptr;
      if (nghttp2_session_callbacks_new(&all) != 0) throw std::bad_alloc();
      nghttp2_session_callbacks_set_on_begin_headers_callback(all, OnBeginFields);
      nghttp2_session_callbacks_set_on_header_callback(all, OnField);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, OnData);
      nghttp2_session_callbacks_set_on_frame_recv_callback(all, OnFrame);
      nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(all, OnInvalidFrame);
      nghttp2_session_callbacks_set_on_stream_close_callback(all, OnClosed);
      return all;
    }();
    return kAll;
  }

  static const nghttp2_option* Options() {
    static const nghttp2_option* const kOptions = [] {
      nghttp2_option* options = nullptr;
      if (nghttp2_option_new(&options) != 0) throw std::bad_alloc();
      nghttp2_option_set_no_closed_streams(options, 1);
      // It would read a clock of its own. FloodGuard does what it does.
      nghttp2_option_set_stream_reset_rate_limit(options, std::numeric_limits<std::uint64_t>::max(),
                                                 std::numeric_limits<std::uint64_t>::max());
      return options;
    }();
    return kOptions;
  }
};

// --- the connection
// -------------------------------------------------------------------------------

GrpcConnection::GrpcConnection(GrpcService& service, const GrpcLimits& limits)
    : service_(service), limits_(limits) {
  if (nghttp2_session_server_new2(&session_, Callbacks::All(), this, Callbacks::Options()) != 0) {
    throw std::bad_alloc();
  }
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
  progress.close =
      nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
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
    out.append(View(data, static_cast<std::size_t>(size)));
  }
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (size < 0) throw std::bad_alloc();
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
  if (stream.found.shape == GrpcShape::kStreams) service_.OnGone(stream);
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
  } else if (stream.has_question) {
    Refuse(stream, {GrpcCode::kInternal, "a unary call has one message, got another"});
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
  flood_.Earn(FloodGuard::kReset);
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
