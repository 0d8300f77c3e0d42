#include "wire/resp_reply.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace weir::wire {

void RespWriter::Line(char type, std::string_view text) {
  out_ += type;
  const std::size_t start = out_.size();
  out_ += text;
  std::replace_if(
      out_.begin() + static_cast<std::ptrdiff_t>(start), out_.end(),
      [](char c) { return c == '\r' || c == '\n'; }, ' ');
  out_ += "\r\n";
}

void RespWriter::Simple(std::string_view text) { Line('+', text); }

void RespWriter::Error(std::string_view text) { Line('-', text); }

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
  Row().Number('=', static_cast<std::int64_t>(kFormat.size() + text.size()));
  out_ += kFormat;
  out_ += text;
  out_ += "\r\n";
}

void RespWriter::Map(std::size_t pairs) {
  if (version_ == RespVersion::k2) return Array(2 * pairs);
  Row().Number('%', static_cast<std::int64_t>(pairs));
}

}  // namespace weir::wire
