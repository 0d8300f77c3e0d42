#include "authority/redis_slots.h"

#include <array>

#include "base/decimal.h"

namespace weir::authority {
namespace {

// CRC16 of XMODEM: polynomial 0x1021, nothing turned round, begins with 0.
constexpr auto kCrcOfByte = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    }
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

std::string_view HashedPart(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

std::optional<std::uint16_t> ToSlot(std::int64_t number) {
  if (number < 0 || number >= static_cast<std::int64_t>(kRedisSlots)) return std::nullopt;
  return static_cast<std::uint16_t>(number);
}

std::optional<net::Endpoint> ToEndpoint(std::string_view host, std::int64_t port,
                                        const net::Endpoint& asked) {
  if (port <= 0 || port > 65'535) return std::nullopt;
  const bool is_unknown = host.empty() || host == "?";
  return net::Endpoint{.host = is_unknown ? asked.host : std::string(host),
                       .port = static_cast<std::uint16_t>(port),
                       .path = {}};
}

}  // namespace

std::uint16_t SlotOf(std::string_view key) {
  unsigned crc = 0;
  for (const char c : HashedPart(key)) {
    const auto byte = static_cast<unsigned char>(c);
    crc = ((crc << 8) ^ kCrcOfByte[((crc >> 8) ^ byte) & 0xFF]) & 0xFFFF;
  }
  return static_cast<std::uint16_t>(crc % kRedisSlots);
}

// [[first, last, [host, port, id, ...], replicas...], ...]
std::optional<std::vector<SlotRange>> ReadSlots(wire::RespValue answer,
                                                const net::Endpoint& asked) {
  if (!answer.is(wire::RespKind::kArray)) return std::nullopt;
  std::vector<SlotRange> ranges;
  for (const wire::RespValue range : answer) {
    if (range.size() < 3 || range[2].size() < 2) return std::nullopt;
    const auto first = ToSlot(range[0].integer());
    const auto last = ToSlot(range[1].integer());
    auto master = ToEndpoint(range[2][0].text(), range[2][1].integer(), asked);
    if (!first || !last || *first > *last || !master) return std::nullopt;
    ranges.push_back({.first = *first, .last = *last, .master = std::move(*master)});
  }
  return ranges;
}

// [host, port], both as text; null if it knows no such master.
std::optional<std::vector<SlotRange>> ReadMaster(wire::RespValue answer) {
  if (answer.size() != 2 || answer[0].text().empty()) return std::nullopt;
  const auto port = ReadDecimal(answer[1].text());
  if (!port) return std::nullopt;
  auto master = ToEndpoint(answer[0].text(), *port, {});
  if (!master) return std::nullopt;
  return std::vector<SlotRange>{
      {.first = 0, .last = kRedisSlots - 1, .master = std::move(*master)}};
}

std::optional<Redirection> ReadRedirection(std::string_view error, const net::Endpoint& asked) {
  const std::size_t slot_at = error.find(' ') + 1;  // 0 if there is none
  const std::size_t to_at = error.find(' ', slot_at) + 1;
  const std::size_t colon = error.rfind(':');
  if (slot_at == 0 || to_at == 0 || colon == std::string_view::npos || colon < to_at) {
    return std::nullopt;
  }
  const std::string_view code = error.substr(0, slot_at - 1);
  if (code != "MOVED" && code != "ASK") return std::nullopt;
  const auto slot = ReadDecimal(error.substr(slot_at, to_at - 1 - slot_at));
  const auto port = ReadDecimal(error.substr(colon + 1));
  if (!slot || !ToSlot(*slot) || !port) return std::nullopt;
  // The address is written without brackets, of IPv6 too.
  auto to = ToEndpoint(error.substr(to_at, colon - to_at), *port, asked);
  if (!to) return std::nullopt;
  return Redirection{.kind = code == "ASK" ? Redirection::Kind::kAsk : Redirection::Kind::kMoved,
                     .slot = *ToSlot(*slot),
                     .to = std::move(*to)};
}

}  // namespace weir::authority
