#include "wire/proxy_protocol.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace weir::wire {
namespace {

using rule::Address;
using namespace std::string_view_literals;

constexpr std::string_view kV1 = "PROXY "sv;
constexpr std::string_view kV2 = "\r\n\r\n\0\r\nQUIT\n"sv;
constexpr std::size_t kV2Fixed = 16;  // signature, version and command, family, length

constexpr ProxyHeader kNeedMore{.status = ProxyStatus::kNeedMore};
constexpr ProxyHeader kNotProxy{.status = ProxyStatus::kNotProxy};
constexpr ProxyHeader kBad{.status = ProxyStatus::kBad};

ProxyHeader Header(std::size_t size) {
  ProxyHeader header;
  header.status = ProxyStatus::kHeader;
  header.size = size;
  return header;
}

bool BeginsAlike(std::string_view a, std::string_view b) {
  const std::size_t size = std::min(a.size(), b.size());
  return a.substr(0, size) == b.substr(0, size);
}

// --- version 1: PROXY TCP4 SOURCE DESTINATION PORT PORT
// --------------------------------------------

enum class Family : std::uint8_t { kV4, kV6 };

std::optional<Address> ParseAddress(std::string_view text, Family family) {
  const bool has_colon = text.find(':') != std::string_view::npos;
  if (has_colon != (family == Family::kV6)) return std::nullopt;
  return Address::Parse(text);
}

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  if (text.size() > 5 || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  const Result<std::uint64_t> port = ParseCount(text);
  if (!port || *port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(*port);
}

// What stands before the next blank, which is taken too.
std::string_view TakeField(std::string_view& line) {
  const std::string_view field = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), field.size() + 1));
  return field;
}

ProxyHeader ParseV1(std::string_view bytes) {
  const std::size_t end = bytes.substr(0, kLongestProxyV1).find("\r\n");
  if (end == std::string_view::npos) return bytes.size() < kLongestProxyV1 ? kNeedMore : kBad;
  ProxyHeader header = Header(end + 2);
  std::string_view line = bytes.substr(kV1.size(), end - kV1.size());
  // Exactly four blanks, so that none of the fields below is followed by something else.
  const auto blanks = std::count(line.begin(), line.end(), ' ');
  const std::string_view protocol = TakeField(line);
  if (protocol == "UNKNOWN") return header;  // whatever follows it
  if ((protocol != "TCP4" && protocol != "TCP6") || blanks != 4) return kBad;
  const Family family = protocol == "TCP4" ? Family::kV4 : Family::kV6;
  const std::optional<Address> source = ParseAddress(TakeField(line), family);
  const std::optional<Address> destination = ParseAddress(TakeField(line), family);
  const std::optional<std::uint16_t> source_port = ParsePort(TakeField(line));
  const std::optional<std::uint16_t> destination_port = ParsePort(TakeField(line));
  if (!source || !destination || !source_port || !destination_port) return kBad;
  header.source = ProxyEndpoint{*source, *source_port};
  header.destination = ProxyEndpoint{*destination, *destination_port};
  return header;
}

// --- version 2
// ------------------------------------------------------------------------------------

std::uint8_t ByteAt(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

std::uint16_t NumberAt(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(ByteAt(bytes, at) << 8 | ByteAt(bytes, at + 1));
}

// IPv4 is kept as the IPv6 address it is mapped to.
Address AddressAt(std::string_view bytes, std::size_t at, std::size_t size) {
  Address::Bytes address{};
  if (size == 4) address[10] = address[11] = 0xFF;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), size, address.end() - size);
  return Address(address);
}

// Two addresses of `size` bytes, then two ports.
ProxyHeader ParseAddresses(ProxyHeader header, std::string_view block, std::size_t size) {
  if (block.size() < 2 * size + 4) return kBad;
  header.source = ProxyEndpoint{AddressAt(block, 0, size), NumberAt(block, 2 * size)};
  header.destination = ProxyEndpoint{AddressAt(block, size, size), NumberAt(block, 2 * size + 2)};
  return header;
}

ProxyHeader ParseV2(std::string_view bytes) {
  constexpr std::uint8_t kLocal = 0x20;
  constexpr std::uint8_t kProxy = 0x21;
  constexpr std::size_t kUnixBlock = 216;
  if (bytes.size() < kV2Fixed) return kNeedMore;
  const std::uint8_t command = ByteAt(bytes, 12);
  const std::size_t length = NumberAt(bytes, 14);
  if (command != kLocal && command != kProxy) return kBad;
  if (kV2Fixed + length > kLongestProxyV2) return kBad;
  if (bytes.size() < kV2Fixed + length) return kNeedMore;
  const ProxyHeader header = Header(kV2Fixed + length);
  if (command == kLocal) return header;  // the rest is to be ignored, whatever it says
  const std::string_view block = bytes.substr(kV2Fixed, length);
  switch (ByteAt(bytes, 13)) {
    case 0x00:  // unspecified
      return header;
    case 0x11:  // TCP over IPv4
    case 0x12:  // UDP
      return ParseAddresses(header, block, 4);
    case 0x21:  // TCP over IPv6
    case 0x22:  // UDP
      return ParseAddresses(header, block, 16);
    case 0x31:  // a Unix socket, which has no address of this kind
    case 0x32:
      return block.size() >= kUnixBlock ? header : kBad;
    default:
      return kBad;
  }
}

}  // namespace

ProxyHeader ParseProxyHeader(std::string_view bytes) {
  if (BeginsAlike(bytes, kV2)) return bytes.size() < kV2.size() ? kNeedMore : ParseV2(bytes);
  if (BeginsAlike(bytes, kV1)) return bytes.size() < kV1.size() ? kNeedMore : ParseV1(bytes);
  return kNotProxy;
}

}  // namespace weir::wire
