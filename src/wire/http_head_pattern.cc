#include "wire/http_head_pattern.h"

#include <algorithm>
#include <bit>

#include "base/byte_block.h"
#include "base/byte_words.h"
#include "wire/http_head.h"

namespace weir::wire {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kTwoBlocks = 2 * ByteBlock::kSize;

// Whether `size` bytes are the same; the last block may overlap the one before it.
inline bool SameBytes(const char* a, const char* b, std::size_t size) {
  if (size >= ByteBlock::kSize) {
    const std::size_t last = size - ByteBlock::kSize;
    for (std::size_t at = 0; at < last; at += ByteBlock::kSize) {
      if (ByteBlock(a + at).Same(ByteBlock(b + at)) != kAllMarks) return false;
    }
    return ByteBlock(a + last).Same(ByteBlock(b + last)) == kAllMarks;
  }
  if (size < kWordBytes) return LoadUpToWord({a, size}) == LoadUpToWord({b, size});
  const std::size_t last = size - kWordBytes;
  return ((LoadWord(a) ^ LoadWord(b)) | (LoadWord(a + last) ^ LoadWord(b + last))) == 0;
}

// Whether the bytes that `marks` has a bit for are the same. REQUIRES: two blocks to read of each
inline bool SameMarked(const char* a, const char* b, std::uint32_t marks) {
  const ByteMarks first = ByteBlock(a).Same(ByteBlock(b));
  const ByteMarks second = ByteBlock(a + ByteBlock::kSize).Same(ByteBlock(b + ByteBlock::kSize));
  return (~(second << ByteBlock::kSize | first) & marks) == 0;
}

}  // namespace

std::size_t HttpHeadPattern::ReadRequestLine(std::string_view bytes, HttpRequest& request) const {
  const RequestLine& line = request_line_;
  if (bytes.size() > line.size && bytes[line.size] == '\r' &&
      SameBytes(bytes.data(), text_.data(), line.size)) {
    const char* const target = bytes.data() + line.method + 1;
    const std::size_t query = std::size_t{line.path} + (line.path < line.target ? 1 : 0);
    request.method = {bytes.data(), line.method};
    request.target = {target, line.target};
    request.path = {target, line.path};
    request.query = {target + query, line.target - query};
    request.version = version_;
    return line.size;
  }
  // Some gateways put the client's path there: that one alone is read the long way.
  if (!bytes.ends_with(kHeadEnd)) return 0;
  std::string_view rest = bytes;
  if (!ParseHttpRequestLine(rest, request) || request.version != version_) return 0;
  if (!request.target.starts_with('/')) return 0;  // it may name a host
  return bytes.size() - rest.size() - kLineEnd.size();
}

std::size_t HttpHeadPattern::ReadLine(const Line& line, std::string_view bytes, std::size_t at,
                                      rule::HeaderField& field) const {
  const std::string_view fixed(text_.data() + line.text, line.size);
  if (!bytes.substr(at).starts_with(fixed)) return 0;
  const char* const name = bytes.data() + at + kLineEnd.size();
  field.name = {name, line.name};
  if (!line.is_whole) return ReadFieldValue(bytes, at + line.size, field.value);
  field.value = {name + line.begin, line.value};
  return at + line.size;
}

std::size_t HttpHeadPattern::Read(std::string_view bytes, HttpRequest& request) {
  if (lines_.empty()) return 0;
  std::size_t at = ReadRequestLine(bytes, request);
  if (at == 0) return 0;
  if (request.fields.size() != lines_.size()) request.fields.resize(lines_.size());
  rule::HeaderField* field = request.fields.data();
  for (const Line& line : lines_) {
    // Most lines are of few bytes, with more behind them, and one blank before the value.
    const char* const from = bytes.data() + at;
    const char* const value = from + line.size;
    if (line.size <= kTwoBlocks && bytes.size() - at >= 2 * kTwoBlocks) {
      if (!SameMarked(from, text_.data() + line.text, line.marks)) return 0;
      field->name = {from + kLineEnd.size(), line.name};
      if (line.is_whole) {
        field->value = {field->name.data() + line.begin, line.value};
        at += line.size;
        ++field;
        continue;
      }
      ByteMarks controls = ByteBlock(value).Controls();
      std::size_t before = 0;  // those that were looked at
      while (controls == 0 && bytes.size() - at - line.size - before >= kTwoBlocks) {
        before += ByteBlock::kSize;
        controls = ByteBlock(value + before).Controls();
      }
      const std::size_t size = before + FirstMark(controls);
      if (controls != 0 && value[0] > ' ' && value[size - 1] > ' ' && value[size] == '\r') {
        field->value = {value, size};
        at += line.size + size;
        ++field;
        continue;
      }
    }
    at = ReadLine(line, bytes, at, *field++);
    if (at == 0) return 0;
  }
  // Otherwise there are more fields, or the last has something wrong in it.
  if (!bytes.substr(at).starts_with(kHeadEnd)) return 0;
  request.authority = host_ < lines_.size() ? request.fields[host_].value : std::string_view();
  request.body = body_;
  request.content_length = content_length_;
  request.keep_alive = keep_alive_;
  request.expect_continue = expect_continue_;
  request.name_lengths = name_lengths_;
  request.names = names_;
  misses_ = 1;
  return at + kHeadEnd.size();
}

void HttpHeadPattern::Missed(std::string_view head, const HttpRequest& request) {
  // From the second on, which shows that there are several; and the longer it is in vain, the
  // seldomer.
  constexpr unsigned kAtLeastEach = 64;
  ++misses_;
  const bool is_tried = misses_ > 1 && (std::has_single_bit(misses_) || misses_ % kAtLeastEach == 0);
  if (is_tried) Learn(head, request);
}

void HttpHeadPattern::Learn(std::string_view head, const HttpRequest& request) {
  lines_.clear();
  text_.clear();
  if (request.fields.empty() || request.fields.size() > kMostFields) return;
  if (!request.target.starts_with('/')) return;
  const char* const first = request.fields.front().name.data();
  const auto line_size = static_cast<std::size_t>(first - head.data()) - kLineEnd.size();
  // A path that is long is another one each time, most likely.
  if (line_size > kMostText / 4) return;
  text_.assign(head.data(), line_size);
  request_line_ = {static_cast<std::uint16_t>(line_size),
                   static_cast<std::uint16_t>(request.method.size()),
                   static_cast<std::uint16_t>(request.target.size()),
                   static_cast<std::uint16_t>(request.path.size())};
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
    const std::size_t room = std::max(size, kTwoBlocks);
    if (text_.size() + room > kMostText) {
      lines_.clear();
      return;
    }
    const std::size_t text = text_.size();
    text_.append(from, size).resize(text + room);
    lines_.push_back(
        {.text = static_cast<std::uint32_t>(text),
         .marks = ~std::uint32_t{0} >> (kTwoBlocks - std::min(size, kTwoBlocks)),
         .size = static_cast<std::uint16_t>(size),
         .name = static_cast<std::uint16_t>(field.name.size()),
         .begin = static_cast<std::uint16_t>(field.value.data() - field.name.data()),
         .value = static_cast<std::uint16_t>(field.value.size()),
         .is_whole = is_whole});
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
