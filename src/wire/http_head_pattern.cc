#include "wire/http_head_pattern.h"

#include <algorithm>
#include <bit>

#include "base/byte_block.h"
#include "base/byte_words.h"
#include "base/same_few.h"
#include "wire/http_head.h"

namespace weir::wire {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kTwoBlocks = 2 * ByteBlock::kSize;

inline bool SameBytes(const char* a, const char* b, std::size_t size) {
  if (size >= kWordBytes) return SameWords(a, b, size);
  return LoadUpToWord({a, size}) == LoadUpToWord({b, size});
}

// Which of 32 bytes differ. REQUIRES: `known` lies at a multiple of 16
inline std::uint32_t Different(const char* bytes, const char* known) {
  const ByteMarks first = ByteBlock(bytes).Equal(ByteBlock::Aligned(known));
  const ByteMarks second =
      ByteBlock(bytes + ByteBlock::kSize).Equal(ByteBlock::Aligned(known + ByteBlock::kSize));
  return ~(second << ByteBlock::kSize | first);
}

// Of the first `size` bytes. REQUIRES: 0 < size <= kTwoBlocks
inline std::uint32_t MarksOf(std::size_t size) { return ~std::uint32_t{0} >> (kTwoBlocks - size); }

}  // namespace

// Some gateways put the client's path into it: this one alone is then read the long way.
std::size_t HttpHeadPattern::ReadOtherRequestLine(std::string_view bytes,
                                                  HttpRequest& request) const {
  if (!bytes.ends_with(kHeadEnd)) return 0;
  std::string_view rest = bytes;
  if (!ParseHttpRequestLine(rest, request) || request.version != version_) return 0;
  if (!request.target.starts_with('/')) return 0;  // it may name a host
  return bytes.size() - rest.size() - kLineEnd.size();
}

inline std::size_t HttpHeadPattern::ReadRequestLine(std::string_view bytes,
                                                    HttpRequest& request) const {
  const RequestLine& line = request_line_;
  const bool is_same =
      line.size <= kTwoBlocks && bytes.size() > kTwoBlocks
          ? (Different(bytes.data(), line.text.data()) & line.marks) == 0
          : bytes.size() > line.size && SameBytes(bytes.data(), line_text_.data(), line.size);
  if (!is_same || bytes[line.size] != '\r') return ReadOtherRequestLine(bytes, request);
  const char* const target = bytes.data() + line.target_begin;
  request.method = {bytes.data(), line.method};
  request.target = {target, line.target};
  request.path = {target, line.path};
  request.query = {target + line.query_begin, line.query};
  request.version = version_;
  return line.size;
}

std::size_t HttpHeadPattern::ReadLine(const Line& line, std::string_view bytes, std::size_t at,
                                      rule::HeaderField& field) const {
  const std::size_t in_text = std::min<std::size_t>(line.size, kTwoBlocks);
  const std::string_view text(line.text.data(), in_text);
  const std::string_view rest(rests_.data() + line.rest, line.size - in_text);
  const std::string_view from = bytes.substr(at);
  if (!from.starts_with(text) || !from.substr(in_text).starts_with(rest)) return 0;
  const char* const name = from.data() + kLineEnd.size();
  field.name = {name, line.name};
  if (!line.is_whole) return ReadFieldValue(bytes, at + line.size, field.value);
  field.value = {name + line.begin, line.value};
  return at + line.size;
}

std::size_t HttpHeadPattern::Read(std::string_view bytes, HttpRequest& request) {
  if (lines_.empty()) return 0;
  const std::size_t line_end = ReadRequestLine(bytes, request);
  if (line_end == 0) return 0;
  if (request.fields.size() != lines_.size()) request.fields.resize(lines_.size());
  rule::HeaderField* field = request.fields.data();
  const char* at = bytes.data() + line_end;
  const char* const end = bytes.data() + bytes.size();
  // Up to where so much can be read that no end has to be looked out for; no line begins at the
  // first byte.
  constexpr std::size_t kAhead = kTwoBlocks + ByteBlock::kSize;
  const char* const last_at = bytes.size() >= kAhead ? end - kAhead : bytes.data();
  for (const Line& line : lines_) {
    // Most lines are short, with more behind them, and have one blank before the value.
    if (at <= last_at) {
      if ((Different(at, line.text.data()) & line.marks) != 0) return 0;
      const char* const value = at + line.size;
      field->name = {at + kLineEnd.size(), line.name};
      if (line.is_usual) {
        ByteMarks controls = ByteBlock(value).Controls();
        const char* value_end = value;
        if (controls == 0 && end - value >= static_cast<std::ptrdiff_t>(kTwoBlocks)) {
          value_end += ByteBlock::kSize;
          controls = ByteBlock(value_end).Controls();
        }
        if (controls != 0) value_end += FirstMark(controls);
        // False for a value that is empty, or goes on.
        if (*value > ' ' && value_end[-1] > ' ' && *value_end == '\r') {
          field->value = {value, static_cast<std::size_t>(value_end - value)};
          at = value_end;
          ++field;
          continue;
        }
      } else if (!line.is_long) {
        field->value = {field->name.data() + line.begin, line.value};
        at = value;
        ++field;
        continue;
      }
    }
    const std::size_t next =
        ReadLine(line, bytes, static_cast<std::size_t>(at - bytes.data()), *field++);
    if (next == 0) return 0;
    at = bytes.data() + next;
  }
  // Otherwise there are more fields, or the last has something wrong in it.
  if (!std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(kHeadEnd)) return 0;
  request.authority = host_ < lines_.size() ? request.fields[host_].value : std::string_view();
  request.body = body_;
  request.content_length = content_length_;
  request.keep_alive = keep_alive_;
  request.expect_continue = expect_continue_;
  request.name_lengths = name_lengths_;
  request.names = names_;
  misses_ = 1;
  return static_cast<std::size_t>(at - bytes.data()) + kHeadEnd.size();
}

