// For tests of what answers gRPC: the client's side of a connection, on libnghttp2, and what it was
// told. Bytes in, bytes out, as the side that is tested.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir {

using GrpcFields = std::vector<std::pair<std::string, std::string>>;

inline std::string Framed(std::string_view message, char compressed = 0) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::string framed = {compressed, static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                        static_cast<char>(size >> 8), static_cast<char>(size)};
  return framed.append(message);
}

inline GrpcFields CallFields(std::string_view path) {
  return {{":method", "POST"},
          {":scheme", "http"},
          {":path", std::string(path)},
          {":authority", "weir"},
          {"content-type", "application/grpc"},
          {"te", "trailers"},
          {"grpc-timeout", "1S"}};
}

// What came back in one call.
struct GrpcHeard {
  std::map<std::string, std::string> fields;  // trailers too
  std::string body;
  int frames = 0;                       // HEADERS and DATA
  bool ended = false;                   // by the server, in order
  std::optional<std::uint32_t> closed;  // with this code

  [[nodiscard]] std::string field(const std::string& name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? "(none)" : found->second;
  }
  // The messages of the body, less their prefixes.
  [[nodiscard]] std::vector<std::string> messages() const {
    std::vector<std::string> all;
    for (std::size_t at = 0; at + 5 <= body.size();) {
      std::size_t size = 0;
      for (std::size_t i = 1; i < 5; ++i) {
        size = size << 8 | static_cast<unsigned char>(body[at + i]);
      }
      all.push_back(body.substr(at + 5, size));
      at += 5 + size;
    }
    return all;
  }
};

class GrpcTestClient {
 public:
  explicit GrpcTestClient(std::vector<nghttp2_settings_entry> settings = {}) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnField);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClosed);
    nghttp2_option* options = nullptr;
    nghttp2_option_new(&options);
    nghttp2_option_set_peer_max_concurrent_streams(options, 1'000'000);
    nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_session_client_new2(&session_, callbacks, this, options);
    nghttp2_option_del(options);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  }
  ~GrpcTestClient() { nghttp2_session_del(session_); }
  GrpcTestClient(const GrpcTestClient&) = delete;
  GrpcTestClient& operator=(const GrpcTestClient&) = delete;

  // Begins a call. Of one that is not to end, more can be said.
  enum class Then : std::uint8_t { kEnd, kStay };
  std::int32_t Call(const GrpcFields& fields, std::string_view body, Then then = Then::kEnd) {
    std::vector<nghttp2_nv> nvs;
    for (const auto& [name, value] : fields) {
      nvs.push_back({Bytes(name), Bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    bodies_.push_back({std::string(body), 0, then == Then::kEnd});
    nghttp2_data_provider provider;
    provider.source.ptr = &bodies_.back();
    provider.read_callback = ReadBody;
    const std::int32_t id =
        nghttp2_submit_request(session_, nullptr, nvs.data(), nvs.size(), &provider, nullptr);
    said_[id] = &bodies_.back();
    return id;
  }
  std::int32_t Call(std::string_view path, std::string_view message) {
    return Call(CallFields(path), Framed(message));
  }
  void Say(std::int32_t id, std::string_view body, Then then = Then::kStay) {
    said_.at(id)->bytes.append(body);
    said_.at(id)->ends = then == Then::kEnd;
    nghttp2_session_resume_data(session_, id);
  }
  void Reset(std::int32_t id) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  }
  void Ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }
  void OpenWindow(std::int32_t id, std::int32_t bytes) {
    nghttp2_submit_window_update(session_, NGHTTP2_FLAG_NONE, id, bytes);
  }

  // The bytes to send.
  std::string Bytes() {
    std::string bytes;
    const std::uint8_t* data = nullptr;
    while (true) {
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size <= 0) return bytes;
      bytes.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    }
  }
  // Throws if they are not HTTP/2 as a server speaks it.
  void Hear(std::string_view bytes) {
    const ssize_t read = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (read < 0) throw std::runtime_error(nghttp2_strerror(static_cast<int>(read)));
  }

  const GrpcHeard& heard(std::int32_t id) { return heard_[id]; }
  [[nodiscard]] std::size_t pongs() const { return pongs_; }
  // The code of the server's GOAWAY.
  [[nodiscard]] std::optional<std::uint32_t> farewell() const { return farewell_; }
  [[nodiscard]] std::uint32_t most_streams() const {
    return nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  }

 private:
  struct Body {
    std::string bytes;
    std::size_t sent;
    bool ends;
  };

  static std::uint8_t* Bytes(const std::string& text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  }
  static GrpcTestClient& Of(void* user) { return *static_cast<GrpcTestClient*>(user); }
  static ssize_t ReadBody(nghttp2_session* /*session*/, std::int32_t /*id*/, std::uint8_t* buffer,
                          std::size_t room, std::uint32_t* flags, nghttp2_data_source* source,
                          void* /*user*/) {
    Body& body = *static_cast<Body*>(source->ptr);
    const std::size_t size = std::min(room, body.bytes.size() - body.sent);
    std::memcpy(buffer, body.bytes.data() + body.sent, size);
    body.sent += size;
    const bool all = body.sent == body.bytes.size();
    if (all && body.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (all && !body.ends && size == 0) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(size);
  }
  static int OnField(nghttp2_session* /*session*/, const nghttp2_frame* frame,
                     const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                     std::size_t value_size, std::uint8_t /*flags*/, void* user) {
    Of(user)
        .heard_[frame->hd.stream_id]
        .fields[std::string(reinterpret_cast<const char*>(name), name_size)] =
        std::string(reinterpret_cast<const char*>(value), value_size);
    return 0;
  }
  static int OnData(nghttp2_session* /*session*/, std::uint8_t /*flags*/, std::int32_t id,
                    const std::uint8_t* data, std::size_t size, void* user) {
    Of(user).heard_[id].body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int OnFrame(nghttp2_session* /*session*/, const nghttp2_frame* frame, void* user) {
    GrpcTestClient& client = Of(user);
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
      case NGHTTP2_DATA:
        ++client.heard_[frame->hd.stream_id].frames;
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
          client.heard_[frame->hd.stream_id].ended = true;
        }
        break;
      case NGHTTP2_PING:
        ++client.pongs_;
        break;
      case NGHTTP2_GOAWAY:
        client.farewell_ = frame->goaway.error_code;
        break;
      default:
        break;
    }
    return 0;
  }
  static int OnClosed(nghttp2_session* /*session*/, std::int32_t id, std::uint32_t error,
                      void* user) {
    Of(user).heard_[id].closed = error;
    return 0;
  }

  nghttp2_session* session_ = nullptr;
  std::deque<Body> bodies_;  // nghttp2 points at them
  std::map<std::int32_t, Body*> said_;
  std::map<std::int32_t, GrpcHeard> heard_;
  std::size_t pongs_ = 0;
  std::optional<std::uint32_t> farewell_;
};

}  // namespace weir
