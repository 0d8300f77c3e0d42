#include "wire/resp_reply.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace weir::wire {
namespace {

constexpr std::size_t kLongestNumber = 24;  // the type, a sign, 19 digits, CR LF

// Returns behind the last byte written. REQUIRES: room for kLongestNumber bytes at `at`
inline char* WriteNumber(char type, std::int64_t value, char* at) {
  *at++ = type;
  if (value >= 0 && value < 10) {
    *at++ = static_cast<char>('0' + value);
  } else {
    at = std::to_chars(at, at + kLongestNumber, value).ptr;
  }
  *at++ = '\r';
  *at++ = '\n';
  return at;
}

using Numbers = std::array<char, 8 * kLongestNumber>;

// What `text` holds up to `end`, and the integers behind it: one append, unless there are more than
// in most answers.
inline void AppendIntegers(Numbers& text, char* end, std::initializer_list<std::int64_t> values,
                           std::string& out) {
  for (const std::int64_t value : values) {
    if (end + kLongestNumber > text.data() + text.size()) {
      out.append(text.data(), static_cast<std::size_t>(end - text.data()));
      end = text.data();
    }
    end = WriteNumber(':', value, end);
  }
  out.append(text.data(), static_cast<std::size_t>(end - text.data()));
}

}  // namespace

void RespWriter::Line(char type, std::string_view text) {
  out_ += type;
  const std::size_t start = out_.size();
  out_ += text;
  std::replace_if(
      out_.begin() + static_cast<std::ptrdiff_t>(start), out_.end(),
      [](char c) { return c == '\r' || c == '\n'; }, ' ');
  out_ += "\r\n";
}

void RespWriter::Number(char type, std::int64_t value) {
  std::array<char, kLongestNumber> text;
  const char* end = WriteNumber(type, value, text.data());
  out_.append(text.data(), static_cast<std::size_t>(end - text.data()));
}

void RespWriter::Simple(std::string_view text) { Line('+', text); }

void RespWriter::Error(std::string_view text) { Line('-', text); }

void RespWriter::Integer(std::int64_t value) { Number(':', value); }

void RespWriter::Integers(std::initializer_list<std::int64_t> values) {
  Numbers text;
  AppendIntegers(text, text.data(), values, out_);
}

void RespWriter::IntegerArray(std::initializer_list<std::int64_t> values) {
  Numbers text;
  char* end = WriteNumber('*', static_cast<std::int64_t>(values.size()), text.data());
  AppendIntegers(text, end, values, out_);
}

void RespWriter::Bulk(std::string_view bytes) {
  Number('$', static_cast<std::int64_t>(bytes.size()));
  out_ += bytes;
  out_ += "\r\n";
}

void RespWriter::Null() { out_ += version_ == RespVersion::k2 ? "$-1\r\n" : "_\r\n"; }

void RespWriter::Bool(bool value) {
  if (version_ == RespVersion::k2) return Integer(value ? 1 : 0);
  out_ += value ? "#t\r\n" : "#f\r\n";
}

void RespWriter::Double(double value) {
  std::array<char, 32> text;
  char* end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  std::string_view number(text.data(), static_cast<std::size_t>(end - text.data()));
  if (std::isnan(value)) number = "nan";  // has no sign on the wire
  if (version_ == RespVersion::k2) return Bulk(number);
  Line(',', number);
}

void RespWriter::Verbatim(std::string_view text) {
  if (version_ == RespVersion::k2) return Bulk(text);
  constexpr std::string_view kFormat = "txt:";
  Number('=', static_cast<std::int64_t>(kFormat.size() + text.size()));
  out_ += kFormat;
  out_ += text;
  out_ += "\r\n";
}

void RespWriter::Array(std::size_t elements) { Number('*', static_cast<std::int64_t>(elements)); }

void RespWriter::Map(std::size_t pairs) {
  if (version_ == RespVersion::k2) return Array(2 * pairs);
  Number('%', static_cast<std::int64_t>(pairs));
}

}  // namespace weir::wire
