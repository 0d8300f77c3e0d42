#include "wire/grpc_connection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/grpc_stream.h"

namespace weir::wire {
namespace {

// Calls whose state is kept for others.
constexpr std::size_t kSpare = 128;

void PutSetting(Http2Setting setting, std::uint32_t value, std::string& out) {
  std::array<char, 6> bytes = {0, static_cast<char>(setting)};
  PutBigEndian32(value, bytes.data() + 2);
  out.append(bytes.data(), bytes.size());
}

// Lends somebody's string to write to. Whatever happens, nobody writes to it afterwards.
class Lent {
 public:
  Lent(std::string*& place, std::string& out) : place_(place), before_(place) { place_ = &out; }
  ~Lent() { place_ = before_; }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  std::string*& place_;
  std::string* before_;
};

}  // namespace

GrpcConnection::GrpcConnection(GrpcService& service, const GrpcLimits& limits)
    : service_(service), limits_(limits) {
  std::string settings;
  PutSetting(Http2Setting::kMaxConcurrentStreams, limits.streams, settings);
  PutSetting(Http2Setting::kInitialWindowSize, limits.stream_window, settings);
  PutSetting(Http2Setting::kMaxHeaderListSize, limits.fields, settings);
  // Answers go out in the order in which they are made: nobody's tree of priorities is kept.
  PutSetting(Http2Setting::kNoPriorities, 1, settings);
  AppendFrame(FrameType::kSettings, frame_flag::kNone, 0, settings, unsaid_);
  if (limits.window > kFirstWindow) {
    AppendNumberFrame(FrameType::kWindowUpdate, 0,
                      limits.window - static_cast<std::uint32_t>(kFirstWindow), unsaid_);
  }
}

GrpcConnection::~GrpcConnection() = default;

GrpcConnection::Progress GrpcConnection::Serve(std::string_view bytes, Instant now,
                                               std::string& out) {
  now_ = now;
  answered_ = 0;
  Progress progress;
  const std::size_t greeting = std::min(bytes.size(), preface_left_);
  if (greeting > 0) {
    const std::string_view expected = kHttp2Preface.substr(kHttp2Preface.size() - preface_left_);
    if (bytes.substr(0, greeting) != expected.substr(0, greeting)) {
      return {.consumed = bytes.size(), .close = true};  // it does not speak HTTP/2
    }
    preface_left_ -= greeting;
    progress.consumed = greeting;
    progress.in_request = true;
    if (preface_left_ > 0) return progress;
  }
  Write(out);
  ServeFrames(bytes, out, progress);
  progress.close = is_over();
  if (progress.close) progress.consumed = bytes.size();
  progress.in_request =
      answered_ == 0 && (!is_greeted_ || awaited_ > 0 || kept_ > 0 || continued_ != 0);
  return progress;
}

void GrpcConnection::ServeFrames(std::string_view bytes, std::string& out, Progress& progress) {
  const Lent lent(out_, out);
  while (!is_over() && bytes.size() - progress.consumed >= kFrameHeaderSize) {
    progress.more = out.size() >= kEnough;
    if (progress.more) return;
    const std::string_view rest = bytes.substr(progress.consumed);
    const FrameHeader frame = ReadFrameHeader(rest.data());
    if (frame.length > kLongestPayload) return Fail(Http2Error::kFrameSize);
    const std::size_t size = kFrameHeaderSize + frame.length;
    if (rest.size() < size) {
      progress.need = size;
      return;
    }
    OnFrame(frame, rest.substr(kFrameHeaderSize, frame.length));
    RecycleDone();
    progress.consumed += size;
  }
}

void GrpcConnection::Write(std::string& out) {
  out += unsaid_;
  if (unsaid_.capacity() > kGrpcRoomKept) unsaid_ = std::string();
  unsaid_.clear();
  RecycleDone();
}

bool GrpcConnection::is_over() const {
  return unsaid_.empty() &&
         (is_ended_ || ((has_said_goodbye_ || client_leaves_) && streams_.empty()));
}

void GrpcConnection::GoAway() {
  if (has_said_goodbye_ || is_ended_) return;
  has_said_goodbye_ = true;
  AppendGoAway(Http2Error::kNone);
}

void GrpcConnection::AppendGoAway(Http2Error error) {
  std::array<char, 8> payload;
  PutBigEndian32(last_taken_, payload.data());
  PutBigEndian32(static_cast<std::uint32_t>(error), payload.data() + 4);
  AppendFrame(FrameType::kGoAway, frame_flag::kNone, 0, {payload.data(), payload.size()}, *out_);
}

void GrpcConnection::Fail(Http2Error error) {
  if (is_ended_) return;
  is_ended_ = true;
  AppendGoAway(error);
}

void GrpcConnection::Charge(Nanos cost) {
  if (!flood_.Charge(cost, now_)) Fail(Http2Error::kEnhanceYourCalm);
}

// Neither what the client gives no window for, nor what a single frame of it makes us say.
void GrpcConnection::BoundAnswers() {
  if (unsent_ > limits_.unsent || out_->size() > limits_.unsent + kEnough) {
    Fail(Http2Error::kEnhanceYourCalm);
  }
}

// --- calls
// ----------------------------------------------------------------------------------------

std::size_t GrpcConnection::PlaceOf(std::uint32_t id) const {
  // Most calls are all there when the next one begins.
  if (!streams_.empty() && streams_.back()->id == id) return streams_.size() - 1;
  const auto place = std::lower_bound(
      streams_.begin(), streams_.end(), id,
      [](const auto& stream, std::uint32_t wanted) { return stream->id < wanted; });
  return static_cast<std::size_t>(place - streams_.begin());
}

GrpcConnection::Stream* GrpcConnection::Find(std::uint32_t id) {
  const std::size_t place = PlaceOf(id);
  return place < streams_.size() && streams_[place]->id == id ? streams_[place].get() : nullptr;
}

void GrpcConnection::Begin(std::uint32_t id, bool ends, const GrpcHead& head) {
  if (spare_.empty()) spare_.push_back(std::make_unique<Stream>(*this));
  streams_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  Stream& stream = *streams_.back();
  stream.Open(id, head, stream_window_);
  ++awaited_;
  stream.has_ended = ends;
  OnHead(stream);
  if (ends) OnEnd(stream);
}

void GrpcConnection::Recycle(Stream& stream) {
  if (stream.head.method.shape == GrpcShape::kStreams || stream.is_late()) service_.OnGone(stream);
  AwaitNoMore(stream);
  const std::size_t place = PlaceOf(stream.id);
  stream.Clear();
  if (spare_.size() < kSpare) spare_.push_back(std::move(streams_[place]));
  streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(place));
}

