#include "wire/grpc_status.h"

namespace weir::wire {
namespace {

constexpr std::size_t kLongest = 1024;

}  // namespace

std::string EncodeGrpcMessage(std::string_view message) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : message.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '%') {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15U];
    }
  }
  return encoded;
}

}  // namespace weir::wire
