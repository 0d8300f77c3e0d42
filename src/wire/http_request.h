// The heads of HTTP/1.0 and HTTP/1.1 requests (RFC 9112), read strictly.
//
// Whoever stands in front of us may read a sloppy request differently, and then one of the two sees
// a request the other does not ("request smuggling"). So nothing is guessed: lines end with CR LF
// and never with LF alone, lengths are digits, there is one way to say how long the body is, and
// what is doubtful is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "rule/header_field.h"

namespace weir::wire {

struct HttpLimits {
  std::size_t request_line = 8'192;  // bytes; longer: 414
  std::size_t head = 16'384;         // bytes, request line included; longer: 431
  std::size_t fields = 100;          // more: 431
  std::uint64_t body = 1'048'576;    // bytes by Content-Length; more: 413
};

enum class HttpVersion : std::uint8_t { k10, k11 };

enum class HttpBody : std::uint8_t {
  kNone,
  kLength,   // `content_length` bytes follow
  kChunked,  // chunks follow: wire/http_body.h
};

// A head. Views of the buffer it was read from (but for a path that was left out, which is "/").
struct HttpRequest {
  std::string_view method;  // in any case, known or not
  std::string_view target;  // as it was sent
  std::string_view path;    // "/a/b", still percent-encoded; "*" of OPTIONS
  std::string_view query;   // behind the first '?', without it
  // From the target if it names one ("http://host/"), otherwise the field Host. May be empty.
  std::string_view authority;
  HttpVersion version = HttpVersion::k11;
  HttpBody body = HttpBody::kNone;
  std::uint64_t content_length = 0;
  bool keep_alive = false;       // further requests may follow on this connection
  bool expect_continue = false;  // the client waits for "100 Continue" before it sends the body
  std::vector<rule::HeaderField> fields;  // in order; values without the blanks around them
  // Which lengths the names of fields have: most of those that are asked for are not there, and no
  // name is as long. All of them, until a head was read.
  std::uint64_t name_lengths = ~std::uint64_t{0};
  // Unless it is 0, requests of one HttpReader with the same number have the same names in the same
  // order, byte for byte: what was found out about them holds again.
  std::uint64_t names = 0;

  static constexpr std::uint64_t LengthBit(std::string_view name) {
    return std::uint64_t{1} << (name.size() % 64);
  }
  // The first field of that name, in any case.
  [[nodiscard]] std::optional<std::string_view> Field(std::string_view name) const {
    if ((name_lengths & LengthBit(name)) == 0) return std::nullopt;
    return FindField(name);
  }

 private:
  [[nodiscard]] std::optional<std::string_view> FindField(std::string_view name) const;
};

enum class HttpStatus : std::uint8_t {
  kNeedMore,  // what is there may be the beginning of a head
  kHead,
  kBad,  // answer with `code` and close: nobody knows where the next request would begin
};

struct HttpRead {
  HttpStatus status = HttpStatus::kNeedMore;
  std::size_t consumed = 0;      // kHead: bytes of the head; the body follows
  std::uint16_t code = 0;        // kBad: 400, 413, 414, 431, 501 or 505
  std::string_view reason = {};  // kBad: what is wrong, in words of ours

  bool operator==(const HttpRead&) const = default;
};

}  // namespace weir::wire
