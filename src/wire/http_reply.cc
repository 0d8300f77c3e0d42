#include "wire/http_reply.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "base/check.h"
#include "base/decimal.h"
#include "wire/http_chars.h"
#include "wire/http_date.h"

namespace weir::wire {
namespace {

constexpr std::uint16_t kNoContent = 204;
constexpr std::uint16_t kNotModified = 304;

void AddValue(std::string_view value, TextRow& row) {
  if (FindFieldEnd(value, 0) == value.size()) return row.Text(value);
  for (const char c : value) row.Char(IsFieldChar(c) ? c : ' ');
}

}  // namespace

std::string_view HttpPhrase(std::uint16_t status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case kNoContent:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case kNotModified:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

HttpReply::HttpReply(std::string& out, std::uint16_t status, const HttpReplyTo& to)
    : row_(out), status_(status), head_only_(to.head_only) {
  WEIR_CHECK(status >= 200 && status <= 599);
  // To HTTP/1.0 too: a server says what it speaks.
  if (status == 200) {  // most of the time
    constexpr std::size_t kRoom = 64;
    static_assert(HttpDate::kSize < kRoom - sizeof "HTTP/1.1 200 OK\r\n");
    char* end = Put(row_.Reserve(kRoom), "HTTP/1.1 200 OK\r\n");
    if (to.date.size() == HttpDate::kSize) {
      std::memcpy(end, to.date.data(), HttpDate::kSize);
      row_.Use(end + HttpDate::kSize);
    } else {
      row_.Use(end);
      row_.Text(to.date);
    }
  } else {
    row_.Text("HTTP/1.1 ");
    row_.Number(std::uint64_t{status});
    row_.Char(' ');
    row_.Text(HttpPhrase(status));
    row_.Text("\r\n");
    row_.Text(to.date);
  }
  if (!to.keep_alive) {
    row_.Text("Connection: close\r\n");
  } else if (to.version == HttpVersion::k10) {
    row_.Text("Connection: keep-alive\r\n");
  }
}

HttpReply& HttpReply::Field(std::string_view name, std::string_view value) {
  WEIR_CHECK(IsToken(name));
  row_.Text(name);
  row_.Text(": ");
  AddValue(value, row_);
  row_.Text("\r\n");
  return *this;
}

HttpReply& HttpReply::Field(std::string_view name, std::uint64_t value) {
  std::array<char, kMostDigits> digits;
  const char* end = WriteDecimal(value, digits.data());
  return Field(name, {digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void HttpReply::Finish(std::string_view content_type, std::string_view body) {
  const bool may_have_body = status_ != kNoContent && status_ != kNotModified;
  if (may_have_body && !content_type.empty()) Field("Content-Type", content_type);
  char* to = row_.Reserve(64);
  if (may_have_body) {
    to = WriteDecimal(std::uint64_t{body.size()}, Put(to, "Content-Length: "));
    to = Put(to, "\r\n");
  }
  row_.Use(Put(to, "\r\n"));
  if (may_have_body && !head_only_) row_.Text(body);
  row_.Finish();
}

void HttpReply::Finish() {
  if (status_ == kNoContent || status_ == kNotModified) {
    row_.Text("\r\n");
  } else {
    row_.Text("Content-Length: 0\r\n\r\n");
  }
  row_.Finish();
}

void HttpReply::FinishChunked(std::string_view content_type) {
  Field("Content-Type", content_type);
  row_.Text("Transfer-Encoding: chunked\r\n\r\n");
  row_.Finish();
}

void HttpReply::FinishUntilClose(std::string_view content_type) {
  Field("Content-Type", content_type);
  row_.Text("\r\n");
  row_.Finish();
}

void AppendHttpChunk(std::string_view piece, std::string& out) {
  std::array<char, 16> digits;
  const char* end =
      std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16).ptr;
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += "\r\n";
  out += piece;
  out += "\r\n";
}

void AppendHttpContinue(std::string& out) { out += "HTTP/1.1 100 Continue\r\n\r\n"; }

}  // namespace weir::wire
