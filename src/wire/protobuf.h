// Messages of protobuf, field by field: read in place, and written straight into the answer.
//
//   message = field*      field = tag value      tag = varint(number * 8 + type)
//
// Strict where a lenient reader would guess: a varint of more than 64 bits, a number of a field
// that cannot be, a length beyond the end. Nothing is allocated and nothing copied; what is nested
// is a view to be read by another reader, so whoever reads decides how deep it goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::wire {

// The numbers are those on the wire.
enum class ProtoType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,  // text, bytes, a message
  kFixed32 = 5,
};

struct ProtoField {
  std::uint32_t number = 0;
  ProtoType type = ProtoType::kVarint;
  std::uint64_t value = 0;  // unless it is bytes
  std::string_view bytes;   // if it is; looks into the message

  // A field of another type than expected is one of another schema, to be skipped.
  [[nodiscard]] bool IsNumber(std::uint32_t wanted) const {
    return number == wanted && type == ProtoType::kVarint;
  }
  [[nodiscard]] bool IsBytes(std::uint32_t wanted) const {
    return number == wanted && type == ProtoType::kBytes;
  }
};

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : rest_(message) {}

  // False at the end, and from where the bytes make no sense. Groups, which nobody sends any more,
  // are skipped.
  bool Next(ProtoField& field);
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  static constexpr std::size_t kDeepestGroup = 32;

  bool ReadVarint(std::uint64_t& value);
  bool ReadTag(std::uint32_t& number, std::uint32_t& type);
  bool ReadValue(std::uint32_t type, ProtoField& field);
  bool ReadBytes(std::uint64_t size, std::string_view& bytes);
  bool ReadFixed(std::size_t size, std::uint64_t& value);
  bool SkipGroup(std::uint32_t number);
  bool Fail() {
    ok_ = false;
    return false;
  }

  std::string_view rest_;
  bool ok_ = true;
};

// Appends fields to a message. What has its default value is left out, as proto3 has it.
class ProtoWriter {
 public:
  explicit ProtoWriter(std::string& out) : out_(out) {}

  void Number(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    Tag(field, ProtoType::kVarint);
    Varint(value);
  }
  void Text(std::uint32_t field, std::string_view text) {
    if (text.empty()) return;
    Tag(field, ProtoType::kBytes);
    Varint(text.size());
    out_ += text;
  }
  // A message that is there, also if it is empty: `fill` writes it.
  template <typename Fill>
  void Message(std::uint32_t field, const Fill& fill) {
    Tag(field, ProtoType::kBytes);
    const std::size_t begin = out_.size();
    out_ += '\0';  // room for its size, which most often takes one byte
    fill();
    PutSize(begin);
  }

 private:
  void Tag(std::uint32_t field, ProtoType type) {
    Varint(std::uint64_t{field} << 3 | static_cast<std::uint64_t>(type));
  }
  void Varint(std::uint64_t value);
  void PutSize(std::size_t begin);

  std::string& out_;
};

}  // namespace weir::wire
