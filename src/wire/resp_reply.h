// Answers to Redis clients, appended to what is to be sent.
//
// RESP2 is what every client reads; a client that said HELLO 3 gets RESP3. Where the older version
// lacks a type, it gets what Redis gives: a map as an array of keys and values, a double as a bulk
// string, a truth as 1 or 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text_row.h"

namespace weir::wire {

enum class RespVersion : std::uint8_t { k2 = 2, k3 = 3 };

// Short parts of one answer side by side, appended when the row is gone.
class RespRow {
 public:
  RespRow(std::string& out, RespVersion version) : row_(out), version_(version) {}

  void Integer(std::int64_t value) { Number(':', value); }
  void Array(std::size_t elements) { Number('*', static_cast<std::int64_t>(elements)); }
  void Bulk(std::string_view bytes) {
    Number('$', static_cast<std::int64_t>(bytes.size()));
    row_.Text(bytes);
    row_.Text("\r\n");
  }
  void Null() { row_.Text(std::string_view(version_ == RespVersion::k2 ? "$-1\r\n" : "_\r\n")); }
  // The type of a part and a number, on a line of their own.
  void Number(char type, std::int64_t value) {
    char* to = row_.Reserve(1 + kMostDigits + 2);
    *to = type;
    row_.Use(Put(WriteDecimal(value, to + 1), "\r\n"));
  }

 private:
  TextRow row_;
  RespVersion version_;
};

// Lines (Simple, Error) cannot hold line ends: CR and LF become blanks, so that nothing a client
// sent can end a reply and begin another.
class RespWriter {
 public:
  RespWriter(std::string& out, RespVersion version) : out_(out), version_(version) {}

  // For many short parts. Nothing is to be written here before it is gone.
  [[nodiscard]] RespRow Row() { return {out_, version_}; }

  void Simple(std::string_view text);  // "OK"
  void Error(std::string_view text);   // with its code in front: "ERR unknown command 'x'"
  void Integer(std::int64_t value) { Row().Integer(value); }
  void Bulk(std::string_view bytes) { Row().Bulk(bytes); }
  void Null() { Row().Null(); }
  void Bool(bool value);
  void Double(double value);  // the shortest text that reads back as the same number
  void Verbatim(std::string_view text);
  void Array(std::size_t elements) { Row().Array(elements); }  // which follow
  void Map(std::size_t pairs);                                 // which follow, key and value

 private:
  void Line(char type, std::string_view text);

  std::string& out_;
  RespVersion version_;
};

}  // namespace weir::wire
