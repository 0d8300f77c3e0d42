#include "wire/protobuf.h"

#include <array>

namespace weir::wire {
namespace {

constexpr std::uint32_t kGroup = 3;
constexpr std::uint32_t kEndOfGroup = 4;
constexpr std::uint64_t kLargestNumber = (std::uint64_t{1} << 29) - 1;
constexpr std::size_t kLongestVarint = 10;

}  // namespace

bool ProtoReader::NextOfAny(ProtoField& field) {
  while (ok_ && !rest_.empty()) {
    std::uint32_t type = 0;
    if (!ReadTag(field.number, type)) return false;
    if (type != kGroup) return ReadValue(type, field);
    if (!SkipGroup(field.number)) return false;
  }
  return false;
}

bool ProtoReader::ReadVarint(std::uint64_t& value) {
  value = 0;
  for (std::size_t i = 0; i < rest_.size() && i < kLongestVarint; ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    if (i == kLongestVarint - 1 && byte > 1) return Fail();  // more than 64 bits
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return true;
    }
  }
  return Fail();
}

bool ProtoReader::ReadTag(std::uint32_t& number, std::uint32_t& type) {
  std::uint64_t tag = 0;
  if (!ReadVarint(tag)) return false;
  if (tag >> 3 == 0 || tag >> 3 > kLargestNumber) return Fail();
  number = static_cast<std::uint32_t>(tag >> 3);
  type = static_cast<std::uint32_t>(tag & 7);
  return true;
}

bool ProtoReader::ReadValue(std::uint32_t type, ProtoField& field) {
  field.type = static_cast<ProtoType>(type);
  field.value = 0;
  field.bytes = {};
  switch (type) {
    case static_cast<std::uint32_t>(ProtoType::kVarint):
      return ReadVarint(field.value);
    case static_cast<std::uint32_t>(ProtoType::kFixed64):
      return ReadFixed(8, field.value);
    case static_cast<std::uint32_t>(ProtoType::kFixed32):
      return ReadFixed(4, field.value);
    case static_cast<std::uint32_t>(ProtoType::kBytes): {
      std::uint64_t size = 0;
      return ReadVarint(size) && ReadBytes(size, field.bytes);
    }
    default:
      return Fail();  // the end of a group that never began, or a type there is not
  }
}

bool ProtoReader::ReadBytes(std::uint64_t size, std::string_view& bytes) {
  if (size > rest_.size()) return Fail();
  bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool ProtoReader::ReadFixed(std::size_t size, std::uint64_t& value) {
  std::string_view bytes;
  if (!ReadBytes(size, bytes)) return false;
  for (std::size_t i = 0; i < size; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return true;
}

bool ProtoReader::SkipGroup(std::uint32_t number) {
  std::array<std::uint32_t, kDeepestGroup> open = {number};
  std::size_t depth = 1;
  while (depth > 0) {
    ProtoField field;
    std::uint32_t type = 0;
    if (!ReadTag(field.number, type)) return false;
    if (type == kGroup) {
      if (depth == open.size()) return Fail();
      open[depth++] = field.number;
    } else if (type == kEndOfGroup) {
      if (field.number != open[--depth]) return Fail();
    } else if (!ReadValue(type, field)) {
      return false;
    }
  }
  return true;
}

void ProtoWriter::LongVarint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) Put(static_cast<char>(value | 0x80));
  Put(static_cast<char>(value));
}

void ProtoWriter::PutSize(std::size_t begin) {
  std::uint64_t size = this->size() - begin - 1;
  if (size < 0x80) {
    (begin < out_.size() ? out_[begin] : fields_[begin - out_.size()]) = static_cast<char>(size);
    return;
  }
  Flush();
  std::array<char, kLongestVarint> bytes;
  std::size_t used = 0;
  for (; size >= 0x80; size >>= 7) bytes[used++] = static_cast<char>(size | 0x80);
  bytes[used++] = static_cast<char>(size);
  out_.replace(begin, 1, bytes.data(), used);
}

}  // namespace weir::wire
