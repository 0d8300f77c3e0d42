// What libnghttp2 calls as it reads and writes a connection. A part of wire/grpc_connection.h, for
// its own use.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/grpc_connection.h"

namespace weir::wire {

struct GrpcConnection::Callbacks {
  // A session that calls `connection`. Throws std::bad_alloc.
  static nghttp2_session* NewSession(GrpcConnection& connection);
  // None if the call is over, or was never ours.
  static Stream* Find(nghttp2_session* session, std::int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }
  static std::string_view View(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
  }

 private:
  static GrpcConnection& Of(void* user) { return *static_cast<GrpcConnection*>(user); }
  // Exceptions cannot pass through nghttp2: they wait until it has returned.
  template <typename Body>
  static int Shielded(GrpcConnection& connection, Body body);

  static int OnBeginFields(nghttp2_session* session, const nghttp2_frame* frame, void* user);
  static int OnField(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name,
                     std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                     std::uint8_t flags, void* user);
  static int OnData(nghttp2_session* session, std::uint8_t flags, std::int32_t id,
                    const std::uint8_t* data, std::size_t size, void* user);
  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user);
  static int OnInvalidFrame(nghttp2_session* session, const nghttp2_frame* frame, int error,
                            void* user);
  static int OnClosed(nghttp2_session* session, std::int32_t id, std::uint32_t error, void* user);
  static const nghttp2_session_callbacks* All();
  static const nghttp2_option* Options();
};

}  // namespace weir::wire
