#include "wire/http_request.h"

#include <algorithm>

#include "wire/http_chars.h"
#include "wire/http_head.h"

namespace weir::wire {
namespace {

constexpr std::size_t kRestOfRequestLine = 11;  // than method and target: two blanks, HTTP/1.1, CR

}  // namespace

std::optional<std::string_view> HttpRequest::FindField(std::string_view name) const {
  for (const rule::HeaderField& field : fields) {
    if (rule::SameIgnoringCase(field.name, name)) return field.value;
  }
  return std::nullopt;
}

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

HttpRead HttpReader::Read(std::string_view bytes, HttpRequest& request) {
  // The short way: where a request ends, so do the bytes, most of the time. Then this one is among
  // them as a whole, and its end is found by reading it. Whatever is wrong is found out below.
  if (searched_ == 0 && bytes.ends_with("\r\n\r\n") && IsTokenChar(bytes.front())) {
    const HttpRead read = ParseHttpHead(bytes, limits_, request);
    const std::size_t line = request.method.size() + request.target.size() + kRestOfRequestLine;
    if (read.status == HttpStatus::kHead && read.consumed <= limits_.head &&
        line <= limits_.request_line) {
      return read;
    }
  }
  const HttpRead end = FindEnd(bytes);
  if (end.status != HttpStatus::kHead) return end;
  searched_ = 0;
  request_line_end_ = 0;
  std::string_view head = bytes.substr(0, end.consumed);
  if (head.starts_with("\r\n")) head.remove_prefix(2);
  const HttpRead read = ParseHttpHead(head, limits_, request);
  return read.status == HttpStatus::kHead ? end : read;
}

}  // namespace weir::wire
