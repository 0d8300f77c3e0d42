// Answers to HTTP/1.1 requests, appended to what is to be sent.
//
//   HttpReply reply(out, 429, {.keep_alive = request.keep_alive});
//   reply.Field("Retry-After", 3);
//   reply.Finish("application/json", body);
//
// Values may hold what a client sent: control characters in them become blanks, so that no value
// can end its line and begin another field or another answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text_row.h"
#include "wire/http_request.h"

namespace weir::wire {

// "Too Many Requests" for 429; "Unknown" for what has no name.
std::string_view HttpPhrase(std::uint16_t status);

// What the request says about its answer.
struct HttpReplyTo {
  HttpVersion version = HttpVersion::k11;  // of the request
  bool keep_alive = true;                  // false: "Connection: close" is said; closing is yours
  bool head_only = false;                  // the method is HEAD: all but the body
  std::string_view date = {};              // wire/http_date.h; empty: none is told

  static HttpReplyTo Of(const HttpRequest& request, std::string_view date = {}) {
    return {request.version, request.keep_alive, request.method == "HEAD", date};
  }
};

class HttpReply {
 public:
  // REQUIRES: 200 <= status <= 599. Of one not finished, the head is still open: finish each.
  HttpReply(std::string& out, std::uint16_t status, const HttpReplyTo& to);

  // REQUIRES: `name` is a token (wire/http_chars.h) and none of Content-Length, Content-Type,
  // Connection and Transfer-Encoding.
  HttpReply& Field(std::string_view name, std::string_view value);
  HttpReply& Field(std::string_view name, std::uint64_t value);

  // For many fields at once, each ended by CR LF: they must hold to the same.
  TextRow& row() { return row_; }

  // With Content-Length, and Content-Type if there is one. The statuses 204 and 304 have no body.
  void Finish(std::string_view content_type, std::string_view body);
  // With neither.
  void Finish();
  // For a body that comes in pieces, each by AppendHttpChunk(), as HTTP/1.1 has it.
  void FinishChunked(std::string_view content_type);
  // For a body that lasts until the connection is closed: HTTP/1.0 knows no pieces.
  void FinishUntilClose(std::string_view content_type);

 private:
  TextRow row_;  // all but a long body goes to `out` at once, when it is finished
  std::uint16_t status_;
  bool head_only_;
};

// A piece of a body; the empty one is the last.
void AppendHttpChunk(std::string_view piece, std::string& out);

// What a client that sent "Expect: 100-continue" waits for.
void AppendHttpContinue(std::string& out);

}  // namespace weir::wire
