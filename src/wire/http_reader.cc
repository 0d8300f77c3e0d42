#include "wire/http_reader.h"

#include <algorithm>

#include "wire/http_chars.h"
#include "wire/http_head.h"

namespace weir::wire {
namespace {

constexpr std::size_t kRestOfRequestLine = 11;  // than method and target: two blanks, HTTP/1.1, CR

}  // namespace

// Refuses what no later byte can make right: a client that ends its lines with LF alone would wait
// forever otherwise, as would one that speaks TLS.
HttpRead HttpReader::FindEnd(std::string_view bytes) {
  // One empty line before a request is skipped: old clients send one behind a body.
  constexpr std::string_view kLineEnd = "\r\n";
  const std::string_view first = bytes.substr(0, kLineEnd.size());
  if (first == kLineEnd.substr(0, first.size()) && first.size() < kLineEnd.size()) return {};
  const std::size_t start = first == kLineEnd ? kLineEnd.size() : 0;
  if (bytes.size() > start && !IsTokenChar(bytes[start])) {
    return BadHttp(400, "the request does not begin with a method");
  }

  const std::string_view window = bytes.substr(0, limits_.head);
  searched_ = std::max(searched_, start);
  for (;;) {
    const std::size_t end = window.find('\n', searched_);
    const std::size_t searched = std::min(end, window.size());
    if (request_line_end_ == 0 && searched - start > limits_.request_line) {
      return BadHttp(414, "the request line is too long");
    }
    if (end == std::string_view::npos) break;
    if (window[end - 1] != '\r') return BadHttp(400, "a line ends with LF alone, not CR LF");
    if (request_line_end_ == 0) request_line_end_ = end + 1;
    searched_ = end + 1;
    if (window[end - 2] == '\n') return {.status = HttpStatus::kHead, .consumed = end + 1};
  }
  searched_ = window.size();
  if (window.size() == limits_.head) return BadHttp(431, "the head of the request is too long");
  return {};
}

HttpRead HttpReader::Parse(std::string_view bytes, HttpRequest& request) {
  const HttpRead read = ParseHttpHead(bytes, limits_, request);
  if (read.status == HttpStatus::kHead) pattern_.Missed(bytes.substr(0, read.consumed), request);
  return read;
}

bool HttpReader::IsWithinLimits(std::size_t head, const HttpRequest& request) const {
  const std::size_t line = request.method.size() + request.target.size() + kRestOfRequestLine;
  return head <= limits_.head && line <= limits_.request_line;
}

HttpRead HttpReader::Read(std::string_view bytes, HttpRequest& request) {
  // The short ways, for a head that was not begun before. Whatever is wrong is found out below.
  if (searched_ == 0) {
    // It is like the one before.
    const std::size_t alike = pattern_.Read(bytes, request);
    if (alike != 0 && IsWithinLimits(alike, request)) {
      return {.status = HttpStatus::kHead, .consumed = alike};
    }
    // Where a request ends, so do the bytes, most of the time. Then this one is among them as a
    // whole, and its end is found by reading it.
    if (bytes.ends_with("\r\n\r\n") && IsTokenChar(bytes.front())) {
      const HttpRead read = Parse(bytes, request);
      if (read.status == HttpStatus::kHead && IsWithinLimits(read.consumed, request)) return read;
    }
  }
  const HttpRead end = FindEnd(bytes);
  if (end.status != HttpStatus::kHead) return end;
  searched_ = 0;
  request_line_end_ = 0;
  std::string_view head = bytes.substr(0, end.consumed);
  if (head.starts_with("\r\n")) head.remove_prefix(2);
  if (pattern_.Read(head, request) == head.size()) return end;
  const HttpRead read = Parse(head, request);
  return read.status == HttpStatus::kHead ? end : read;
}

}  // namespace weir::wire
