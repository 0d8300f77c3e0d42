#include "wire/http_head.h"

#include <algorithm>
#include <charconv>

#include "wire/http_chars.h"

namespace weir::wire {
namespace {

using rule::HeaderField;
using rule::SameIgnoringCase;

// What is wrong with a part of the head, if anything is. Small, since most of them are fine.
struct Fault {
  const char* reason = nullptr;
  std::uint16_t code = 0;

  explicit operator bool() const { return reason != nullptr; }
};
constexpr Fault kGood{};
constexpr Fault Bad(std::uint16_t code, const char* reason) { return {reason, code}; }

bool IsHost(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return IsHostChar(c); });
}

// --- the request line ---

constexpr auto kNoVersion = "the request line does not end with a version such as HTTP/1.1";

// The version and the end of its line, which are taken from `rest`.
Fault TakeVersion(std::string_view& rest, HttpRequest& request) {
  constexpr std::size_t kSize = 8;  // HTTP/1.1
  constexpr auto kIsDigit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string_view text = rest.substr(0, kSize);
  const bool is_11 = text == "HTTP/1.1";
  if (!is_11 && (!text.starts_with("HTTP/") || text.size() != kSize || !kIsDigit(text[5]) ||
                 text[6] != '.' || !kIsDigit(text[7]))) {
    return Bad(400, kNoVersion);
  }
  rest.remove_prefix(kSize);
  if (!rest.starts_with("\r\n")) return Bad(400, kNoVersion);
  rest.remove_prefix(2);
  if (!is_11 && text != "HTTP/1.0") return Bad(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
  request.version = is_11 ? HttpVersion::k11 : HttpVersion::k10;
  return kGood;
}

// "http://host:80/path?query": sent to proxies, and to be understood by everybody.
Fault TakeAuthority(std::string_view& rest, HttpRequest& request) {
  const std::size_t colon = rest.find("://");
  if (colon == std::string_view::npos) return Bad(400, "the target does not begin with /");
  const std::string_view scheme = rest.substr(0, colon);
  if (!SameIgnoringCase(scheme, "http") && !SameIgnoringCase(scheme, "https")) {
    return Bad(400, "the target is neither a path nor an http or https address");
  }
  rest.remove_prefix(colon + 3);
  request.authority = rest.substr(0, rest.find_first_of("/?"));
  rest.remove_prefix(request.authority.size());
  if (request.authority.empty() || !IsHost(request.authority)) {
    return Bad(400, "the host in the target is none");
  }
  return kGood;
}

Fault ParseTarget(HttpRequest& request) {
  if (request.method == "CONNECT") return Bad(501, "tunnels are not supported");
  request.authority = {};
  request.query = {};
  std::string_view rest = request.target;
  if (rest == "*") {
    if (request.method != "OPTIONS") return Bad(400, "the target * is for OPTIONS alone");
    request.path = rest;
    return kGood;
  }
  if (!rest.starts_with('/')) {
    if (const Fault fault = TakeAuthority(rest, request)) return fault;
  }
  const std::size_t question = std::min(rest.find('?'), rest.size());
  request.path = question == 0 ? "/" : rest.substr(0, question);
  if (question < rest.size()) request.query = rest.substr(question + 1);
  return kGood;
}

// With its end, which is taken from `rest`.
Fault TakeRequestLine(std::string_view& rest, HttpRequest& request) {
  std::size_t method_end = 0;
  while (IsTokenChar(rest[method_end])) ++method_end;
  const std::size_t target = method_end + 1;
  const std::size_t target_end = FindTargetEnd(rest, target);
  if (method_end == 0 || target_end == target || rest[method_end] != ' ' ||
      rest[target_end] != ' ') {
    return Bad(400, "the request line is not: method, blank, target, blank, version");
  }
  request.method = rest.substr(0, method_end);
  request.target = rest.substr(target, target_end - target);
  rest.remove_prefix(target_end + 1);
  const Fault fault = TakeVersion(rest, request);
  return fault ? fault : ParseTarget(request);
}

// --- header fields ---

// One field with its line end, which is taken from `rest`.
Fault TakeField(std::string_view& rest, HeaderField& field) {
  const std::size_t colon = FindNameEnd(rest);
  if (colon == 0 || rest[colon] != ':') {
    if (rest.front() == ' ' || rest.front() == '\t')
      return Bad(400, "a header field goes on in the next line");
    return Bad(400, "a header field does not begin with a name and a colon right behind it");
  }
  const char* const text = rest.data();
  field.name = {text, colon};
  // Most of the time there is this blank, and no other.
  const std::size_t line_end =
      ReadFieldValue(rest, colon + (text[colon + 1] == ' ' ? 2 : 1), field.value);
  if (text[line_end] != '\r' || text[line_end + 1] != '\n') {
    return Bad(400, "a header field has a control character in it");
  }
  rest.remove_prefix(line_end + 2);
  return kGood;
}

// Whether `token` is in a list such as "close, Upgrade".
bool HasToken(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(','));
    if (SameIgnoringCase(rule::Trimmed(entry), token)) return true;
    list.remove_prefix(std::min(list.size(), entry.size() + 1));
  }
  return false;
}

