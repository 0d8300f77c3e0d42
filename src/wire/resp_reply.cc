#include "wire/resp_reply.h"

#include <array>
#include <charconv>
#include <cmath>

namespace weir::wire {

char* RespWriter::PutLongNumber(char* to, std::int64_t value) {
  const auto number = static_cast<std::uint64_t>(value);
  if (number < 10'000)
    return Put(WriteThreeOrFourDigits(static_cast<std::uint32_t>(number), to), "\r\n");
  if (value == -1) return Put(to, "-1\r\n");  // what stands for "none"
  return Put(WriteDecimal(value, to), "\r\n");
}

void RespWriter::Line(char type, std::string_view text) {
  row_.Char(type);
  for (const char c : text) row_.Char(c == '\r' || c == '\n' ? ' ' : c);
  row_.Text("\r\n");
}

void RespWriter::Simple(std::string_view text) { Line('+', text); }

void RespWriter::Error(std::string_view text) {
  ++errors_;
  Line('-', text);
}

void RespWriter::Bool(bool value) {
  if (version_ == RespVersion::k2) return Integer(value ? 1 : 0);
  row_.Text(std::string_view(value ? "#t\r\n" : "#f\r\n"));
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
  row_.Text(kFormat);
  row_.Text(text);
  row_.Text("\r\n");
}

void RespWriter::Map(std::size_t pairs) {
  if (version_ == RespVersion::k2) return Array(2 * pairs);
  Number('%', static_cast<std::int64_t>(pairs));
}

}  // namespace weir::wire
