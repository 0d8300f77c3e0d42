// Instants as logs and files write them (RFC 3339, in UTC): "2026-01-31T12:00:00Z".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

// REQUIRES: a year of four digits.
std::string FormatUtc(std::chrono::sys_seconds time);
// With three digits behind the seconds.
std::string FormatUtc(std::chrono::sys_time<std::chrono::milliseconds> time);

// Whole seconds and the zone Z, in the one way that FormatUtc() writes them.
std::optional<std::chrono::sys_seconds> ParseUtc(std::string_view text);

}  // namespace weir
