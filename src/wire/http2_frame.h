// Frames of HTTP/2 (RFC 9113): what they are called, how one begins, and the small ones that a
// server says by itself.
//
//   length (3 bytes)  type (1)  flags (1)  stream (4)  payload
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weir::wire {

// The numbers are those on the wire; there may be others.
enum class FrameType : std::uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kReset = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};

namespace frame_flag {
constexpr std::uint8_t kNone = 0;
constexpr std::uint8_t kAck = 0x1;        // SETTINGS, PING
constexpr std::uint8_t kEndStream = 0x1;  // DATA, HEADERS
constexpr std::uint8_t kEndHeaders = 0x4;
constexpr std::uint8_t kPadded = 0x8;
constexpr std::uint8_t kPriority = 0x20;
}  // namespace frame_flag

enum class Http2Error : std::uint32_t {
  kNone = 0,
  kProtocol = 1,
  kFlowControl = 3,
  kStreamClosed = 5,
  kFrameSize = 6,
  kRefusedStream = 7,
  kCompression = 9,
  kEnhanceYourCalm = 11,
};

enum class Http2Setting : std::uint16_t {
  kHeaderTableSize = 1,
  kEnablePush = 2,
  kMaxConcurrentStreams = 3,
  kInitialWindowSize = 4,
  kMaxFrameSize = 5,
  kMaxHeaderListSize = 6,
  kNoPriorities = 9,  // RFC 9218
};

constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kFrameHeaderSize = 9;
// What everybody takes, and we never ask for more.
constexpr std::size_t kLongestPayload = 16'384;
constexpr std::int64_t kFirstWindow = 65'535;
constexpr std::int64_t kWidestWindow = 0x7FFF'FFFF;

inline std::uint32_t BigEndian32(const char* bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return std::endian::native == std::endian::little ? __builtin_bswap32(value) : value;
}
inline void PutBigEndian32(std::uint32_t value, char* bytes) {
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap32(value);
  std::memcpy(bytes, &value, sizeof(value));
}

struct FrameHeader {
  std::uint32_t length = 0;
  FrameType type{};
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;

  [[nodiscard]] bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};

// REQUIRES: kFrameHeaderSize bytes.
inline FrameHeader ReadFrameHeader(const char* bytes) {
  const std::uint32_t first = BigEndian32(bytes);
  return {first >> 8, static_cast<FrameType>(first & 0xFF), static_cast<std::uint8_t>(bytes[4]),
          BigEndian32(bytes + 5) & 0x7FFF'FFFF};
}

inline void PutFrameHeader(const FrameHeader& header, char* bytes) {
  PutBigEndian32(header.length << 8 | static_cast<std::uint32_t>(header.type), bytes);
  bytes[4] = static_cast<char>(header.flags);
  PutBigEndian32(header.stream, bytes + 5);
}

// REQUIRES: payload.size() <= kLongestPayload.
inline void AppendFrame(FrameType type, std::uint8_t flags, std::uint32_t stream,
                        std::string_view payload, std::string& out) {
  std::array<char, kFrameHeaderSize> header;
  PutFrameHeader({static_cast<std::uint32_t>(payload.size()), type, flags, stream}, header.data());
  out.append(header.data(), header.size()).append(payload);
}

// A frame whose payload is one number: WINDOW_UPDATE, RST_STREAM.
inline void AppendNumberFrame(FrameType type, std::uint32_t stream, std::uint32_t number,
                              std::string& out) {
  std::array<char, 4> payload;
  PutBigEndian32(number, payload.data());
  AppendFrame(type, frame_flag::kNone, stream, {payload.data(), payload.size()}, out);
}

}  // namespace weir::wire
