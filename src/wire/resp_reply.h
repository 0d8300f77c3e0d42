// Answers to Redis clients, appended to what is to be sent.
//
// RESP2 is what every client reads; a client that said HELLO 3 gets RESP3. Where the older version
// lacks a type, it gets what Redis gives: a map as an array of keys and values, a double as a bulk
// string, a truth as 1 or 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace weir::wire {

enum class RespVersion : std::uint8_t { k2 = 2, k3 = 3 };

// Lines (Simple, Error) cannot hold line ends: CR and LF become blanks, so that nothing a client
// sent can end a reply and begin another.
class RespWriter {
 public:
  RespWriter(std::string& out, RespVersion version) : out_(out), version_(version) {}

  void Simple(std::string_view text);  // "OK"
  void Error(std::string_view text);   // with its code in front: "ERR unknown command 'x'"
  void Integer(std::int64_t value);
  void Integers(std::initializer_list<std::int64_t> values);      // one after the other
  void IntegerArray(std::initializer_list<std::int64_t> values);  // an array of them
  void Bulk(std::string_view bytes);
  void Null();
  void Bool(bool value);
  void Double(double value);  // the shortest text that reads back as the same number
  void Verbatim(std::string_view text);
  void Array(std::size_t elements);  // which follow
  void Map(std::size_t pairs);       // which follow, key and value

 private:
  void Line(char type, std::string_view text);
  void Number(char type, std::int64_t value);

  std::string& out_;
  RespVersion version_;
};

}  // namespace weir::wire
