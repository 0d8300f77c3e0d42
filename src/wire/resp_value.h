// Answers as Redis servers send them, RESP2 and RESP3, for whoever is Redis's client.
//
//   *2\r\n:1\r\n$2\r\nhi\r\n     an array of 1 and "hi"
//
// An answer is a tree. It is kept as a row of parts in the order in which they came, each knowing
// how many parts are its own: no part is allocated, and texts are views of the buffer.
//
// What Redis never sends is refused: lengths that are not told beforehand, numbers with zeros in
// front. Attributes are read and dropped: they only decorate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace weir::wire {

struct RespValueLimits {
  std::size_t bytes = 4'194'304;  // of one answer. REQUIRES: below 4 GiB
  std::size_t parts = 262'144;    // of one answer
  std::size_t depth = 8;          // arrays in arrays
};

enum class RespKind : std::uint8_t {
  kNull,
  kSimple,  // a line, "OK"
  kError,   // likewise, with its code in front: "NOSCRIPT No matching script"
  kInteger,
  kBulk,   // bytes; verbatim texts (without their format), doubles and big numbers too
  kBool,   // integer() is 1 or 0
  kArray,  // sets too
  kMap,    // its parts are a key, its value, the next key, ...
  kPush,   // what nobody asked for: no answer to any command
};

// One answer, or a part of one. A view: it holds as long as the buffer and the reader's last call.
class RespValue {
 public:
  struct Part {
    RespKind kind = RespKind::kNull;
    std::uint32_t at = 0;     // the text, in the buffer
    std::uint32_t size = 0;   // its bytes, or parts directly below this one
    std::uint32_t whole = 1;  // this part and all below it
    std::int64_t integer = 0;
  };

  RespValue() = default;  // null
  RespValue(const Part* part, const char* bytes) : part_(part), bytes_(bytes) {}

  [[nodiscard]] RespKind kind() const { return part_ == nullptr ? RespKind::kNull : part_->kind; }
  [[nodiscard]] bool is(RespKind kind) const { return this->kind() == kind; }
  [[nodiscard]] bool is_list() const { return kind() >= RespKind::kArray; }
  [[nodiscard]] bool is_text() const { return is(RespKind::kSimple) || is(RespKind::kBulk); }

  // Empty if it has none.
  [[nodiscard]] std::string_view text() const {
    const bool has_text = is_text() || is(RespKind::kError);
    return has_text ? std::string_view(bytes_ + part_->at, part_->size) : std::string_view();
  }
  // 0 if it is none.
  [[nodiscard]] std::int64_t integer() const { return part_ == nullptr ? 0 : part_->integer; }
  // An error whose first word is this.
  [[nodiscard]] bool IsError(std::string_view code) const {
    if (!is(RespKind::kError)) return false;
    const std::string_view line = text();
    return line.starts_with(code) && (line.size() == code.size() || line[code.size()] == ' ');
  }

  // The parts of a list, in order:  for (RespValue part : value)
  class Iterator {
   public:
    Iterator(const Part* part, const char* bytes) : part_(part), bytes_(bytes) {}
    RespValue operator*() const { return {part_, bytes_}; }
    Iterator& operator++() {
      part_ += part_->whole;
      return *this;
    }
    bool operator==(const Iterator& other) const { return part_ == other.part_; }

   private:
    const Part* part_;
    const char* bytes_;
  };
  [[nodiscard]] Iterator begin() const { return {is_list() ? part_ + 1 : part_, bytes_}; }
  [[nodiscard]] Iterator end() const { return {is_list() ? part_ + part_->whole : part_, bytes_}; }
  // How many; 0 if it is no list.
  [[nodiscard]] std::size_t size() const { return is_list() ? part_->size : 0; }
  // Walks there. REQUIRES: index < size()
  [[nodiscard]] RespValue operator[](std::size_t index) const {
    WEIR_CHECK(index < size());
    Iterator at = begin();
    for (; index > 0; --index) ++at;
    return *at;
  }

 private:
  const Part* part_ = nullptr;
  const char* bytes_ = nullptr;
};

enum class RespValueStatus : std::uint8_t {
  kNeedMore,  // what is there may be the beginning of an answer
  kValue,
  kBad,  // close: nobody knows where the next answer would begin
};

struct RespAnswer {
  RespValueStatus status = RespValueStatus::kNeedMore;
  std::size_t consumed = 0;  // kValue: to be dropped from the front before the next call
  RespValue value;
  std::string_view problem;  // kBad
};

// Reads the answers of one connection. It goes on where it stopped, so that an answer in many
// pieces costs no more than a whole one. Allocates only to grow.
class RespValueReader {
 public:
  explicit RespValueReader(const RespValueLimits& limits = {});

  // `bytes`: all that is unread. It may lie elsewhere than at the last call, but begins with the
  // same bytes (less those consumed).
  RespAnswer Read(std::string_view bytes);
  // For another connection.
  void Reset();

 private:
  enum class Step : std::uint8_t { kRead, kNeedMore, kBad };
  struct Open {
    std::size_t part;   // its place in parts_
    std::size_t left;   // parts still to come
    bool is_attribute;  // to be dropped when it is complete
  };

  Step ReadPart(std::string_view bytes);
  Step ReadLine(std::string_view bytes, std::string_view& line);
  Step ReadBulk(std::string_view bytes, char type, std::string_view line, std::size_t line_end);
  Step OpenList(char type, std::string_view line);
  Step Add(const RespValue::Part& part);
  void CloseComplete();
  Step Bad(std::string_view problem);

  RespValueLimits limits_;
  std::size_t at_ = 0;        // how far parts were read
  std::size_t searched_ = 0;  // and how far a line's end was looked for
  std::vector<RespValue::Part> parts_;
  std::vector<Open> open_;  // lists that are not complete
  std::string_view problem_;
};

}  // namespace weir::wire
