// Compare and swap as a script that Redis executes, and how to ask for it.
//
// One call is one SwapRequest: all its keys are read, and if each of them holds what was seen,
// those that have a new value get it, with a time to live. Writing is the last thing the script
// does, so an error in the place of an answer means that nothing happened.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "authority/swap_store.h"
#include "wire/resp_value.h"

namespace weir::authority {

// Whether the script is to say what time it is.
enum class SwapClock : std::uint8_t { kOfRedis, kOfHosts };

// Appends a command that makes Redis know the script.
void AppendLoadSwapCommand(std::string& out);
// Appends a command that executes it by its digest. `prefix` comes before each name, `slack` on top
// of each time to live.
void AppendSwapCommand(std::span<const SwapKey> keys, std::string_view prefix, SwapClock clock,
                       std::chrono::milliseconds slack, std::string& out);

// What the script answered about `keys` keys, with `held` as the place for what they hold; nothing
// if that is not an answer of this script. Without Redis's clock, `now` is left at 0.
std::optional<SwapReply> ReadSwapAnswer(wire::RespValue answer, std::size_t keys,
                                        std::vector<std::string_view>& held);

}  // namespace weir::authority
