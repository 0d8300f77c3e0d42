// Messages of protobuf, field by field: read in place, and written straight into the answer.
//
//   message = field*      field = tag value      tag = varint(number * 8 + type)
//
// Strict where a lenient reader would guess: a varint of more than 64 bits, a number of a field
// that cannot be, a length beyond the end. Nothing is allocated and nothing copied; what is nested
// is a view to be read by another reader, so whoever reads decides how deep it goes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
  bool Next(ProtoField& field) {
    // Most of what is sent is text and small messages: a byte for the tag and one for the length.
    constexpr unsigned kManyBytes = 0x80;
    if (ok_ && rest_.size() >= 2) [[likely]] {
      const unsigned tag = static_cast<unsigned char>(rest_[0]);
      const unsigned size = static_cast<unsigned char>(rest_[1]);
      constexpr auto kIsBytes = static_cast<unsigned>(ProtoType::kBytes);
      if ((tag & (kManyBytes | 7U)) == kIsBytes && tag >> 3 != 0 && size < kManyBytes &&
          size <= rest_.size() - 2) [[likely]] {
        field = {tag >> 3, ProtoType::kBytes, 0, rest_.substr(2, size)};
        rest_.remove_prefix(2 + size);
        return true;
      }
    }
    return NextOfAny(field);
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  static constexpr std::size_t kDeepestGroup = 32;

  bool NextOfAny(ProtoField& field);
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
//
// Fields are a few bytes each, so they are put together here and appended in one piece: when there
// are many, and when the writer ends.
class ProtoWriter {
 public:
  explicit ProtoWriter(std::string& out) : out_(out) {}
  ~ProtoWriter() { Flush(); }
  ProtoWriter(const ProtoWriter&) = delete;
  ProtoWriter& operator=(const ProtoWriter&) = delete;

  void Number(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    Tag(field, ProtoType::kVarint);
    Varint(value);
  }
  void Text(std::uint32_t field, std::string_view text) {
    if (text.empty()) return;
    Tag(field, ProtoType::kBytes);
    Varint(text.size());
    Bytes(text);
  }
  // A message that is there, also if it is empty: `fill` writes it.
  template <typename Fill>
  void Message(std::uint32_t field, const Fill& fill) {
    Tag(field, ProtoType::kBytes);
    const std::size_t begin = size();
    Put(0);  // room for its size, which most often takes one byte
    fill();
    PutSize(begin);
  }
  // What is written already.
  void Bytes(std::string_view bytes) {
    if (bytes.size() > kRoom - used_) {
      Flush();
      if (bytes.size() > kRoom) {
        out_ += bytes;
        return;
      }
    }
    std::memcpy(fields_.data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }

 private:
  static constexpr std::size_t kRoom = 256;

  [[nodiscard]] std::size_t size() const { return out_.size() + used_; }
  void Tag(std::uint32_t field, ProtoType type) {
    Varint(std::uint64_t{field} << 3 | static_cast<std::uint64_t>(type));
  }
  void Varint(std::uint64_t value) {
    if (value >= 0x80) return LongVarint(value);
    Put(static_cast<char>(value));
  }
  void LongVarint(std::uint64_t value);
  void Put(char byte) {
    if (used_ == kRoom) Flush();
    fields_[used_++] = byte;
  }
  void Flush() {
    out_.append(fields_.data(), used_);
    used_ = 0;
  }
  void PutSize(std::size_t begin);

  std::string& out_;
  std::array<char, kRoom> fields_;  // the last ones
  std::size_t used_ = 0;
};

}  // namespace weir::wire
