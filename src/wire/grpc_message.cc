#include "wire/grpc_message.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace weir::wire {
namespace {

std::size_t LengthIn(std::string_view prefix) {
  std::size_t length = 0;
  for (std::size_t i = 1; i < kGrpcPrefix; ++i) {
    length = length << 8 | static_cast<unsigned char>(prefix[i]);
  }
  return length;
}

}  // namespace

GrpcRead GrpcMessageReader::Next(std::string_view bytes, std::size_t longest) {
  if (is_complete_) {
    kept_.clear();
    is_complete_ = false;
  }
  std::size_t consumed = 0;
  std::string_view prefix = bytes;
  if (!kept_.empty()) {
    if (kept_.size() < kGrpcPrefix) {
      consumed = std::min(bytes.size(), kGrpcPrefix - kept_.size());
      kept_.append(bytes.substr(0, consumed));
    }
    prefix = kept_;
  }
  if (prefix.size() < kGrpcPrefix) {
    if (kept_.empty()) kept_.assign(bytes);
    return {GrpcReadStatus::kNeedMore, bytes.size()};
  }
  if (prefix[0] != 0) return {GrpcReadStatus::kCompressed, consumed};
  const std::size_t length = LengthIn(prefix);
  if (length > longest) return {GrpcReadStatus::kTooLong, consumed};

  const std::size_t whole = kGrpcPrefix + length;
  if (kept_.empty() && bytes.size() >= whole) {
    return {GrpcReadStatus::kMessage, whole, bytes.substr(kGrpcPrefix, length)};
  }
  const std::size_t more = std::min(bytes.size() - consumed, whole - kept_.size());
  kept_.append(bytes.substr(consumed, more));
  consumed += more;
  if (kept_.size() < whole) return {GrpcReadStatus::kNeedMore, consumed};
  is_complete_ = true;
  return {GrpcReadStatus::kMessage, consumed, std::string_view(kept_).substr(kGrpcPrefix)};
}

std::string_view GrpcMessageReader::Keep(std::string_view message) {
  if (is_complete_) return message;  // it is kept already
  kept_.assign(message);
  is_complete_ = true;
  return kept_;
}

void GrpcMessageReader::Clear() {
  is_complete_ = false;
  if (kept_.capacity() > kGrpcRoomKept) {
    kept_ = std::string();
  } else {
    kept_.clear();
  }
}

std::array<char, kGrpcPrefix> GrpcPrefix(std::size_t size) {
  WEIR_CHECK(size <= std::numeric_limits<std::uint32_t>::max());
  return {0, static_cast<char>(size >> 24), static_cast<char>(size >> 16),
          static_cast<char>(size >> 8), static_cast<char>(size)};
}

}  // namespace weir::wire
