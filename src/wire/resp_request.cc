#include "wire/resp_request.h"

#include <algorithm>
#include <cstring>

#include "wire/resp_words.h"

namespace weir::wire {
namespace {

constexpr std::size_t kSmallestBulk = 6;  // $0 CR LF CR LF

enum class Part : std::uint8_t { kNeedMore, kBad, kRead };

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Both bytes in one comparison.
inline bool IsLineEnd(const char* text) { return std::memcmp(text, "\r\n", 2) == 0; }

// A length as Redis writes it: digits without zeros before them, perhaps a minus, CR LF.
// kRead: `at` is moved behind it.
Part ReadLength(std::string_view bytes, std::size_t& at, std::int64_t& length) {
  constexpr std::size_t kMostDigits = 18;  // so that no number overflows
  std::size_t i = at;
  const bool negative = i < bytes.size() && bytes[i] == '-';
  if (negative) ++i;
  const std::size_t first = i;
  std::int64_t number = 0;
  for (; i < bytes.size() && IsDigit(bytes[i]); ++i) {
    if (i - first == kMostDigits || (i > first && number == 0)) return Part::kBad;
    number = number * 10 + (bytes[i] - '0');
  }
  if (i == bytes.size()) return Part::kNeedMore;
  if (i == first || bytes[i] != '\r' || (negative && number == 0)) return Part::kBad;
  if (i + 1 == bytes.size()) return Part::kNeedMore;
  if (bytes[i + 1] != '\n') return Part::kBad;
  length = negative ? -number : number;
  at = i + 2;
  return Part::kRead;
}

// A type and a length of one or two digits, as most are: how many bytes that is, with CR LF; 0 if
// it is anything else. REQUIRES: 5 bytes at `text`
inline std::size_t ReadShortLength(const char* text, char type, std::size_t& length) {
  if (text[0] != type || !IsDigit(text[1])) return 0;
  length = static_cast<std::size_t>(text[1] - '0');
  if (IsLineEnd(text + 2)) return 4;
  if (length == 0 || !IsDigit(text[2]) || !IsLineEnd(text + 3)) return 0;
  length = length * 10 + static_cast<std::size_t>(text[2] - '0');
  return 5;
}

constexpr RespRequest kNeedMore{};

RespRequest Command(std::size_t consumed) {
  return {.status = RespStatus::kCommand, .consumed = consumed, .problem = {}};
}

}  // namespace

RespRequest RespReader::Bad(std::string_view problem) {
  problem_ = problem;
  return {.status = RespStatus::kBad, .consumed = 0, .problem = problem_};
}

RespRequest RespReader::Unexpected(char found) {
  problem_ = "Protocol error: expected '$', got '";
  problem_ += found;
  problem_ += '\'';
  return {.status = RespStatus::kBad, .consumed = 0, .problem = problem_};
}

// The short way for most commands: all of it is there, nothing is wrong, and no length has more
// than two digits. Returns its bytes; 0 if it is not like that, and has to be read the long way.
std::size_t RespReader::ReadWhole(std::string_view bytes,
                                  std::vector<std::string_view>& arguments) const {
  constexpr std::size_t kLongestLength = 5;  // $99 CR LF; even the smallest bulk has more
  const std::size_t size = std::min(bytes.size(), limits_.command);
  if (size < kLongestLength) return 0;
  const char* at = bytes.data();
  const char* const end = at + size;
  std::size_t count = 0;
  const std::size_t head = ReadShortLength(at, '*', count);
  if (head == 0 || count == 0 || count > limits_.arguments) return 0;
  at += head;
  arguments.resize(count);
  for (std::string_view& argument : arguments) {
    if (static_cast<std::size_t>(end - at) < kLongestLength) return 0;
    std::size_t length = 0;
    const std::size_t before = ReadShortLength(at, '$', length);
    if (before == 0 || length > limits_.bulk) return 0;
    at += before;
    if (static_cast<std::size_t>(end - at) < length + 2 || !IsLineEnd(at + length)) return 0;
    argument = {at, length};
    at += length + 2;
  }
  return static_cast<std::size_t>(at - bytes.data());
}

RespRequest RespReader::ReadArray(std::string_view bytes,
                                  std::vector<std::string_view>& arguments) {
  if (at_ == 0) {
    std::size_t at = 1;
    std::int64_t count = 0;
    const Part part = ReadLength(bytes, at, count);
    if (part == Part::kNeedMore) return kNeedMore;
    if (part == Part::kBad || count > static_cast<std::int64_t>(limits_.arguments)) {
      return Bad("Protocol error: invalid multibulk length");
    }
    if (count <= 0) return Command(at);
    at_ = at;
    left_ = static_cast<std::size_t>(count);
    pieces_.clear();
  }
  for (; left_ > 0; --left_) {
    if (at_ + left_ * kSmallestBulk > limits_.command)
      return Bad("Protocol error: too big request");
    if (at_ == bytes.size()) return kNeedMore;
    if (bytes[at_] != '$') return Unexpected(bytes[at_]);
    std::size_t at = at_ + 1;
    std::int64_t length = 0;
    const Part part = ReadLength(bytes, at, length);
    if (part == Part::kNeedMore) return kNeedMore;
    if (part == Part::kBad || length < 0 || length > static_cast<std::int64_t>(limits_.bulk)) {
      return Bad("Protocol error: invalid bulk length");
    }
    const auto size = static_cast<std::size_t>(length);
    if (at + size + 2 > limits_.command) return Bad("Protocol error: too big request");
    if (bytes.size() - at < size + 2) return kNeedMore;
    if (bytes[at + size] != '\r' || bytes[at + size + 1] != '\n') {
      return Bad("Protocol error: bulk string longer than its length");
    }
    pieces_.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(size)});
    at_ = at + size + 2;
  }
  arguments.resize(pieces_.size());
  std::transform(pieces_.begin(), pieces_.end(), arguments.begin(), [bytes](const Piece& piece) {
    return std::string_view(bytes.data() + piece.at, piece.size);
  });
  return Command(at_);
}

RespRequest RespReader::ReadLine(std::string_view bytes, std::vector<std::string_view>& arguments) {
  const std::string_view window = bytes.substr(0, limits_.line + 1);
  const std::size_t end = window.find('\n', at_);
  if (end == std::string_view::npos) {
    if (bytes.size() > limits_.line) return Bad("Protocol error: too big inline request");
    at_ = window.size();
    return kNeedMore;
  }
  std::string_view line = bytes.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  switch (SplitRespWords(line, limits_.arguments, arguments, unquoted_)) {
    case RespWords::kSplit:
      return Command(end + 1);
    case RespWords::kUnbalanced:
      return Bad("Protocol error: unbalanced quotes in request");
    case RespWords::kTooMany:
      break;
  }
  return Bad("Protocol error: too many arguments in inline request");
}

RespRequest RespReader::Read(std::string_view bytes, std::vector<std::string_view>& arguments) {
  if (at_ == 0) {
    if (const std::size_t whole = ReadWhole(bytes, arguments); whole > 0) return Command(whole);
  }
  std::size_t skipped = 0;
  for (;;) {
    arguments.clear();
    const std::string_view rest = bytes.substr(skipped);
    RespRequest request;
    if (!rest.empty()) {
      request = rest.front() == '*' ? ReadArray(rest, arguments) : ReadLine(rest, arguments);
    }
    if (request.status == RespStatus::kCommand) at_ = 0;
    if (request.status != RespStatus::kCommand || !arguments.empty()) {
      request.consumed += skipped;
      return request;
    }
    skipped += request.consumed;
  }
}

}  // namespace weir::wire
