// One complete head of a request: request line and header fields, and what they say about the body.
// Used by HttpReader (wire/http_reader.h), which finds its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/http_chars.h"
#include "wire/http_request.h"

namespace weir::wire {

constexpr HttpRead BadHttp(std::uint16_t code, std::string_view reason) {
  return {.status = HttpStatus::kBad, .consumed = 0, .code = code, .reason = reason};
}

// `bytes` begin with a method. kHead: `consumed` is the size of the head, and more may follow.
// REQUIRES: `bytes` end with CR LF CR LF, where whatever is looked for ends at the latest.
HttpRead ParseHttpHead(std::string_view bytes, const HttpLimits& limits, HttpRequest& request);

// --- parts of it, for wire/http_head_pattern.h ---

// What the request line says, which is taken from `rest` with its end. False if it is wrong.
// REQUIRES: as above
bool ParseHttpRequestLine(std::string_view& rest, HttpRequest& request);

// Whether the values of fields of that name say something about the connection or the body.
bool IsFramingField(std::string_view name);

// The value of a field that begins at `begin`, with blanks around it that are not part of it.
// Returns where its line ends; nothing is right about it unless CR LF stands there.
inline std::size_t ReadFieldValue(std::string_view text, std::size_t begin,
                                  std::string_view& value) {
  // In a value, whose other characters are all above.
  constexpr auto kIsBlank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  const std::size_t line_end = FindFieldEnd(text, begin);
  std::size_t end = line_end;
  while (begin < end && kIsBlank(text[begin])) ++begin;
  while (begin < end && kIsBlank(text[end - 1])) --end;
  value = {text.data() + begin, end - begin};
  return line_end;
}

}  // namespace weir::wire
