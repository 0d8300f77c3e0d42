// The server's side of one HTTP/2 connection that carries gRPC: bytes in, bytes out. It owns no
// socket and reads no clock.
//
//   HEADERS -> GrpcHeadReader -> DATA -> a message is complete -> GrpcService::Answer
//                  |                                                   |
//                  +-> trailers only: no such method,                  +-> HEADERS DATA HEADERS
//                      or HTTP 405, 415, 431
//
// Frames are read where they lie, whole ones only, and written straight into what goes out: an
// answer that the client's windows have room for is never copied, and leaves no state behind. That
// is less than HTTP/2 can do (no priorities, no push) and all that gRPC asks of it. All calls that
// are complete in what was read are answered in what is written: a batch of streams costs one read
// and one write. One that cannot be answered yet keeps no other waiting. State of calls is reused.
//
// What a client can make grow has a bound (GrpcLimits). Who goes beyond that of a call is refused
// the call; beyond that of the connection, or breaks the rules of HTTP/2, the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/units.h"
#include "wire/flood_guard.h"
#include "wire/grpc_answer_fields.h"
#include "wire/grpc_head.h"
#include "wire/grpc_service.h"
#include "wire/http2_frame.h"

namespace weir::wire {

struct GrpcLimits {
  std::uint32_t streams = 1000;     // at the same time
  std::uint32_t fields = 16'384;    // bytes of a call's header fields, names and values
  std::size_t message = 4'194'304;  // bytes of one message
  std::size_t waiting = 4'194'304;  // bytes of all messages whose calls are not complete
  std::size_t unsent = 4'194'304;   // bytes of answers that the client gives no window for
  // Bytes that may be under way to us in one call, and in all; at least 65,535.
  std::uint32_t stream_window = 65'535 * 4;
  std::uint32_t window = 1'048'576;
};

class GrpcConnection {
 public:
  struct Progress {
    std::size_t consumed = 0;  // the rest is a part of a frame, unless there is `more`
    std::size_t need = 0;      // bytes of the frame that the rest is a part of, if that is known
    bool close = false;        // when what was written has gone out
    bool more = false;         // enough was written for now: there is more to do in what is unread
    bool in_request = false;   // calls have begun and nothing of what came has completed one
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

  void ServeFrames(std::string_view bytes, std::string& out, Progress& progress);

  // Frames: grpc_frames.cc
  void OnFrame(const FrameHeader& frame, std::string_view payload);
  void OnHeaders(const FrameHeader& frame, std::string_view payload);
  void OnContinuation(const FrameHeader& frame, std::string_view payload);
  void OnBlock(std::uint32_t id, bool ends, std::string_view block);
  void OnDataFrame(const FrameHeader& frame, std::string_view payload);
  void OnReset(const FrameHeader& frame);
  void OnSettings(const FrameHeader& frame, std::string_view payload);
  Http2Error Apply(Http2Setting setting, std::uint32_t value);
  void OnPing(const FrameHeader& frame, std::string_view payload);
  void OnWindowUpdate(const FrameHeader& frame, std::string_view payload);
  bool StripPadding(const FrameHeader& frame, std::string_view& payload);
  void Receive(std::uint32_t bytes);
  void MoveWindows(std::int64_t by);
  void Flush();
  // Ends the connection.
  void Fail(Http2Error error);
  void AppendGoAway(Http2Error error);
  void Charge(Nanos cost);
  void BoundAnswers();

  // Calls.
  // In `streams_`: where it is, or would be.
  [[nodiscard]] std::size_t PlaceOf(std::uint32_t id) const;
  Stream* Find(std::uint32_t id);
  void Begin(std::uint32_t id, bool ends, const GrpcHead& head);
  void OnHead(Stream& stream);
  void OnData(Stream& stream, std::string_view bytes);
  void OnMessage(Stream& stream, std::string_view message);
  void OnEnd(Stream& stream);
  void Refuse(Stream& stream, const GrpcStatus& status);
  void Reset(Stream& stream, Http2Error error);
  void AwaitNoMore(Stream& stream);
  void Recycle(Stream& stream);
  void RecycleDone();

  GrpcService& service_;
  const GrpcLimits limits_;
  GrpcHeadReader heads_;
  GrpcAnswerFields fields_;
  std::vector<std::unique_ptr<Stream>> streams_;  // by their ids, which only grow
  std::vector<std::unique_ptr<Stream>> spare_;
  std::vector<Stream*> done_;  // all is said; recycled when nobody looks at them any more

  std::string unsaid_;           // what was said while nobody wrote
  std::string* out_ = &unsaid_;  // where it goes
  std::size_t preface_left_ = kHttp2Preface.size();

  // Fields that are not complete: nothing but the rest of them may follow.
  std::string block_;
  std::uint32_t continued_ = 0;  // whose; 0: nobody's
  bool continued_ends_ = false;

  std::uint32_t last_id_ = 0;                  // of all calls that were begun
  std::uint32_t last_taken_ = 0;               // of those that were looked at
  std::uint32_t received_ = 0;                 // bytes that the client was not given back
  std::int64_t window_ = kFirstWindow;         // bytes that we may send
  std::int64_t stream_window_ = kFirstWindow;  // and in a new call

  Instant now_{};
  FloodGuard flood_;
  std::size_t answered_ = 0;       // by this call of Serve()
  std::size_t awaited_ = 0;        // calls that cannot be answered before more of them has come
  std::size_t kept_ = 0;           // of all messages: GrpcLimits::waiting
  std::size_t unsent_ = 0;         // as in GrpcLimits
  bool is_greeted_ = false;        // the client's first SETTINGS have come
  bool has_said_goodbye_ = false;  // no more calls are looked at
  bool client_leaves_ = false;     // it begins no more calls
  bool is_ended_ = false;          // nothing is heard any more
};

}  // namespace weir::wire
