// What the frames of a connection do, as RFC 9113 has it. Where that leaves a choice between ending
// a call and ending the connection, who breaks the rules loses the connection.
#include <algorithm>

#include "wire/grpc_connection.h"
#include "wire/grpc_stream.h"

namespace weir::wire {
namespace {

// Compressed fields that are read although they are more than anybody may say: the client is told
// what is wrong with them.
constexpr std::size_t kReadAnyway = 4;

}  // namespace

void GrpcConnection::OnFrame(const FrameHeader& frame, std::string_view payload) {
  if (continued_ != 0 && frame.type != FrameType::kContinuation) {
    return Fail(Http2Error::kProtocol);
  }
  if (!is_greeted_ && frame.type != FrameType::kSettings) return Fail(Http2Error::kProtocol);
  switch (frame.type) {
    case FrameType::kHeaders:
      return OnHeaders(frame, payload);
    case FrameType::kData:
      return OnDataFrame(frame, payload);
    case FrameType::kContinuation:
      return OnContinuation(frame, payload);
    case FrameType::kReset:
      return OnReset(frame);
    case FrameType::kSettings:
      return OnSettings(frame, payload);
    case FrameType::kPing:
      return OnPing(frame, payload);
    case FrameType::kWindowUpdate:
      return OnWindowUpdate(frame, payload);
    case FrameType::kGoAway:
      if (frame.stream != 0) return Fail(Http2Error::kProtocol);
      if (frame.length < 8) return Fail(Http2Error::kFrameSize);
      client_leaves_ = true;
      return Charge(FloodGuard::kFrame);
    case FrameType::kPushPromise:
      return Fail(Http2Error::kProtocol);  // clients promise nothing
    case FrameType::kPriority:
      if (frame.stream == 0) return Fail(Http2Error::kProtocol);
      if (frame.length != 5) return Fail(Http2Error::kFrameSize);
      break;
  }
  Charge(FloodGuard::kFrame);  // also what nobody knows
}

bool GrpcConnection::StripPadding(const FrameHeader& frame, std::string_view& payload) {
  if (!frame.has(frame_flag::kPadded)) return true;
  const std::size_t padding = payload.empty() ? 0 : static_cast<unsigned char>(payload[0]);
  if (payload.size() < padding + 1) {
    Fail(Http2Error::kProtocol);
    return false;
  }
  payload = payload.substr(1, payload.size() - padding - 1);
  return true;
}

// --- fields
// ----------------------------------------------------------------------------------------

void GrpcConnection::OnHeaders(const FrameHeader& frame, std::string_view payload) {
  constexpr std::size_t kPriorityBytes = 5;
  if (frame.stream % 2 == 0) return Fail(Http2Error::kProtocol);
  if (!StripPadding(frame, payload)) return;
  if (frame.has(frame_flag::kPriority)) {
    if (payload.size() < kPriorityBytes) return Fail(Http2Error::kFrameSize);
    payload.remove_prefix(kPriorityBytes);
  }
  const bool ends = frame.has(frame_flag::kEndStream);
  if (frame.has(frame_flag::kEndHeaders)) return OnBlock(frame.stream, ends, payload);
  continued_ = frame.stream;
  continued_ends_ = ends;
  block_.assign(payload);
}

void GrpcConnection::OnContinuation(const FrameHeader& frame, std::string_view payload) {
  if (continued_ == 0 || frame.stream != continued_) return Fail(Http2Error::kProtocol);
  if (block_.size() + payload.size() > limits_.fields * kReadAnyway) {
    return Fail(Http2Error::kEnhanceYourCalm);
  }
  block_ += payload;
  Charge(FloodGuard::kFrame);
  if (is_ended_ || !frame.has(frame_flag::kEndHeaders)) return;
  continued_ = 0;
  OnBlock(frame.stream, continued_ends_, block_);
  block_ = std::string();
}

void GrpcConnection::OnBlock(std::uint32_t id, bool ends, std::string_view block) {
  const std::optional<GrpcHead> head = heads_.Read(block, limits_.fields, service_);
  if (!head) return Fail(Http2Error::kCompression);
  if (id > last_id_) {
    last_id_ = id;
    if (has_said_goodbye_) return;  // the client knows, or will know, that nobody has looked at it
    last_taken_ = id;
    if (head->is_malformed || streams_.size() >= limits_.streams) {
      const Http2Error why =
          head->is_malformed ? Http2Error::kProtocol : Http2Error::kRefusedStream;
      AppendNumberFrame(FrameType::kReset, id, static_cast<std::uint32_t>(why), *out_);
      return Charge(FloodGuard::kReset);
    }
    return Begin(id, ends, *head);
  }
  // Trailers, which say nothing to us.
  Stream* stream = Find(id);
  if (stream == nullptr) return Charge(FloodGuard::kFrame);  // it is over
  if (stream->has_ended) return Reset(*stream, Http2Error::kStreamClosed);
  if (!ends) return Reset(*stream, Http2Error::kProtocol);
  stream->has_ended = true;
  OnEnd(*stream);
}

// --- data and windows
// ----------------------------------------------------------------------------------------

void GrpcConnection::OnDataFrame(const FrameHeader& frame, std::string_view payload) {
  if (frame.stream == 0 || frame.stream > last_id_) return Fail(Http2Error::kProtocol);
  if (!StripPadding(frame, payload)) return;
  Receive(frame.length);
  const bool ends = frame.has(frame_flag::kEndStream);
  if (payload.empty() && !ends) Charge(FloodGuard::kFrame);
  Stream* stream = Find(frame.stream);
  if (stream == nullptr) return;  // it is over
  if (stream->has_ended) return Reset(*stream, Http2Error::kStreamClosed);
  stream->has_ended = ends;
  if (!ends) stream->Receive(frame.length);
  OnData(*stream, payload);
  if (ends) OnEnd(*stream);
}

// What comes is dealt with at once, so it can overrun no window; the client gets it back in large
// steps.
void GrpcConnection::Receive(std::uint32_t bytes) {
  received_ += bytes;
  if (received_ <= limits_.window / 2) return;
  AppendNumberFrame(FrameType::kWindowUpdate, 0, received_, *out_);
  received_ = 0;
}

void GrpcConnection::OnWindowUpdate(const FrameHeader& frame, std::string_view payload) {
  if (frame.length != 4) return Fail(Http2Error::kFrameSize);
  Charge(FloodGuard::kFrame);
  const std::uint32_t more = BigEndian32(payload.data()) & kWidestWindow;
  if (more == 0 || frame.stream > last_id_) return Fail(Http2Error::kProtocol);
  if (frame.stream == 0) {
    window_ += more;
    if (window_ > kWidestWindow) return Fail(Http2Error::kFlowControl);
    return Flush();
  }
  Stream* stream = Find(frame.stream);
  if (stream == nullptr) return;
  if (!stream->MoveWindow(more)) return Reset(*stream, Http2Error::kFlowControl);
  stream->Flush();
}

void GrpcConnection::MoveWindows(std::int64_t by) {
  for (const auto& stream : streams_) {
    if (!stream->MoveWindow(by)) return Fail(Http2Error::kFlowControl);
  }
  if (by > 0) Flush();
}

void GrpcConnection::Flush() {
  for (const auto& stream : streams_) {
    if (window_ <= 0) return;
    stream->Flush();
  }
}

// --- the connection
// ----------------------------------------------------------------------------------------

void GrpcConnection::OnReset(const FrameHeader& frame) {
  if (frame.length != 4) return Fail(Http2Error::kFrameSize);
  if (frame.stream == 0 || frame.stream > last_id_) return Fail(Http2Error::kProtocol);
  Stream* stream = Find(frame.stream);
  if (stream == nullptr) return Charge(FloodGuard::kFrame);  // it is over
  Charge(FloodGuard::kReset);
  Recycle(*stream);
}

void GrpcConnection::OnSettings(const FrameHeader& frame, std::string_view payload) {
  constexpr std::size_t kEntry = 6;
  if (frame.stream != 0) return Fail(Http2Error::kProtocol);
  Charge(FloodGuard::kFrame);
  const bool is_ack = frame.has(frame_flag::kAck);
  if (is_ack ? frame.length != 0 : frame.length % kEntry != 0) {
    return Fail(Http2Error::kFrameSize);
  }
  if (is_ack && !is_greeted_) return Fail(Http2Error::kProtocol);
  if (is_ack) return;
  is_greeted_ = true;
  const std::int64_t window_before = stream_window_;
  for (; !payload.empty(); payload.remove_prefix(kEntry)) {
    const std::uint32_t number = BigEndian32(payload.data()) >> 16;
    const std::uint32_t value = BigEndian32(payload.data() + 2);
    if (const Http2Error wrong = Apply(static_cast<Http2Setting>(number), value);
        wrong != Http2Error::kNone) {
      return Fail(wrong);
    }
  }
  AppendFrame(FrameType::kSettings, frame_flag::kAck, 0, {}, *out_);
  // Once, whatever was said on the way to it.
  if (stream_window_ != window_before) MoveWindows(stream_window_ - window_before);
}

Http2Error GrpcConnection::Apply(Http2Setting setting, std::uint32_t value) {
  constexpr std::uint32_t kLargestFrame = (1U << 24) - 1;
  switch (setting) {
    case Http2Setting::kHeaderTableSize:
      fields_.SetTableSize(value);
      break;
    case Http2Setting::kEnablePush:
      if (value > 1) return Http2Error::kProtocol;
      break;
    case Http2Setting::kInitialWindowSize:
      if (value > kWidestWindow) return Http2Error::kFlowControl;
      stream_window_ = value;
      break;
    case Http2Setting::kMaxFrameSize:
      if (value < kLongestPayload || value > kLargestFrame) return Http2Error::kProtocol;
      break;
    default:
      break;  // of no use to us, or unknown
  }
  return Http2Error::kNone;
}

void GrpcConnection::OnPing(const FrameHeader& frame, std::string_view payload) {
  if (frame.stream != 0) return Fail(Http2Error::kProtocol);
  if (frame.length != 8) return Fail(Http2Error::kFrameSize);
  Charge(FloodGuard::kFrame);
  if (frame.has(frame_flag::kAck) || is_ended_) return;
  AppendFrame(FrameType::kPing, frame_flag::kAck, 0, payload, *out_);
}

}  // namespace weir::wire
