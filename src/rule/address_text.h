// Addresses as people write them: the texts that inet_pton() reads and inet_ntop() writes, no more
// and no less. A client's address is read and written for every request, and theirs takes a copy to
// end with a zero, and a printf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::rule {

inline constexpr std::size_t kLongestAddressText = 45;  // eight groups, the last two as IPv4

// "10.1.2.3" into 4 bytes, which are undefined if it is none. No zeros in front: some read them as
// octal.
bool ReadIpv4(std::string_view text, std::uint8_t* to);
// "2001:db8::1", "::ffff:10.1.2.3" into 16 bytes. No zone.
bool ReadIpv6(std::string_view text, std::uint8_t* to);

// Returns where the text ends. REQUIRES: room for kLongestAddressText.
char* WriteIpv4(const std::uint8_t* from, char* to);
// The longest run of zeros is left out, and small letters are used (RFC 5952).
char* WriteIpv6(const std::uint8_t* from, char* to);

}  // namespace weir::rule
