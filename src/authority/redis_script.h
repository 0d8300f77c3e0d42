// The arithmetic of account.h as a script that Redis executes, and how to ask for it.
//
// One call is one SyncRequest for one key. The script reads the key, computes, and writes it back
// with a time to live, which is the only thing it writes and the last thing it does: an error in
// its place always means that nothing happened. It declares its key and touches no other, calls
// nothing that differs between Redis 6.2, 7 and Valkey, and counts in whole numbers below 2^53,
// which Lua's doubles hold exactly.
//
// Whatever crosses the wire is one string of numbers, eight bytes each (a double, the lowest byte
// first): a script reads that with one call, where words cost it more than all the arithmetic. In
// Redis a key is a 'W' and whole numbers of so many bytes, as in Account, 44 in all (Redis keeps
// strings of that size in one piece). `lives` says for how many epochs it has a time to live, from
// the one of `at`:
//
//     used 7  at 7  reserved 4  reserved_before 4  demand 4  demand_before 4  per_permit 7
//     epoch_length 4  lives 2
//
// Keys that an older Weir left behind are texts, and are read as of the current limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "authority/account.h"
#include "authority/authority.h"
#include "wire/resp_value.h"

namespace weir::authority {

// What the script takes for the time.
struct ScriptTime {
  static constexpr std::uint64_t kOfRedis = 0;

  std::uint64_t now = kOfRedis;  // microseconds, or Redis's own clock
  // Keys live so much longer than needed: the clock that counts their time to live is another one
  // if `now` is not Redis's.
  std::chrono::milliseconds slack{0};
};

// The source in Lua.
std::string_view SyncScript();

// Appends a command that makes Redis know the script.
void AppendLoadCommand(std::string& out);
// Appends a command that executes the script by its digest. `key` is its whole name in Redis.
void AppendSyncCommand(const SyncRequest& request, std::string_view key, ScriptTime time,
                       std::string& out);

// What lies in Redis; nothing if that is not an account, or one of an older Weir.
std::optional<Account> ReadAccount(std::string_view stored);

// What the script answered; nothing if that is not an answer of this script.
std::optional<SyncReply> ReadSyncAnswer(wire::RespValue answer);

}  // namespace weir::authority
