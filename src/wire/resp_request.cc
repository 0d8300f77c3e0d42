#include "wire/resp_request.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/byte_words.h"
#include "wire/resp_words.h"

namespace weir::wire {
namespace {

constexpr std::size_t kSmallestBulk = 6;  // $0 CR LF CR LF

enum class Part : std::uint8_t { kNeedMore, kBad, kRead };

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

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

// Where an argument begins, and how long it says it is.
struct Bulk {
  std::size_t at = 0;
  std::size_t size = std::numeric_limits<std::size_t>::max();  // longer than any: there is none
};

[[gnu::noinline]] Bulk ReadLongBulkStart(std::string_view bytes, std::size_t at) {
  std::int64_t length = 0;
  if (ReadLength(bytes, at, length) != Part::kRead || length < 0) return {};
  return {at, static_cast<std::size_t>(length)};
}

// Reads "$7\r\n" or "$42\r\n" with the line end before it, which ends the count or the argument
// before. That is all there is between two arguments, and it is one word. What it should be is
// taken away and the rest turned until the digits are at the bottom: then what is left is the
// length, and anything wrong makes it too large. REQUIRES: eight bytes at `at`.
[[gnu::always_inline]] inline Bulk ReadBulkStart(std::string_view bytes, std::size_t at) {
  constexpr std::uint64_t kStart = 0x24'0A0D;  // CR LF $
  constexpr int kStartBits = 24;
  constexpr std::uint64_t kOneDigit = kStart | std::uint64_t{0x0A0D'30} << kStartBits;
  constexpr std::uint64_t kTwoDigits = kStart | std::uint64_t{0x0A0D'3030} << kStartBits;
  const std::uint64_t word = LoadWord(bytes.data() + at);
  const std::uint64_t one = std::rotr((word ^ kOneDigit) & 0xFFFF'FFFF'FFFF, kStartBits);
  if (one <= 9) return {at + 6, one};
  const std::uint64_t two = std::rotr((word ^ kTwoDigits) & 0xFF'FFFF'FFFF'FFFF, kStartBits);
  const std::uint64_t tens = two & 0xFF;
  const std::uint64_t ones = two >> 8;
  if (ones <= 9 && tens - 1 < 9) return {at + 7, tens * 10 + ones};
  return (word & 0xFF'FFFF) == kStart ? ReadLongBulkStart(bytes, at + 3) : Bulk{};
}

// Apart, because it is rare and what it brings along is long.
[[gnu::noinline]] void Resize(std::vector<std::string_view>& arguments, std::size_t count) {
  arguments.resize(count);
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

// The short way, of nearly all commands: all of it is there, and nothing is wrong with it. Returns
// its size, or 0 if it is any other: then ReadAny() says what it is.
std::size_t RespReader::ReadWholeArray(std::string_view bytes,
                                       std::vector<std::string_view>& arguments) const {
  constexpr std::size_t kSmallest = 4 + kSmallestBulk;  // *1 CR LF
  if (bytes.size() < kSmallest || bytes[0] != '*') return 0;
  std::size_t count = static_cast<unsigned char>(bytes[1] - '0');
  if (count - 1 >= 9) return 0;
  std::size_t at = 2;
  if (bytes[at] != '\r') {
    const std::size_t digit = static_cast<unsigned char>(bytes[at++] - '0');
    if (digit > 9) return 0;
    count = count * 10 + digit;
  }
  if (count > limits_.arguments) return 0;
  if (arguments.size() != count) Resize(arguments, count);
  static_assert(kSmallest >= kWordBytes);
  const std::size_t last_word = bytes.size() - kWordBytes;
  const std::size_t most = limits_.bulk;
  for (std::string_view& argument : arguments) {
    if (at > last_word) return 0;
    const Bulk bulk = ReadBulkStart(bytes, at);
    if (bulk.size > most) return 0;
    argument = {bytes.data() + bulk.at, bulk.size};  // whether it ends there is seen with the next
    at = bulk.at + bulk.size;
  }
  if (bytes.size() < at + 2 || bytes[at] != '\r' || bytes[at + 1] != '\n') return 0;
  return at + 2 <= limits_.command ? at + 2 : 0;
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

RespRequest RespReader::ReadAny(std::string_view bytes, std::vector<std::string_view>& arguments) {
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
