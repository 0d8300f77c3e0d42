// The chunks of a request's body (RFC 9112, 7.1), put together.
//
//   4\r\nWeir\r\n0\r\n\r\n
//
// Read as strictly as heads are. Extensions of chunks and fields behind the body are skipped; all
// of them together are bounded, since they cost their sender as little as they are worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::wire {

struct ChunkLimits {
  std::size_t body = 1'048'576;    // bytes; more: 413
  std::size_t extensions = 4'096;  // bytes, of all chunks together; more: 400
  std::size_t trailers = 8'192;    // bytes; more: 431
};

enum class ChunkStatus : std::uint8_t { kNeedMore, kDone, kBad };

struct ChunkRead {
  ChunkStatus status = ChunkStatus::kNeedMore;
  std::size_t consumed = 0;  // to be dropped from the front of the buffer; kNeedMore: all of it
  std::uint16_t code = 0;    // kBad: 400, 413 or 431; answer with it and close
  std::string_view reason = {};

  bool operator==(const ChunkRead&) const = default;
};

// Reads one body. It takes what it is given and never looks at a byte twice.
class ChunkReader {
 public:
  explicit ChunkReader(const ChunkLimits& limits = {}) : limits_(limits) {}

  // `bytes`: what came since the last call. Data is appended to `body`, which holds nothing else.
  // Not to be called again after kDone or kBad.
  ChunkRead Read(std::string_view bytes, std::string& body);

 private:
  // What comes next.
  enum class State : std::uint8_t {
    kFirstDigit,
    kDigits,
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailer,
    kTrailerLf,
    kLastLf,
    kDone,
    kBad,
  };

  void ReadByte(char c, std::size_t body_size);
  void ReadDigit(char c);
  void ReadSizeLf(char c, std::size_t body_size);
  void ReadExtension(char c);
  void ReadTrailer(char c);
  void Expect(char expected, char c, State next);
  void Bad(std::uint16_t code, std::string_view reason);

  ChunkLimits limits_;
  State state_ = State::kFirstDigit;
  std::uint64_t left_ = 0;  // bytes of the chunk: its size so far, then what is to come
  std::size_t extensions_ = 0;
  std::size_t trailers_ = 0;
  std::uint16_t code_ = 0;
  std::string_view reason_;
};

}  // namespace weir::wire
