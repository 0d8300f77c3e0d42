// The head that came last on a connection, as a pattern for the next one.
//
// Who asks again and again writes the same fields in the same order each time, and only some of
// their values differ. So a head is compared with the last one: where its names are the same, byte
// for byte, they are known to be names, and what they say about the body is known where their
// values are the same too. Only the other values are looked through.
//
// It knows nothing that ParseHttpHead() did not say. A head that differs in any other way, or is
// not complete, or is wrong, is not like the pattern, and is read the long way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/http_request.h"

namespace weir::wire {

class HttpHeadPattern {
 public:
  // What is longer is not learned: a connection takes bounded memory.
  static constexpr std::size_t kMostFields = 32;
  static constexpr std::size_t kMostText = 1'024;  // bytes: names, and values that must be the same

  // How long the head is that `bytes` begin with, and `request` is filled as ParseHttpHead() does.
  // 0: it is not like the pattern, and `request` holds anything.
  std::size_t Read(std::string_view bytes, HttpRequest& request);
  // `request` was read from `head` the long way, since Read() said 0. Becomes the pattern, but not
  // each time: where no two heads are alike, to learn is in vain.
  void Missed(std::string_view head, const HttpRequest& request);

 private:
  // A field: the end of the line before it, its name, and what follows up to the value or, where
  // that must be the same, up to its end.
  struct alignas(16) Line {
    std::array<char, 32> text{};  // as much of it as there is room for
    std::uint32_t marks = 0;      // a bit for each byte of `text` that is part of it
    std::uint16_t size = 0;       // bytes of all of it
    std::uint16_t name = 0;       // bytes
    std::uint16_t rest = 0;       // where in `rests_` the bytes are that `text` has no room for
    std::uint16_t begin = 0;      // of a value that must be the same
    std::uint16_t value = 0;      // bytes of that
    bool is_whole = false;        // there is one
    bool is_long = false;         // it goes on in `rests_`
    bool is_usual = false;        // neither
  };

  // What stands in it where, as long as it is the same.
  struct alignas(16) RequestLine {
    std::array<char, 32> text{};     // as of a line
    std::uint32_t marks = 0;         // likewise; 0: it is longer
    std::uint16_t size = 0;          // without its end
    std::uint16_t method = 0;        // bytes, as all that follow
    std::uint16_t target_begin = 0;  // in the line
    std::uint16_t target = 0;
    std::uint16_t path = 0;
    std::uint16_t query_begin = 0;  // in the target
    std::uint16_t query = 0;
  };

  void Learn(std::string_view head, const HttpRequest& request);
  // Where the request line ends; 0 if it is none that fits.
  std::size_t ReadRequestLine(std::string_view bytes, HttpRequest& request) const;
  std::size_t ReadOtherRequestLine(std::string_view bytes, HttpRequest& request) const;
  // Where the line that begins at `at` ends, all of it looked at; 0 if it is another one.
  std::size_t ReadLine(const Line& line, std::string_view bytes, std::size_t at,
                       rule::HeaderField& field) const;

  std::string line_text_;    // the request line
  std::string rests_;        // of what must be the same
  std::vector<Line> lines_;  // none: nothing is learned
  RequestLine request_line_;
  std::size_t host_ = kMostFields;  // which line says it; kMostFields: none does

  // What all heads like it have in common, as HttpRequest has it.
  HttpVersion version_ = HttpVersion::k11;
  HttpBody body_ = HttpBody::kNone;
  bool keep_alive_ = false;
  bool expect_continue_ = false;
  std::uint64_t content_length_ = 0;
  std::uint64_t name_lengths_ = 0;
  std::uint64_t names_ = 0;

  unsigned misses_ = 0;  // in a row
};

}  // namespace weir::wire
