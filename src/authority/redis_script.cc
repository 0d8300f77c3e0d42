#include "authority/redis_script.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "authority/account.h"
#include "base/decimal.h"
#include "wire/resp_command.h"
#include "wire/resp_reply.h"

namespace weir::authority {
namespace {

// The steps are those of account.h, with its names.
constexpr std::string_view kScript = R"lua(
local n = {}
for i = 1, #ARGV do n[i] = tonumber(ARGV[i]) end
local now, slack, per_micro, per_permit, burst, presale, max_debt, horizon, epoch_length,
      take, debt, spent, returned, kept, since, wanted, new_demand, expected = unpack(n)
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max

if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local used, at, epoch, reserved, reserved_before, demand, demand_before = 0, now, 0, 0, 0, 0, 0
local stored = redis.call('GET', KEYS[1])
if stored then
  local account = {string.match(stored, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')}
  if #account == 0 then return redis.error_reply('ERR the key is not one of weir') end
  for i = 1, 7 do account[i] = tonumber(account[i]) end
  used, at, epoch, reserved, reserved_before, demand, demand_before = unpack(account)
end

local capacity = burst * per_permit
local most = capacity + max_debt * per_permit
local function use(permits) used = min(used + permits * per_permit, most) end
local function gone() return used + (reserved + reserved_before) * per_permit end
local function missing_for(permits) return max(0, gone() + permits * per_permit - capacity) end
local function tokens() return floor((capacity - gone()) / per_permit) end

-- 1. time
used = used - min(used, max(0, now - at) * per_micro)

-- 2. epoch
local this_epoch = floor(now / epoch_length)
if this_epoch ~= epoch then
  local is_next = this_epoch == epoch + 1
  use(reserved_before)
  if not is_next then use(reserved) end
  reserved_before = is_next and reserved or 0
  demand_before = is_next and demand or 0
  reserved, demand, epoch = 0, 0, this_epoch
end

-- 3. report
local held = spent + returned + kept
local is_known = since == epoch or since + 1 == epoch
if is_known then
  if since == epoch then
    reserved = reserved - min(reserved, held)
  else
    reserved_before = reserved_before - min(reserved_before, held)
  end
  use(spent)
  reserved = reserved + kept
end
use(debt)

-- 4. demand
demand = min(demand + new_demand, 100000000)
local rest = epoch_length - now % epoch_length
local all = max(1, expected, demand + floor(demand_before * rest / epoch_length))
local share = floor(expected * 1000000 / all)

-- 5. take
local taken = take > 0 and missing_for(take) == 0
if taken then used = used + take * per_permit end

-- 6. wanted
local grant, lease = 0, 0
if wanted > 0 then
  local there = tokens()
  if there >= 1 and (taken or take == 0) then
    grant = min(wanted, max(1, floor(there * share / 1000000)))
    reserved = reserved + grant
  end
  local room = tokens() + presale
  if room >= 1 then
    lease = min(wanted - grant, max(0, floor(presale * share / 1000000) - kept), room)
    reserved = reserved + lease
  end
end

-- 7. deny_for
local deny_for = 0
if take + wanted > 0 and not taken and grant + lease == 0 then
  local over = missing_for(max(1, take))
  deny_for = ceil(min(over, used) / per_micro)
  if over > used then deny_for = max(deny_for, horizon) end
end

local forgotten_in = ceil(gone() / per_micro) + 2 * epoch_length
redis.call('SET', KEYS[1],
           string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f',
                         used, now, epoch, reserved, reserved_before, demand, demand_before),
           'PX', string.format('%.0f', ceil(forgotten_in / 1000) + slack))
return {taken and 1 or 0, (is_known or held == 0) and 1 or 0, grant, lease, epoch,
        lease > 0 and horizon or 0, deny_for, tokens(), share}
)lua";

constexpr std::size_t kAnswers = 9;

std::string HexDigest(std::string_view text) {
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

void AppendNumber(std::uint64_t number, wire::RespWriter& out) {
  std::array<char, kMostDigits> digits{};
  out.Bulk({digits.data(),
            static_cast<std::size_t>(WriteDecimal(number, digits.data()) - digits.data())});
}

std::uint64_t Count(Micros time) { return static_cast<std::uint64_t>(time.count()); }

}  // namespace

std::string_view SyncScript() { return kScript; }

void AppendLoadCommand(std::string& out) {
  wire::AppendRespCommand({"SCRIPT", "LOAD", kScript}, out);
}

void AppendSyncCommand(const SyncRequest& request, std::string_view key, ScriptTime time,
                       std::string& out) {
  static const std::string kDigest = HexDigest(kScript);
  const Terms& terms = *request.terms;
  // What can be cut without a difference is cut here, so that the script's sums stay exact.
  const std::array<std::uint64_t, 18> numbers = {
      time.now,
      static_cast<std::uint64_t>(time.slack.count()),
      terms.ticks_per_micro,
      terms.ticks_per_permit,
      terms.burst,
      terms.presale,
      terms.max_debt,
      Count(terms.horizon),
      Count(terms.epoch),
      request.take,
      std::min(request.debt, terms.burst + terms.max_debt),
      request.spent,
      request.returned,
      request.kept,
      request.epoch,
      std::min(request.wanted, terms.burst + terms.presale),
      std::min(request.demand, Account::kMostDemand),
      std::min(request.expected, Account::kMostDemand),
  };
  wire::RespWriter writer(out, wire::RespVersion::k2);
  writer.Array(4 + numbers.size());
  writer.Bulk("EVALSHA");
  writer.Bulk(kDigest);
  writer.Bulk("1");
  writer.Bulk(key);
  for (const std::uint64_t number : numbers) AppendNumber(number, writer);
}

std::optional<SyncReply> ReadSyncAnswer(wire::RespValue answer) {
  if (!answer.is(wire::RespKind::kArray) || answer.size() != kAnswers) return std::nullopt;
  std::array<std::int64_t, kAnswers> numbers{};
  std::size_t count = 0;
  for (const wire::RespValue part : answer) {
    if (!part.is(wire::RespKind::kInteger)) return std::nullopt;
    numbers[count++] = part.integer();
  }
  const auto [taken, renewed, grant, lease, epoch, lease_for, deny_for, tokens, share] = numbers;
  if (std::min({grant, lease, epoch, lease_for, deny_for, share}) < 0) return std::nullopt;
  return SyncReply{.outcome = Outcome::kDone,
                   .taken = taken == 1,
                   .renewed = renewed == 1,
                   .grant = static_cast<std::uint64_t>(grant),
                   .lease = static_cast<std::uint64_t>(lease),
                   .epoch = static_cast<std::uint64_t>(epoch),
                   .lease_for = Micros(lease_for),
                   .deny_for = Micros(deny_for),
                   .tokens = tokens,
                   .share = static_cast<std::uint64_t>(share)};
}

}  // namespace weir::authority
