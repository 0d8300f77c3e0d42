// Commands as Redis clients send them: an array of bulk strings, or a line of words.
//
//   *2\r\n$4\r\nPING\r\n$2\r\nhi\r\n
//   PING "h\x69"\r\n
//
// What Redis refuses is refused in its words. Read more strictly than there: a length ends with
// CR LF, a bulk string too, and everything is refused as soon as it cannot become right any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace weir::wire {

struct RespLimits {
  std::size_t arguments = 1024;  // of one command
  std::size_t bulk = 65'536;     // bytes of one argument. REQUIRES: below 4 GiB
  std::size_t line = 65'536;     // bytes of a command that is a line of words
  // Bytes of a command that is an array, lengths included. REQUIRES: below 4 GiB.
  std::size_t command = 1'048'576;
};

enum class RespStatus : std::uint8_t {
  kNeedMore,  // what is there may be the beginning of a command
  kCommand,
  kBad,  // say `problem` and close: nobody knows where the next command would begin
};

struct RespRequest {
  RespStatus status = RespStatus::kNeedMore;
  // To be dropped from the front of the buffer before the next call, kNeedMore or not: the command,
  // and empty ones before it, which get no answer.
  std::size_t consumed = 0;
  // kBad: "Protocol error: ...", without the "-ERR " in front. Until the next call.
  std::string_view problem;

  bool operator==(const RespRequest&) const = default;
};

// Reads the commands of one connection. It goes on where it stopped, so that a slow sender costs no
// more than a fast one. Allocates only to grow, for a command of more arguments than any before.
class RespReader {
 public:
  explicit RespReader(const RespLimits& limits = {}) : limits_(limits) {
    WEIR_CHECK(limits.command <= std::numeric_limits<std::uint32_t>::max());
    WEIR_CHECK(limits.bulk <= std::numeric_limits<std::uint32_t>::max());
  }

  // `bytes`: all that is unread. It may lie elsewhere than at the last call, but begins with the
  // same bytes (less those consumed). kCommand: `arguments` are views of `bytes` (words in quotes:
  // of the reader), at least one, until the buffer changes or the next call.
  RespRequest Read(std::string_view bytes, std::vector<std::string_view>& arguments) {
    if (at_ == 0) {
      if (const std::size_t size = ReadWholeArray(bytes, arguments)) {
        return {.status = RespStatus::kCommand, .consumed = size, .problem = {}};
      }
    }
    return ReadAny(bytes, arguments);
  }
  // Whether it is in the middle of a command, of which only the beginning was there.
  [[nodiscard]] bool has_begun() const { return at_ != 0; }

 private:
  struct Piece {
    std::uint32_t at;
    std::uint32_t size;
  };

  std::size_t ReadWholeArray(std::string_view bytes,
                             std::vector<std::string_view>& arguments) const;
  RespRequest ReadAny(std::string_view bytes, std::vector<std::string_view>& arguments);
  RespRequest ReadArray(std::string_view bytes, std::vector<std::string_view>& arguments);
  RespRequest ReadLine(std::string_view bytes, std::vector<std::string_view>& arguments);
  RespRequest Bad(std::string_view problem);
  RespRequest Unexpected(char found);

  RespLimits limits_;
  // How far the command was read: of an array, whole arguments; of a line, searched for its end.
  std::size_t at_ = 0;
  std::size_t left_ = 0;       // arguments of the array still to come
  std::vector<Piece> pieces_;  // those that came: the buffer may move before the others do
  std::string unquoted_;       // words that had quotes
  std::string problem_;
};

}  // namespace weir::wire