// What the header fields say about the connection and the body, each rule for itself.
class Framing {
 public:
  // The lengths of the names below, as HttpRequest::name_lengths has them: most fields are of
  // another.
  static constexpr std::uint64_t kLengths =
      HttpRequest::LengthBit("host") | HttpRequest::LengthBit("expect") |
      HttpRequest::LengthBit("connection") | HttpRequest::LengthBit("content-length") |
      HttpRequest::LengthBit("transfer-encoding");

  static bool Asks(std::string_view name) {
    return SameIgnoringCase(name, "host") || SameIgnoringCase(name, "expect") ||
           SameIgnoringCase(name, "connection") || SameIgnoringCase(name, "content-length") ||
           SameIgnoringCase(name, "transfer-encoding");
  }

  Fault Add(const HeaderField& field, HttpRequest& request) {
    switch (field.name.size()) {
      case 4:
        return SameIgnoringCase(field.name, "host") ? AddHost(field.value, request) : kGood;
      case 6:
        if (SameIgnoringCase(field.name, "expect") &&
            SameIgnoringCase(field.value, "100-continue")) {
          expects_continue_ = true;
        }
        return kGood;
      case 10:
        if (SameIgnoringCase(field.name, "connection")) {
          close_ = close_ || HasToken(field.value, "close");
          keep_alive_ = keep_alive_ || HasToken(field.value, "keep-alive");
        }
        return kGood;
      case 14:
        return SameIgnoringCase(field.name, "content-length") ? AddLength(field.value, request)
                                                              : kGood;
      case 17:
        if (SameIgnoringCase(field.name, "transfer-encoding")) {
          ++encodings_;
          chunked_ = SameIgnoringCase(field.value, "chunked");
        }
        return kGood;
      default:
        return kGood;
    }
  }

  Fault Finish(const HttpLimits& limits, HttpRequest& request) const {
    const bool is_11 = request.version == HttpVersion::k11;
    if (!has_host_ && is_11) return Bad(400, "the header field Host is missing");
    request.keep_alive = !close_ && (is_11 || keep_alive_);
    request.expect_continue = expects_continue_ && is_11;
    request.body = HttpBody::kNone;
    if (encodings_ > 0) {
      if (has_length_) return Bad(400, "both Content-Length and Transfer-Encoding are given");
      if (!is_11) return Bad(400, "HTTP/1.0 has no Transfer-Encoding");
      if (encodings_ > 1 || !chunked_) {
        return Bad(501, "the only Transfer-Encoding supported is chunked");
      }
      request.body = HttpBody::kChunked;
    } else if (has_length_) {
      if (request.content_length > limits.body) return Bad(413, "the body is too large");
      if (request.content_length > 0) request.body = HttpBody::kLength;
    }
    return kGood;
  }

 private:
  Fault AddHost(std::string_view value, HttpRequest& request) {
    if (has_host_) return Bad(400, "the header field Host is given twice");
    if (!IsHost(value)) return Bad(400, "the header field Host holds no host");
    has_host_ = true;
    if (request.authority.empty()) request.authority = value;
    return kGood;
  }

  Fault AddLength(std::string_view value, HttpRequest& request) {
    // Even if they agree: who sends two does not know what it sends.
    if (has_length_) return Bad(400, "the header field Content-Length is given twice");
    has_length_ = true;
    const auto [end, problem] =
        std::from_chars(value.data(), value.data() + value.size(), request.content_length);
    if (problem != std::errc() || end != value.data() + value.size()) {
      return Bad(400, "the header field Content-Length holds no number of bytes");
    }
    return kGood;
  }

  bool has_host_ = false;
  bool has_length_ = false;
  bool chunked_ = false;
  bool close_ = false;
  bool keep_alive_ = false;
  bool expects_continue_ = false;
  std::size_t encodings_ = 0;
};

}  // namespace

HttpRead ParseHttpHead(std::string_view bytes, const HttpLimits& limits, HttpRequest& request) {
  request.fields.clear();
  request.content_length = 0;
  std::string_view rest = bytes;
  Framing framing;
  Fault fault = TakeRequestLine(rest, request);
  std::uint64_t lengths = 0;
  std::size_t fields_left = limits.fields;
  while (!fault && rest.front() != '\r') {
    if (fields_left-- == 0) return BadHttp(431, "too many header fields");
    HeaderField field;
    fault = TakeField(rest, field);
    if (fault) break;
    request.fields.push_back(field);
    const std::uint64_t length = HttpRequest::LengthBit(field.name);
    lengths |= length;
    if ((length & Framing::kLengths) != 0) fault = framing.Add(field, request);
  }
  request.name_lengths = lengths;
  request.names = 0;
  // Only the empty line that ends the head may begin with CR.
  if (!fault && !rest.starts_with("\r\n")) fault = Bad(400, "a line begins with CR alone");
  if (!fault) fault = framing.Finish(limits, request);
  if (fault) return BadHttp(fault.code, fault.reason);
  return {.status = HttpStatus::kHead, .consumed = bytes.size() - rest.size() + 2};
}

bool ParseHttpRequestLine(std::string_view& rest, HttpRequest& request) {
  return !TakeRequestLine(rest, request);
}

bool IsFramingField(std::string_view name) { return Framing::Asks(name); }

}  // namespace weir::wire
