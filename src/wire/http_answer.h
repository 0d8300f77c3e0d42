// An answer to an HTTP/1.1 request, as a client reads it: from a server of ours, or from a proxy in
// front of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/result.h"
#include "wire/http_body.h"

namespace weir::wire {

struct HttpAnswer {
  std::uint16_t status = 0;
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case
  std::string body;

  // The first of that name (in lower case); empty if there is none.
  [[nodiscard]] std::string_view Field(std::string_view name) const;
};

// Reads one answer to a request that was not HEAD, on a connection that is closed after it.
class HttpAnswerReader {
 public:
  static constexpr std::size_t kLongestHead = 65'536;
  static constexpr std::size_t kLongestBody = std::size_t{64} << 20;

  // `bytes`: what came since the last call. True if the answer is complete; an error if it is none.
  Result<bool> Read(std::string_view bytes);
  // The server has closed its side. True if the answer is complete with that.
  [[nodiscard]] bool End() const;

  // REQUIRES: it is complete.
  HttpAnswer Take() { return std::move(answer_); }

 private:
  enum class Until : std::uint8_t { kHead, kLength, kChunks, kEnd };

  Result<bool> ReadHead();
  Result<bool> ReadBody(std::string_view bytes);

  Until until_ = Until::kHead;
  std::string head_;
  std::size_t length_ = 0;  // of the body; kLength
  ChunkReader chunks_{{.body = kLongestBody}};
  HttpAnswer answer_;
};

}  // namespace weir::wire
