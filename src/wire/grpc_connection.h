// The server's side of one HTTP/2 connection that carries gRPC: bytes in, bytes out. It owns no
// socket and reads no clock. Frames and header compression are libnghttp2's; what is here is what
// gRPC makes of them, and what a client may use up.
//
//   HEADERS -> GrpcService::Find -> DATA -> a message is complete -> GrpcService::Answer
//                  |                                                      |
//                  +-> trailers only: no such method, HTTP 405, 415, 431   +-> HEADERS DATA HEADERS
//
// All calls that are complete in what was read are answered in what is written: a batch of streams
// costs one read and one write. One that cannot be answered yet keeps no other waiting. A message
// is looked at where it was read, and copied only if it comes in pieces. State of calls is reused.
//
// What a client can make grow has a bound (GrpcLimits). Who goes beyond that of a call is refused
// the call; beyond that of the connection, the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/units.h"
#include "wire/flood_guard.h"
#include "wire/grpc_service.h"

struct nghttp2_session;

namespace weir::wire {

struct GrpcLimits {
  std::uint32_t streams = 1000;              // at the same time
  std::uint32_t fields = 16'384;             // bytes of a call's header fields, names and values
  std::size_t message = 4'194'304;           // bytes of one message
  std::size_t waiting = 4'194'304;           // bytes of all messages that are not complete
  std::size_t unsent = 4'194'304;            // bytes of answers that the client gives no window for
  std::uint32_t stream_window = 65'535 * 4;  // bytes that may be under way to us in one call
  std::uint32_t window = 1'048'576;          // and in all
};

class GrpcConnection {
 public:
  struct Progress {
    std::size_t consumed = 0;
    bool close = false;       // when what was written has gone out
    bool more = false;        // enough was written for now: there is more to do in what is unread
    bool in_request = false;  // calls have begun and nothing of what came has completed one
  };
  // Bytes of answers after which it stops until they have gone out.
  static constexpr std::size_t kEnough = std::size_t{256} << 10;

  // `service` outlives it.
  explicit GrpcConnection(GrpcService& service, const GrpcLimits& limits = {});
  ~GrpcConnection();
  GrpcConnection(const GrpcConnection&) = delete;
  GrpcConnection& operator=(const GrpcConnection&) = delete;

  // Answers all calls that are complete in `bytes`. Throws what the service throws; the connection
  // cannot be used after that.
  Progress Serve(std::string_view bytes, Instant now, std::string& out);

  // Tells the client to begin no more calls here. Those under way are finished.
  void GoAway();
  // Writes what was said without being asked: GoAway(), GrpcCall::Send().
  void Write(std::string& out);
  // Nothing is left to be said or heard: Progress::close, for who has just written.
  [[nodiscard]] bool is_over() const;

 private:
  class Stream;
  struct Callbacks;

  void OnField(Stream& stream, std::string_view name, std::string_view value);
  void OnHead(Stream& stream);
  void OnData(Stream& stream, std::string_view bytes);
  void OnMessage(Stream& stream, std::string_view message);
  void OnEnd(Stream& stream);
  void Refuse(Stream& stream, const GrpcStatus& status);
  void WriteFrames(std::string& out);
  void KeepLoose();

  Stream& Begin(std::int32_t id);
  void AwaitNoMore(Stream& stream);
  void Recycle(Stream& stream);

  void Charge(Nanos cost);
  void EndForFlood();

  GrpcService& service_;
  const GrpcLimits limits_;
  nghttp2_session* session_;
  std::vector<std::unique_ptr<Stream>> streams_;  // each knows its place
  std::vector<std::unique_ptr<Stream>> spare_;
  Stream* loose_ = nullptr;             // whose message lies in the bytes being read
  std::vector<std::int32_t> to_reset_;  // calls, when their answers are written

  Instant now_{};
  FloodGuard flood_;
  std::size_t answered_ = 0;   // by this call of Serve()
  std::size_t unwritten_ = 0;  // calls answered and not written
  std::size_t awaited_ = 0;    // calls that cannot be answered before more of them has come
  std::size_t waiting_ = 0;    // as in GrpcLimits
  std::size_t unsent_ = 0;     // as in GrpcLimits
  bool is_greeted_ = false;    // the client's first SETTINGS have come
  bool is_leaving_ = false;
  std::exception_ptr thrown_;  // by the service; C has no way for it
};

}  // namespace weir::wire
