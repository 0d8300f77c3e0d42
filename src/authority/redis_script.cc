#include "authority/redis_script.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "authority/account.h"
#include "authority/script_digest.h"
#include "wire/resp_command.h"
#include "wire/resp_reply.h"

namespace weir::authority {
namespace {

// The steps are those of account.h, with its names. Nothing is called that an operator can do: what
// is divided down is (a - a % b) / b, up (a + -a % b) / b, both exact below 2^53. What a plain take
// does not need is jumped over.
constexpr std::string_view kScript = R"lua(
local read = struct.unpack
local told = ARGV[1]
local now, slack, per_micro, per_permit, burst, max_debt, horizon, epoch_length,
      take, times, new_demand, expected = read('<dddddddddddd', told)
local presale, debt, refund, spent, returned, kept, since, wanted = 0, 0, 0, 0, 0, 0, 0, 0
if #told > 96 then
  presale, debt, refund, spent, returned, kept, since, wanted = read('<dddddddd', told, 97)
end

if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local used, at, epoch, reserved, reserved_before, demand, demand_before = 0, now, 0, 0, 0, 0, 0
local was_per_permit, was_epoch_length = per_permit, epoch_length
local dies = 0  -- an epoch: the key lives to its beginning at least
local stored = redis.call('GET', KEYS[1])
if stored then
  local mark
  if #stored == 44 then
    local lives
    mark, used, at, reserved, reserved_before, demand, demand_before, was_per_permit,
      was_epoch_length, lives = read('<BI7I7I4I4I4I4I7I4I2', stored)
    epoch = (at - at % was_epoch_length) / was_epoch_length
    if was_epoch_length == epoch_length then dies = epoch + lives end
  end
  if mark ~= 87 then  -- not a 'W': a text, as it once was, which does not say of which limit
    local text = {string.match(stored, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')}
    if #text == 0 then return redis.error_reply('ERR the key is not one of weir') end
    for i = 1, 7 do text[i] = tonumber(text[i]) end
    used, at, epoch, reserved, reserved_before, demand, demand_before = unpack(text)
    was_per_permit, was_epoch_length = per_permit, epoch_length
  end
end

-- 0. limit
local most = (burst + max_debt) * per_permit
if was_per_permit ~= per_permit then
  local part = used % was_per_permit
  local whole = (used - part) / was_per_permit
  -- part * per_permit / was_per_permit, by octal digits: no sum reaches 2^53, as no permit has more
  -- than 2^49 ticks.
  local quotient, rest, unit = 0, 0, 281474976710656
  repeat
    local above = per_permit - per_permit % unit
    rest = rest * 8 + above / unit % 8 * part
    local left = rest % was_per_permit
    quotient = quotient * 8 + (rest - left) / was_per_permit
    rest = left
    unit = unit / 8
  until unit < 1
  if rest > 0 then quotient = quotient + 1 end
  used = whole * per_permit + quotient
end
if used > most then used = most end
local most_reserved = 4 * burst
if reserved > most_reserved then reserved = most_reserved end
if reserved_before > most_reserved then reserved_before = most_reserved end

-- 1. time
if now > at then
  local flowed = (now - at) * per_micro
  used = used > flowed and used - flowed or 0
end

-- 2. epoch
local phase = now % epoch_length
local this_epoch = (now - phase) / epoch_length
if this_epoch ~= epoch or was_epoch_length ~= epoch_length then
  local expired = reserved_before
  if this_epoch == epoch + 1 and was_epoch_length == epoch_length then
    reserved_before, demand_before = reserved, demand
  else
    expired = expired + reserved
    reserved_before, demand_before = 0, 0
  end
  used = used + expired * per_permit
  if used > most then used = most end
  reserved, demand, epoch = 0, 0, this_epoch
end

-- 3. report
local renewed = 1
local held = spent + returned + kept
if held > 0 then
  if since == epoch then
    reserved = reserved > held and reserved - held or 0
  elseif since + 1 == epoch then
    reserved_before = reserved_before > held and reserved_before - held or 0
  else
    renewed = 0
  end
  if renewed == 1 then
    used = used + spent * per_permit
    if used > most then used = most end
    reserved = reserved + kept
    if reserved > most_reserved then reserved = most_reserved end
  end
end
if debt > 0 then
  used = used + debt * per_permit
  if used > most then used = most end
end
if refund > 0 then
  local undone = refund * per_permit
  used = used > undone and used - undone or 0
end

-- 4. demand
demand = demand + new_demand
if demand > 100000000 then demand = 100000000 end
local all = demand_before * (epoch_length - phase)
all = (all - all % epoch_length) / epoch_length + demand
if all < expected then all = expected end
if all < 1 then all = 1 end
local share = expected * 1000000
share = (share - share % all) / all

-- 5. take
local capacity = burst * per_permit
local room = capacity - used - (reserved + reserved_before) * per_permit
local taken, is_refused = 0, false
if take > 0 then
  local ticks = take * per_permit
  if room >= ticks then
    taken = (room - room % ticks) / ticks
    if taken > times then taken = times end
    used = used + taken * ticks
    room = room - taken * ticks
  end
  is_refused = taken < times
end

-- 6. wanted
local grant, lease = 0, 0
if wanted > 0 then
  local there = (room - room % per_permit) / per_permit
  if there >= 1 and not is_refused then
    grant = there * share
    grant = (grant - grant % 1000000) / 1000000
    if grant < 1 then grant = 1 end
    if grant > wanted then grant = wanted end
  end
  local ahead = there - grant + presale
  if ahead >= 1 then
    lease = presale * share
    lease = (lease - lease % 1000000) / 1000000 - kept
    if lease < 0 then lease = 0 end
    if lease > wanted - grant then lease = wanted - grant end
    if lease > ahead then lease = ahead end
  end
  reserved = reserved + grant + lease
  room = room - (grant + lease) * per_permit
end

-- 7. deny_for
local deny_for = 0
if (is_refused or take == 0 and wanted > 0) and grant + lease == 0 then
  local over = (take > 0 and take or 1) * per_permit - room
  if over < 0 then over = 0 end
  deny_for = over < used and over or used
  deny_for = (deny_for + -deny_for % per_micro) / per_micro
  if over > used and deny_for < horizon then deny_for = horizon end
end

-- To say how long a key lives is the dearest part of writing it. So two epochs more are said than
-- needed, and nothing as long as that is enough.
local gone = capacity - room
local forgotten_at = now + (gone + -gone % per_micro) / per_micro + 2 * epoch_length
local is_enough = dies * epoch_length >= forgotten_at
local until_us = forgotten_at + 2 * epoch_length
if not is_enough then dies = (until_us - until_us % epoch_length) / epoch_length end
local value = struct.pack('<BI7I7I4I4I4I4I7I4I2', 87, used, now, reserved, reserved_before, demand,
                          demand_before, per_permit, epoch_length,
                          dies - epoch < 65535 and dies - epoch or 65535)
if is_enough then
  redis.call('SET', KEYS[1], value, 'KEEPTTL')
else
  local life = until_us - now
  redis.call('SET', KEYS[1], value, 'PX', (life + -life % 1000) / 1000 + 1 + slack)
end
return struct.pack('<ddddddddd', taken, renewed, grant, lease, epoch, lease > 0 and horizon or 0,
                   deny_for, (room - room % per_permit) / per_permit, share)
)lua";

constexpr std::size_t kPlainNumbers = 12;
constexpr std::size_t kAnswers = 9;
constexpr std::size_t kStored = 44;  // bytes

// As the script reads and writes them: eight bytes each, the lowest first.
constexpr std::size_t kNumber = 8;

char* WriteNumber(std::uint64_t number, char* to) {
  auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(number));
  for (std::size_t i = 0; i < kNumber; ++i, bits >>= 8) *to++ = static_cast<char>(bits & 0xff);
  return to;
}

// The lowest byte first.
std::uint64_t ReadWhole(std::string_view bytes) {
  std::uint64_t whole = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    whole = whole << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return whole;
}

// Nothing if there are more or fewer, or one is not whole, or more than a script counts.
template <std::size_t Size>
std::optional<std::array<std::int64_t, Size>> ReadNumbers(std::string_view bytes) {
  if (bytes.size() != Size * kNumber) return std::nullopt;
  std::array<std::int64_t, Size> numbers{};
  for (std::int64_t& whole : numbers) {
    const auto number = std::bit_cast<double>(ReadWhole(bytes.substr(0, kNumber)));
    if (!(std::abs(number) <= 0x1p53) || number != std::trunc(number)) return std::nullopt;
    whole = static_cast<std::int64_t>(number);
    bytes.remove_prefix(kNumber);
  }
  return numbers;
}

std::uint64_t Count(Micros time) { return static_cast<std::uint64_t>(time.count()); }

}  // namespace

std::string_view SyncScript() { return kScript; }

void AppendLoadCommand(std::string& out) {
  wire::AppendRespCommand({"SCRIPT", "LOAD", kScript}, out);
}

void AppendSyncCommand(const SyncRequest& request, std::string_view key, ScriptTime time,
                       std::string& out) {
  static const std::string kDigest = ScriptDigest(kScript);
  const Terms& terms = *request.terms;
  // What can be cut without a difference is cut here, so that the script's sums stay exact.
  const std::array<std::uint64_t, 20> numbers = {
      time.now,
      static_cast<std::uint64_t>(time.slack.count()),
      terms.ticks_per_micro,
      terms.ticks_per_permit,
      terms.burst,
      terms.max_debt,
      Count(terms.horizon),
      Count(terms.epoch),
      request.take,
      request.times,
      std::min(request.demand, Account::kMostDemand),
      std::min(request.expected, Account::kMostDemand),
      // A plain take ends here.
      terms.presale,
      std::min(request.debt, terms.burst + terms.max_debt),
      std::min(request.refund, terms.burst + terms.max_debt),
      request.spent,
      request.returned,
      request.kept,
      request.epoch,
      std::min(request.wanted, terms.burst + terms.presale),
  };
  std::array<char, numbers.size() * kNumber> told{};
  const std::size_t count = request.is_plain() ? kPlainNumbers : numbers.size();
  char* end = told.data();
  for (std::size_t i = 0; i < count; ++i) end = WriteNumber(numbers[i], end);
  wire::RespWriter writer(out, wire::RespVersion::k2);
  writer.Array(5);
  writer.Bulk("EVALSHA");
  writer.Bulk(kDigest);
  writer.Bulk("1");
  writer.Bulk(key);
  writer.Bulk({told.data(), static_cast<std::size_t>(end - told.data())});
}

std::optional<Account> ReadAccount(std::string_view stored) {
  if (stored.size() != kStored || stored.front() != 'W') return std::nullopt;
  stored.remove_prefix(1);
  const auto next = [&](std::size_t size) {
    const std::uint64_t number = ReadWhole(stored.substr(0, size));
    stored.remove_prefix(size);
    return number;
  };
  Account account;
  account.used = next(7);
  account.at = next(7);
  account.reserved = next(4);
  account.reserved_before = next(4);
  account.demand = next(4);
  account.demand_before = next(4);
  account.per_permit = next(7);
  account.epoch_length = next(4);
  if (account.epoch_length == 0) return std::nullopt;
  account.epoch = account.at / account.epoch_length;
  return account;
}

std::optional<SyncReply> ReadSyncAnswer(wire::RespValue answer) {
  const auto numbers = ReadNumbers<kAnswers>(answer.is_text() ? answer.text() : "");
  if (!numbers) return std::nullopt;
  const auto [taken, renewed, grant, lease, epoch, lease_for, deny_for, tokens, share] = *numbers;
  if (std::min({taken, grant, lease, epoch, lease_for, deny_for, share}) < 0) return std::nullopt;
  return SyncReply{.outcome = Outcome::kDone,
                   .taken = static_cast<std::uint64_t>(taken),
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
