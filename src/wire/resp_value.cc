#include "wire/resp_value.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/decimal.h"

namespace weir::wire {
namespace {

constexpr std::uint32_t Narrow(std::size_t value) { return static_cast<std::uint32_t>(value); }

// As Redis writes it: no plus, no zeros in front. -1 stands for "none".
std::optional<std::int64_t> ReadNumber(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  return ReadDecimal(text);
}

}  // namespace

RespValueReader::RespValueReader(const RespValueLimits& limits) : limits_(limits) {
  WEIR_CHECK(limits.bytes <= std::numeric_limits<std::uint32_t>::max());
}

void RespValueReader::Reset() {
  at_ = searched_ = 0;
  parts_.clear();
  open_.clear();
}

RespAnswer RespValueReader::Read(std::string_view bytes) {
  if (at_ == 0) parts_.clear();
  do {
    const Step step = ReadPart(bytes);
    if (step == Step::kBad) {
      return {.status = RespValueStatus::kBad, .consumed = 0, .value = {}, .problem = problem_};
    }
    if (step == Step::kNeedMore) return {};
    CloseComplete();
  } while (!open_.empty() || parts_.empty());
  RespAnswer answer{.status = RespValueStatus::kValue,
                    .consumed = at_,
                    .value = RespValue(parts_.data(), bytes.data()),
                    .problem = {}};
  at_ = searched_ = 0;
  return answer;
}

RespValueReader::Step RespValueReader::Bad(std::string_view problem) {
  problem_ = problem;
  return Step::kBad;
}

// Without its end. The type is still in front.
RespValueReader::Step RespValueReader::ReadLine(std::string_view bytes, std::string_view& line) {
  const std::string_view window = bytes.substr(0, limits_.bytes);
  const std::size_t end = window.find('\n', std::max(at_, searched_));
  if (end == std::string_view::npos) {
    if (bytes.size() >= limits_.bytes) return Bad("the answer is too long");
    searched_ = bytes.size();
    return Step::kNeedMore;
  }
  if (end < at_ + 2 || bytes[end - 1] != '\r') return Bad("a line does not end with CR LF");
  line = bytes.substr(at_, end - 1 - at_);
  return Step::kRead;
}

RespValueReader::Step RespValueReader::ReadPart(std::string_view bytes) {
  std::string_view line;
  if (const Step step = ReadLine(bytes, line); step != Step::kRead) return step;
  const std::size_t line_end = at_ + line.size() + 2;
  const char type = line.front();
  line.remove_prefix(1);
  RespValue::Part part{.at = Narrow(at_ + 1), .size = Narrow(line.size())};
  Step step = Step::kRead;
  switch (type) {
    case '+':
    case ',':  // a double
    case '(':  // a big number
    case '-':
      part.kind = type == '-'   ? RespKind::kError
                  : type == '+' ? RespKind::kSimple
                                : RespKind::kBulk;
      step = Add(part);
      break;
    case ':': {
      const auto number = ReadNumber(line);
      if (!number) return Bad("an integer is none");
      step = Add({.kind = RespKind::kInteger, .integer = *number});
      break;
    }
    case '#':
      if (line != "t" && line != "f") return Bad("a truth is neither t nor f");
      step = Add({.kind = RespKind::kBool, .integer = line == "t" ? 1 : 0});
      break;
    case '_':
      if (!line.empty()) return Bad("a null has a value");
      step = Add({});
      break;
    case '$':
    case '=':
    case '!':
      return ReadBulk(bytes, type, line, line_end);
    case '*':
    case '~':
    case '%':
    case '|':
    case '>':
      step = OpenList(type, line);
      break;
    default:
      return Bad("it begins with a type that does not exist");
  }
  if (step == Step::kRead) at_ = line_end;
  return step;
}

RespValueReader::Step RespValueReader::ReadBulk(std::string_view bytes, char type,
                                                std::string_view line, std::size_t line_end) {
  const auto length = ReadNumber(line);
  if (!length || *length < -1 || (*length == -1 && type != '$')) return Bad("a length is none");
  if (*length == -1) {
    if (const Step step = Add({}); step != Step::kRead) return step;
    at_ = line_end;
    return Step::kRead;
  }
  const auto size = static_cast<std::size_t>(*length);
  if (size > limits_.bytes || line_end + size + 2 > limits_.bytes) {
    return Bad("the answer is too long");
  }
  if (bytes.size() < line_end + size + 2) {
    searched_ = line_end - 1;  // this line's end is known
    return Step::kNeedMore;
  }
  if (bytes[line_end + size] != '\r' || bytes[line_end + size + 1] != '\n') {
    return Bad("a bulk string is longer than its length");
  }
  RespValue::Part part{.kind = type == '!' ? RespKind::kError : RespKind::kBulk,
                       .at = Narrow(line_end),
                       .size = Narrow(size)};
  constexpr std::uint32_t kFormat = 4;  // "txt:"
  if (type == '=') {
    if (size < kFormat) return Bad("a verbatim text has no format");
    part.at += kFormat;
    part.size -= kFormat;
  }
  if (const Step step = Add(part); step != Step::kRead) return step;
  at_ = line_end + size + 2;
  return Step::kRead;
}

RespValueReader::Step RespValueReader::OpenList(char type, std::string_view line) {
  const auto count = ReadNumber(line);
  if (!count || *count < -1 || (*count == -1 && type != '*')) return Bad("a length is none");
  if (*count == -1) return Add({});
  const bool in_pairs = type == '%' || type == '|';
  const auto size = static_cast<std::size_t>(*count);
  if (size > limits_.parts / 2) return Bad("the answer has too many parts");
  const std::size_t parts = in_pairs ? 2 * size : size;
  if (open_.size() >= limits_.depth) return Bad("the answer is nested too deeply");
  const RespKind kind = type == '%'   ? RespKind::kMap
                        : type == '>' ? RespKind::kPush
                                      : RespKind::kArray;
  if (kind == RespKind::kPush && !open_.empty()) return Bad("a push is in an answer");
  const bool is_attribute = type == '|';
  // An attribute is no part of the list it stands in: it only comes before one.
  if (is_attribute && !open_.empty()) ++open_.back().left;
  if (const Step step = Add({.kind = kind, .size = Narrow(parts)}); step != Step::kRead) {
    return step;
  }
  open_.push_back({.part = parts_.size() - 1, .left = parts, .is_attribute = is_attribute});
  return Step::kRead;
}

RespValueReader::Step RespValueReader::Add(const RespValue::Part& part) {
  if (parts_.size() >= limits_.parts) return Bad("the answer has too many parts");
  if (!open_.empty()) --open_.back().left;
  parts_.push_back(part);
  return Step::kRead;
}

void RespValueReader::CloseComplete() {
  while (!open_.empty() && open_.back().left == 0) {
    const Open list = open_.back();
    open_.pop_back();
    if (list.is_attribute) {
      parts_.resize(list.part);
    } else {
      parts_[list.part].whole = Narrow(parts_.size() - list.part);
    }
  }
}

}  // namespace weir::wire
