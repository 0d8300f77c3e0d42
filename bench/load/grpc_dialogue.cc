// The client's side of gRPC, as far as a benchmark needs it: unary calls of one method.
//
// Frames are put together by hand, because a library that keeps the state of every stream takes
// longer to ask than a good server to answer. The header fields are in the compression table after
// the first request, as with every gRPC client.
#include <algorithm>
#include <array>
#include <cstdint>

#include "bench/load/dialogue.h"

namespace weir::bench {
namespace {

enum Type : std::uint8_t {
  kData = 0,
  kHeaders = 1,
  kReset = 3,
  kSettings = 4,
  kPing = 6,
  kWindowUpdate = 8,
};
constexpr std::uint8_t kEndStream = 1;
constexpr std::uint8_t kAck = 1;
constexpr std::uint8_t kEndHeaders = 4;
constexpr std::size_t kFrameHeader = 9;
constexpr std::size_t kMessagePrefix = 5;
constexpr std::uint32_t kWide = 1U << 30;  // how far the peer may write ahead

void AppendNumber(std::uint32_t value, int bytes, std::string& out) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> 8 * i & 0xFF);
}

std::uint32_t NumberAt(std::string_view bytes, std::size_t at, int size) {
  std::uint32_t value = 0;
  for (int i = 0; i < size; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

void AppendFrame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                 std::string_view payload, std::string& out) {
  AppendNumber(static_cast<std::uint32_t>(payload.size()), 3, out);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  AppendNumber(stream, 4, out);
  out += payload;
}

void AppendWindowUpdate(std::uint32_t more, std::string& out) {
  std::string payload;
  AppendNumber(more, 4, payload);
  AppendFrame(kWindowUpdate, 0, 0, payload, out);
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
    out += "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    AppendFrame(kSettings, 0, 0, {}, out);
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
      if (rest.size() < kFrameHeader) break;
      const std::size_t size = NumberAt(rest, 0, 3);
      if (rest.size() < kFrameHeader + size) break;
      HearFrame(rest, rest.substr(kFrameHeader, size), heard, out);
      heard.consumed += kFrameHeader + size;
    }
    if (unasked_ > 0) AskWhatFits(out);
    return heard;
  }

 private:
  void HearFrame(std::string_view header, std::string_view payload, Heard& heard,
                 std::string& out) {
    const auto type = static_cast<std::uint8_t>(header[3]);
    const auto flags = static_cast<std::uint8_t>(header[4]);
    switch (type) {
      case kData:
        HearData(payload, heard, out);
        break;
      case kReset:
        if (NumberAt(payload, 0, 4) == 0) break;  // NO_ERROR: the answer was before it
        ++heard.answers;
        ++heard.failed;
        break;
      case kSettings:
        if ((flags & kAck) == 0) AppendFrame(kSettings, kAck, 0, {}, out);
        break;
      case kPing:
        if ((flags & kAck) == 0) AppendFrame(kPing, kAck, 0, payload, out);
        break;
      case kWindowUpdate:
        if (NumberAt(header, 5, 4) == 0) window_ += NumberAt(payload, 0, 4);
        break;
      default:
        break;
    }
    if ((type == kHeaders || type == kData) && (flags & kEndStream) != 0) {
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
      AppendFrame(kHeaders, kEndHeaders, stream_, block_, out);
      AppendNumber(static_cast<std::uint32_t>(size), 3, out);
      out += static_cast<char>(kData);
      out += static_cast<char>(kEndStream);
      AppendNumber(stream_, 4, out);
      out += '\0';  // not compressed
      AppendNumber(static_cast<std::uint32_t>(message.size()), 4, out);
      out += message;
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