void HttpHeadPattern::Missed(std::string_view head, const HttpRequest& request) {
  // From the second on, which shows that there are several; and the longer it is in vain, the
  // seldomer.
  constexpr unsigned kAtLeastEach = 64;
  ++misses_;
  const bool is_tried =
      misses_ > 1 && (std::has_single_bit(misses_) || misses_ % kAtLeastEach == 0);
  if (is_tried) Learn(head, request);
}

void HttpHeadPattern::Learn(std::string_view head, const HttpRequest& request) {
  lines_.clear();
  rests_.clear();
  if (request.fields.empty() || request.fields.size() > kMostFields) return;
  if (!request.target.starts_with('/')) return;
  const char* const first = request.fields.front().name.data();
  const auto line_size = static_cast<std::size_t>(first - head.data()) - kLineEnd.size();
  // A path that is long is another one each time, most likely.
  if (line_size > kMostText / 4) return;
  line_text_.assign(head.data(), line_size);
  std::copy_n(head.data(), std::min(line_size, kTwoBlocks), request_line_.text.begin());
  std::size_t left = kMostText - line_size;
  const std::size_t query_begin = request.path.size() + (request.path == request.target ? 0 : 1);
  request_line_.size = static_cast<std::uint16_t>(line_size);
  request_line_.marks = line_size <= kTwoBlocks ? MarksOf(line_size) : 0;
  request_line_.method = static_cast<std::uint16_t>(request.method.size());
  request_line_.target_begin = static_cast<std::uint16_t>(request.method.size() + 1);
  request_line_.target = static_cast<std::uint16_t>(request.target.size());
  request_line_.path = static_cast<std::uint16_t>(request.path.size());
  request_line_.query_begin = static_cast<std::uint16_t>(query_begin);
  request_line_.query = static_cast<std::uint16_t>(request.target.size() - query_begin);
  host_ = kMostFields;
  const char* const end = head.data() + head.size() - kHeadEnd.size();
  for (std::size_t i = 0; i < request.fields.size(); ++i) {
    const rule::HeaderField& field = request.fields[i];
    const char* const from = field.name.data() - kLineEnd.size();
    const bool is_last = i + 1 == request.fields.size();
    const char* const line_end =
        is_last ? end : request.fields[i + 1].name.data() - kLineEnd.size();
    const std::size_t colon = kLineEnd.size() + field.name.size();
    const bool is_whole = IsFramingField(field.name);
    const std::size_t size = is_whole ? static_cast<std::size_t>(line_end - from)
                                      : colon + (from[colon + 1] == ' ' ? 2 : 1);
    if (size > left) {
      lines_.clear();
      return;
    }
    left -= size;
    const std::size_t in_text = std::min(size, kTwoBlocks);
    Line& line = lines_.emplace_back();
    std::copy_n(from, in_text, line.text.begin());
    line.marks = MarksOf(in_text);
    line.size = static_cast<std::uint16_t>(size);
    line.name = static_cast<std::uint16_t>(field.name.size());
    line.rest = static_cast<std::uint16_t>(rests_.size());
    line.begin = static_cast<std::uint16_t>(field.value.data() - field.name.data());
    line.value = static_cast<std::uint16_t>(field.value.size());
    line.is_whole = is_whole;
    line.is_long = size > kTwoBlocks;
    line.is_usual = !line.is_whole && !line.is_long;
    rests_.append(from + in_text, size - in_text);
    if (field.name.size() == 4 && is_whole) host_ = i;  // the only one of that length
  }
  version_ = request.version;
  body_ = request.body;
  keep_alive_ = request.keep_alive;
  expect_continue_ = request.expect_continue;
  content_length_ = request.content_length;
  name_lengths_ = request.name_lengths;
  ++names_;
}

}  // namespace weir::wire
