#include "wire/grpc_callbacks.h"

#include <exception>
#include <limits>
#include <new>

#include "wire/grpc_stream.h"

namespace weir::wire {
namespace {

// Calls that are answered before anything is written. nghttp2 counts a call until its answer is
// written, so this many are the most that one client can have under way by sending fast.
constexpr std::size_t kBatch = 128;

}  // namespace

nghttp2_session* GrpcConnection::Callbacks::NewSession(GrpcConnection& connection) {
  nghttp2_session* session = nullptr;
  if (nghttp2_session_server_new2(&session, All(), &connection, Options()) != 0) {
    throw std::bad_alloc();
  }
  return session;
}

template <typename Body>
int GrpcConnection::Callbacks::Shielded(GrpcConnection& connection, Body body) {
  try {
    body();
    return 0;
  } catch (...) {
    connection.thrown_ = std::current_exception();
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
}

int GrpcConnection::Callbacks::OnBeginFields(nghttp2_session* session, const nghttp2_frame* frame,
                                             void* user) {
  if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
  return Shielded(Of(user), [&] {
    Stream& stream = Of(user).Begin(frame->hd.stream_id);
    nghttp2_session_set_stream_user_data(session, stream.id, &stream);
  });
}

int GrpcConnection::Callbacks::OnField(nghttp2_session* session, const nghttp2_frame* frame,
                                       const std::uint8_t* name, std::size_t name_size,
                                       const std::uint8_t* value, std::size_t value_size,
                                       std::uint8_t /*flags*/, void* user) {
  if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;  // trailers say nothing to us
  Stream* stream = Find(session, frame->hd.stream_id);
  if (stream == nullptr) return 0;
  return Shielded(
      Of(user), [&] { Of(user).OnField(*stream, View(name, name_size), View(value, value_size)); });
}

int GrpcConnection::Callbacks::OnData(nghttp2_session* session, std::uint8_t /*flags*/,
                                      std::int32_t id, const std::uint8_t* data, std::size_t size,
                                      void* user) {
  Stream* stream = Find(session, id);
  if (stream == nullptr) return 0;
  GrpcConnection& connection = Of(user);
  const int result = Shielded(connection, [&] { connection.OnData(*stream, View(data, size)); });
  const bool is_enough = connection.unwritten_ >= kBatch || connection.unsent_ >= kEnough;
  return result == 0 && is_enough ? static_cast<int>(NGHTTP2_ERR_PAUSE) : result;
}

int GrpcConnection::Callbacks::OnFrame(nghttp2_session* session, const nghttp2_frame* frame,
                                       void* user) {
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
int GrpcConnection::Callbacks::OnInvalidFrame(nghttp2_session* /*session*/,
                                              const nghttp2_frame* /*frame*/, int /*error*/,
                                              void* user) {
  Of(user).Charge(FloodGuard::kReset);
  return 0;
}

int GrpcConnection::Callbacks::OnClosed(nghttp2_session* session, std::int32_t id,
                                        std::uint32_t /*error*/, void* user) {
  Stream* stream = Find(session, id);
  if (stream == nullptr) return 0;
  return Shielded(Of(user), [&] { Of(user).Recycle(*stream); });
}

const nghttp2_session_callbacks* GrpcConnection::Callbacks::All() {
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

const nghttp2_option* GrpcConnection::Callbacks::Options() {
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

}  // namespace weir::wire
