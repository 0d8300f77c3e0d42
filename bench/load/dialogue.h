// What is said and heard on one connection: one object each, in the protocol it speaks.
//
// The grammar of answers is read only as far as is needed to know where each ends and what it says,
// so that the one who asks stays quicker than the one who answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/load/traffic.h"

namespace weir::bench {

struct Heard {
  std::size_t consumed = 0;   // bytes that need not be shown again
  std::uint64_t answers = 0;  // complete ones
  std::uint64_t refused = 0;  // of these: over the limit
  std::uint64_t failed = 0;   // of these: errors
};

class Dialogue {
 public:
  virtual ~Dialogue() = default;
  // What comes before the first request.
  virtual void Greet(std::string& /*out*/) {}
  virtual void Ask(std::size_t count, std::string& out) = 0;
  // All that is unread. What has to be said in return goes to `out`.
  virtual Heard Hear(std::string_view bytes, std::string& out) = 0;
};

// Requests that are asked one after the other, and then again from the beginning. They outlive the
// dialogues; each begins somewhere else.
class Questions {
 public:
  Questions(const std::vector<ClientRequest>& requests, Dialect dialect, std::string_view script);

  [[nodiscard]] std::size_t count() const { return ends_.size(); }
  // The bytes of `count` requests from `first` on. REQUIRES: there are so many
  [[nodiscard]] std::string_view Bytes(std::size_t first, std::size_t count) const {
    const std::size_t begin = first == 0 ? 0 : ends_[first - 1];
    return {bytes_.data() + begin, ends_[first + count - 1] - begin};
  }
  [[nodiscard]] Dialect dialect() const { return dialect_; }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
  Dialect dialect_;
};

std::unique_ptr<Dialogue> MakeDialogue(const Questions& questions, std::size_t first);
std::unique_ptr<Dialogue> MakeGrpcDialogue(const Questions& questions, std::size_t first);

}  // namespace weir::bench
