#include "wire/http_body.h"

#include <algorithm>
#include <limits>

#include "wire/hex.h"
#include "wire/http_chars.h"

namespace weir::wire {

void ChunkReader::Bad(std::uint16_t code, std::string_view reason) {
  state_ = State::kBad;
  code_ = code;
  reason_ = reason;
}

void ChunkReader::Expect(char expected, char c, State next) {
  if (c != expected) return Bad(400, "a chunk does not end with CR LF where it should");
  state_ = next;
}

void ChunkReader::ReadDigit(char c) {
  if (const auto digit = HexDigit(c)) {
    if (left_ > std::numeric_limits<std::uint64_t>::max() >> 4) {
      return Bad(400, "the size of a chunk is too large for a number");
    }
    left_ = left_ << 4 | *digit;
    state_ = State::kDigits;
  } else if (state_ == State::kFirstDigit) {
    Bad(400, "the size of a chunk does not begin with a hexadecimal digit");
  } else if (c == ';') {
    state_ = State::kExtension;
  } else {
    Expect('\r', c, State::kSizeLf);
  }
}

void ChunkReader::ReadExtension(char c) {
  if (++extensions_ > limits_.extensions) return Bad(400, "the extensions of chunks are too long");
  if (c == '\r') {
    state_ = State::kSizeLf;
  } else if (!IsFieldChar(c)) {
    Bad(400, "the extension of a chunk has a control character in it");
  }
}

void ChunkReader::ReadSizeLf(char c, std::size_t body_size) {
  if (left_ > limits_.body - std::min(limits_.body, body_size)) {
    return Bad(413, "the body is too large");
  }
  Expect('\n', c, left_ > 0 ? State::kData : State::kTrailerStart);
}

void ChunkReader::ReadTrailer(char c) {
  if (++trailers_ > limits_.trailers) return Bad(431, "the fields behind the body are too long");
  const bool starts = state_ == State::kTrailerStart;
  if (c == '\r') {
    state_ = starts ? State::kLastLf : State::kTrailerLf;
  } else if (starts ? !IsTokenChar(c) : !IsFieldChar(c)) {
    Bad(400, "a field behind the body is none");
  } else {
    state_ = State::kTrailer;
  }
}

void ChunkReader::ReadByte(char c, std::size_t body_size) {
  switch (state_) {
    case State::kFirstDigit:
    case State::kDigits:
      return ReadDigit(c);
    case State::kExtension:
      return ReadExtension(c);
    case State::kSizeLf:
      return ReadSizeLf(c, body_size);
    case State::kDataCr:
      return Expect('\r', c, State::kDataLf);
    case State::kDataLf:
      return Expect('\n', c, State::kFirstDigit);
    case State::kTrailerStart:
    case State::kTrailer:
      return ReadTrailer(c);
    case State::kTrailerLf:
      return Expect('\n', c, State::kTrailerStart);
    case State::kLastLf:
      return Expect('\n', c, State::kDone);
    case State::kData:
    case State::kDone:
    case State::kBad:
      return;
  }
}

ChunkRead ChunkReader::Read(std::string_view bytes, std::string& body) {
  std::size_t at = 0;
  while (at < bytes.size() && state_ != State::kDone && state_ != State::kBad) {
    if (state_ != State::kData) {
      ReadByte(bytes[at++], body.size());
      continue;
    }
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size() - at));
    body += bytes.substr(at, size);
    at += size;
    left_ -= size;
    if (left_ == 0) state_ = State::kDataCr;
  }
  if (state_ == State::kBad) {
    return {.status = ChunkStatus::kBad, .consumed = at, .code = code_, .reason = reason_};
  }
  return {.status = state_ == State::kDone ? ChunkStatus::kDone : ChunkStatus::kNeedMore,
          .consumed = at};
}

}  // namespace weir::wire
