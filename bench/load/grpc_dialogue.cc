// The client's side of gRPC, as far as a benchmark needs it: unary calls of one method.
//
// Frames are put together by hand, because a library that keeps the state of every stream takes
// longer to ask than a good server to answer. The header fields are in the compression table after
// the first request, as with every gRPC client.
#include <algorithm>
#include <array>
#include <cstdint>

#include "bench/load/dialogue.h"
#include "wire/http2_frame.h"

namespace weir::bench {
namespace {

using wire::AppendFrame;
using wire::AppendNumberFrame;
using wire::BigEndian32;
using wire::FrameHeader;
using wire::FrameType;
using wire::kFrameHeaderSize;
namespace frame_flag = wire::frame_flag;

constexpr std::size_t kMessagePrefix = 5;
constexpr std::uint32_t kWide = 1U << 30;  // how far the peer may write ahead

void AppendWindowUpdate(std::uint32_t more, std::string& out) {
  AppendNumberFrame(FrameType::kWindowUpdate, 0, more, out);
}

struct Field {
  std::string_view name;
  std::string_view value;
};
constexpr std::array<Field, 5> kFields = {{
    {":path", "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"},
    {":authority", "weir.local"},
    {"te", "trailers"},
    {"content-type", "application/grpc"},
    {"grpc-timeout", "20S"},
}};
constexpr char kPost =
    static_cast<char>(0x83);  // :method POST and :scheme http, in the fixed table
constexpr char kPlain = static_cast<char>(0x86);

// Each field with its name and value, to be kept in the table.
std::string FirstBlock() {
  std::string block = {kPost, kPlain};
  for (const Field& field : kFields) {
    block += '\x40';
    block += static_cast<char>(field.name.size());
    block += field.name;
    block += static_cast<char>(field.value.size());
    block += field.value;
  }
  return block;
}

// Their numbers in the table, where the newest is 62.
std::string LaterBlock() {
  std::string block = {kPost, kPlain};
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    block += static_cast<char>(0x80 | (62 + kFields.size() - 1 - i));
  }
  return block;
}

class GrpcDialogue final : public Dialogue {
 public:
  GrpcDialogue(const Questions& questions, std::size_t first)
      : questions_(questions), next_(first), block_(FirstBlock()) {}

  void Greet(std::string& out) override {
    out += wire::kHttp2Preface;
    AppendFrame(FrameType::kSettings, frame_flag::kNone, 0, {}, out);
    AppendWindowUpdate(kWide, out);
  }

  void Ask(std::size_t count, std::string& out) override {
    unasked_ += count;
    AskWhatFits(out);
  }

  Heard Hear(std::string_view bytes, std::string& out) override {
    Heard heard;
    for (;;) {
      const std::string_view rest = bytes.substr(heard.consumed);
      if (rest.size() < kFrameHeaderSize) break;
      const FrameHeader frame = wire::ReadFrameHeader(rest.data());
      if (rest.size() < kFrameHeaderSize + frame.length) break;
      HearFrame(frame, rest.substr(kFrameHeaderSize, frame.length), heard, out);
      heard.consumed += kFrameHeaderSize + frame.length;
    }
    if (unasked_ > 0) AskWhatFits(out);
    return heard;
  }

 private:
  void HearFrame(const FrameHeader& frame, std::string_view payload, Heard& heard,
                 std::string& out) {
    switch (frame.type) {
      case FrameType::kData:
        HearData(payload, heard, out);
        break;
      case FrameType::kReset:
        if (BigEndian32(payload.data()) == 0) break;  // NO_ERROR: the answer was before it
        ++heard.answers;
        ++heard.failed;
        break;
      case FrameType::kSettings:
      case FrameType::kPing:
        if (!frame.has(frame_flag::kAck)) {
          AppendFrame(frame.type, frame_flag::kAck, 0,
                      frame.type == FrameType::kPing ? payload : std::string_view(), out);
        }
        break;
      case FrameType::kWindowUpdate:
        if (frame.stream == 0) window_ += BigEndian32(payload.data());
        break;
      default:
        break;
    }
    const bool may_end = frame.type == FrameType::kHeaders || frame.type == FrameType::kData;
    if (may_end && frame.has(frame_flag::kEndStream)) {
      ++heard.answers;
      if (messages_ == 0) ++heard.failed;  // a status and nothing else is an error
      if (messages_ > 0) --messages_;
    }
  }

  void HearData(std::string_view payload, Heard& heard, std::string& out) {
    if (payload.size() > kMessagePrefix) ++messages_;
    constexpr std::string_view kOverLimit = "\x08\x02";  // overall_code
    if (payload.substr(std::min(payload.size(), kMessagePrefix)).starts_with(kOverLimit)) {
      ++heard.refused;
    }
    received_ += static_cast<std::uint32_t>(payload.size());
    if (received_ < kWide / 2) return;
    AppendWindowUpdate(received_, out);
    received_ = 0;
  }

  void AskWhatFits(std::string& out) {
    while (unasked_ > 0) {
      const std::string_view message = questions_.Bytes(next_, 1);
      const std::size_t size = kMessagePrefix + message.size();
      if (window_ < size) return;
      window_ -= size;
      --unasked_;
      next_ = (next_ + 1) % questions_.count();
      AppendFrame(FrameType::kHeaders, frame_flag::kEndHeaders, stream_, block_, out);
      std::array<char, kFrameHeaderSize + kMessagePrefix> before = {};  // it is not compressed
      wire::PutFrameHeader(
          {static_cast<std::uint32_t>(size), FrameType::kData, frame_flag::kEndStream, stream_},
          before.data());
      wire::PutBigEndian32(static_cast<std::uint32_t>(message.size()),
                           before.data() + kFrameHeaderSize + 1);
      out.append(before.data(), before.size()).append(message);
      if (stream_ == 1) block_ = LaterBlock();
      stream_ += 2;
    }
  }

  const Questions& questions_;
  std::size_t next_;
  std::string block_;
  std::uint32_t stream_ = 1;
  std::size_t unasked_ = 0;      // held back until the peer takes more
  std::size_t window_ = 65'535;  // what the peer takes
  std::uint32_t received_ = 0;   // what the peer was not told yet that it may send again
  std::size_t messages_ = 0;     // of answers that have not ended
};

}  // namespace

std::unique_ptr<Dialogue> MakeGrpcDialogue(const Questions& questions, std::size_t first) {
  return std::make_unique<GrpcDialogue>(questions, first);
}

}  // namespace weir::bench
