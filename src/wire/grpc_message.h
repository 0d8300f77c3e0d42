// Messages in the body of a gRPC call: a byte that says whether it is compressed, four that say how
// long it is, and the message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::wire {

constexpr std::size_t kGrpcPrefix = 5;
// Bytes of memory that what is over leaves to what comes next; more is given back.
constexpr std::size_t kGrpcRoomKept = 1024;

enum class GrpcReadStatus : std::uint8_t {
  kNeedMore,  // all bytes were taken; the message goes on
  kMessage,
  kCompressed,
  kTooLong,
};

struct GrpcRead {
  GrpcReadStatus status = GrpcReadStatus::kNeedMore;
  std::size_t consumed = 0;
  std::string_view message = {};  // of the bytes it was read from if it lies in one piece of them
};

// Reads the messages of one call as its bytes come. Copies only a message that comes in pieces.
class GrpcMessageReader {
 public:
  // `bytes`: those that follow the ones consumed. What is returned is good until the next call, or
  // until `bytes` are gone.
  GrpcRead Next(std::string_view bytes, std::size_t longest);

  // Keeps a message that Next() has returned, for when its bytes are gone.
  std::string_view Keep(std::string_view message);

  // Bytes that are kept.
  [[nodiscard]] std::size_t kept() const { return kept_.size(); }
  // For another call. Keeps a little memory for it.
  void Clear();

 private:
  std::string kept_;
  bool is_complete_ = false;  // what is kept is done with
};

// The prefix of a message of `size` bytes that is not compressed. REQUIRES: size < 4 GiB.
std::array<char, kGrpcPrefix> GrpcPrefix(std::size_t size);

}  // namespace weir::wire
