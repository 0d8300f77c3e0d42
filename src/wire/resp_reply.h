// Answers to Redis clients, appended to what is to be sent.
//
// RESP2 is what every client reads; a client that said HELLO 3 gets RESP3. Where the older version
// lacks a type, it gets what Redis gives: a map as an array of keys and values, a double as a bulk
// string, a truth as 1 or 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/copy_few.h"
#include "base/text_row.h"

namespace weir::wire {

enum class RespVersion : std::uint8_t { k2 = 2, k3 = 3 };

// Answers one after the other. They are appended a few at a time, and all when the writer is gone.
//
// Lines (Simple, Error) cannot hold line ends: CR and LF become blanks, so that nothing a client
// sent can end a reply and begin another.
class RespWriter {
 public:
  RespWriter(std::string& out, RespVersion version) : row_(out), version_(version) {}

  // Of what is written from now on.
  void set_version(RespVersion version) { version_ = version; }

  void Simple(std::string_view text);  // "OK"
  void Error(std::string_view text);   // with its code in front: "ERR unknown command 'x'"
  void Integer(std::int64_t value) { Number(':', value); }
  // One after the other, each a part of its own.
  template <typename... Values>
  void Integers(Values... values) {
    row_.Use(PutIntegers(row_.Reserve(sizeof...(Values) * kMostOfNumber), values...));
  }
  // The same in an array.
  template <typename... Values>
  void ArrayOfIntegers(Values... values) {
    char* const to = row_.Reserve((1 + sizeof...(Values)) * kMostOfNumber);
    row_.Use(PutIntegers(PutNumber(to, '*', sizeof...(Values)), values...));
  }
  void Bulk(std::string_view bytes) {
    Number('$', static_cast<std::int64_t>(bytes.size()));
    row_.Text(bytes);
    row_.Text("\r\n");
  }
  void Null() { row_.Text(std::string_view(version_ == RespVersion::k2 ? "$-1\r\n" : "_\r\n")); }
  void Bool(bool value);
  void Double(double value);  // the shortest text that reads back as the same number
  void Verbatim(std::string_view text);
  void Array(std::size_t elements) { Number('*', static_cast<std::int64_t>(elements)); }
  void Map(std::size_t pairs);  // which follow, as the elements of an array do: key and value

  // Several parts in one go, where each instruction counts:
  //
  //   char* to = reply.Reserve(RespWriter::MostOfBulk(name) + RespWriter::kMostOfNumber);
  //   to = RespWriter::PutBulk(to, name);
  //   reply.Use(RespWriter::PutInteger(to, 3));
  //
  // REQUIRES: at most TextRow::kMostReserved bytes.
  char* Reserve(std::size_t size) { return row_.Reserve(size); }
  void Use(char* end) { row_.Use(end); }
  static constexpr std::size_t kMostOfNumber = 1 + kMostDigits + 2;
  static constexpr std::size_t MostOfBulk(std::string_view bytes) {
    return kMostOfNumber + bytes.size() + 2;
  }
  static char* PutInteger(char* to, std::int64_t value) { return PutNumber(to, ':', value); }
  static char* PutBulk(char* to, std::string_view bytes) {
    to = PutNumber(to, '$', static_cast<std::int64_t>(bytes.size()));
    CopyFew(to, bytes.data(), bytes.size());
    return Put(to + bytes.size(), "\r\n");
  }

  // Bytes to be sent, with those that were there before.
  [[nodiscard]] std::size_t size() const { return row_.size(); }
  [[nodiscard]] std::uint64_t errors() const { return errors_; }

 private:
  // The type of a part and a number, on a line of their own. REQUIRES: room for kMostOfNumber.
  static char* PutNumber(char* to, char type, std::int64_t value) {
    const auto number = static_cast<std::uint64_t>(value);
    if (number <= 9) {  // most: the line is one word
      constexpr std::uint32_t kZero = 0x0A0D'30'00;
      const auto digit = static_cast<std::uint32_t>(number);
      const std::uint32_t line = (kZero | static_cast<unsigned char>(type)) + (digit << 8);
      std::memcpy(to, &line, sizeof line);
      return to + sizeof line;
    }
    *to = type;
    if (number <= 99) return Put(WriteTwoDigits(number, to + 1), "\r\n");
    return PutLongNumber(to + 1, value);
  }
  // Apart, so that what is inlined for the short ones is short.
  static char* PutLongNumber(char* to, std::int64_t value);
  template <typename... Values>
  static char* PutIntegers(char* to, Values... values) {
    static_assert((1 + sizeof...(Values)) * kMostOfNumber <= TextRow::kMostReserved);
    ((to = PutNumber(to, ':', values)), ...);
    return to;
  }
  void Number(char type, std::int64_t value) {
    row_.Use(PutNumber(row_.Reserve(kMostOfNumber), type, value));
  }
  void Line(char type, std::string_view text);

  TextRow row_;
  RespVersion version_;
  std::uint64_t errors_ = 0;
};

}  // namespace weir::wire