void GrpcConnection::RecycleDone() {
  for (Stream* stream : done_) Recycle(*stream);
  done_.clear();
}

void GrpcConnection::AwaitNoMore(Stream& stream) {
  if (stream.is_awaited) --awaited_;
  stream.is_awaited = false;
}

void GrpcConnection::OnHead(Stream& stream) {
  const GrpcHead& head = stream.head;
  if (head.bytes > limits_.fields) return stream.FinishHttp("431");
  if (!head.is_post) return stream.FinishHttp("405");
  if (!head.is_grpc) return stream.FinishHttp("415");
  if (head.method.shape == GrpcShape::kUnknown) {
    return stream.Finish({GrpcCode::kUnimplemented, "there is no such method here"});
  }
  if (head.method.shape == GrpcShape::kStreams) AwaitNoMore(stream);
}

void GrpcConnection::OnData(Stream& stream, std::string_view bytes) {
  while (!bytes.empty() && !stream.is_finished() && !is_ended_) {
    if (stream.has_question) {
      return Refuse(stream, {GrpcCode::kInternal, "a unary call has one message, got another"});
    }
    const GrpcRead read = stream.reader.Next(bytes, limits_.message);
    bytes.remove_prefix(read.consumed);
    switch (read.status) {
      case GrpcReadStatus::kNeedMore:
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
    stream.CountKept();
    if (kept_ > limits_.waiting + kGrpcPrefix && !stream.has_ended && !stream.is_finished()) {
      Refuse(stream, {GrpcCode::kResourceExhausted, "too many long messages at once"});
    }
  }
}

void GrpcConnection::OnMessage(Stream& stream, std::string_view message) {
  if (stream.head.method.shape == GrpcShape::kStreams) {
    ++answered_;
    service_.OnMessage(stream, message);
    stream.reader.Clear();
  } else {
    stream.has_question = true;
    // The bytes in which it lies are about to go, unless the call is complete.
    stream.question = stream.has_ended ? message : stream.reader.Keep(message);
  }
}

void GrpcConnection::OnEnd(Stream& stream) {
  AwaitNoMore(stream);
  if (stream.is_finished()) return;
  ++answered_;
  if (stream.head.method.shape == GrpcShape::kStreams) return service_.OnEnd(stream);
  if (!stream.has_question) {
    return Refuse(stream, {GrpcCode::kInternal, "a unary call has one message, got none"});
  }
  stream.Answer();
}

void GrpcConnection::Refuse(Stream& stream, const GrpcStatus& status) {
  stream.reader.Clear();
  stream.CountKept();
  AwaitNoMore(stream);
  stream.Finish(status);
}

void GrpcConnection::Reset(Stream& stream, Http2Error error) {
  AppendNumberFrame(FrameType::kReset, stream.id, static_cast<std::uint32_t>(error), *out_);
  Charge(FloodGuard::kReset);
  Recycle(stream);
}

}  // namespace weir::wire
