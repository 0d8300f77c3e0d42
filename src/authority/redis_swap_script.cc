#include "authority/redis_swap_script.h"

#include <algorithm>
#include <array>

#include "authority/script_digest.h"
#include "base/decimal.h"
#include "wire/resp_command.h"

namespace weir::authority {
namespace {

// ARGV: whether to tell the time, then for each key what was seen, the new value, its time to live.
constexpr std::string_view kScript = R"lua(
local time = ARGV[1] == '1' and redis.call('TIME') or {'0', '0'}
local answer = {1, tonumber(time[1]), tonumber(time[2])}
for i, key in ipairs(KEYS) do
  answer[i + 3] = redis.call('GET', key) or ''
  if string.sub(answer[i + 3], 1, 9) ~= ARGV[3 * i - 1] then answer[1] = 0 end
end
if answer[1] == 0 then return answer end
for i, key in ipairs(KEYS) do
  if ARGV[3 * i] ~= '' then redis.call('SET', key, ARGV[3 * i], 'PX', ARGV[3 * i + 1]) end
end
return {1, answer[2], answer[3]}
)lua";
static_assert(kStampBytes == 9, "the script compares as many bytes");

constexpr std::size_t kNumbers = 3;  // in front of an answer

void AppendNumber(std::uint64_t number, wire::RespWriter& out) {
  std::array<char, kMostDigits> digits{};
  out.Bulk({digits.data(),
            static_cast<std::size_t>(WriteDecimal(number, digits.data()) - digits.data())});
}

}  // namespace

void AppendLoadSwapCommand(std::string& out) {
  wire::AppendRespCommand({"SCRIPT", "LOAD", kScript}, out);
}

void AppendSwapCommand(std::span<const SwapKey> keys, std::string_view prefix, SwapClock clock,
                       std::chrono::milliseconds slack, std::string& out) {
  static const std::string kDigest = ScriptDigest(kScript);
  std::string name;
  wire::RespWriter writer(out, wire::RespVersion::k2);
  writer.Array(4 + 4 * keys.size());
  writer.Bulk("EVALSHA");
  writer.Bulk(kDigest);
  AppendNumber(keys.size(), writer);
  for (const SwapKey& key : keys) {
    name = prefix;
    name += key.name;
    writer.Bulk(name);
  }
  writer.Bulk(clock == SwapClock::kOfRedis ? "1" : "0");
  for (const SwapKey& key : keys) {
    const auto ttl = std::max(key.ttl + slack, std::chrono::milliseconds(1));
    writer.Bulk(key.seen);
    writer.Bulk(key.value);
    AppendNumber(static_cast<std::uint64_t>(ttl.count()), writer);
  }
}

// [1, seconds, microseconds] or [0, seconds, microseconds, what each key holds ...]
std::optional<SwapReply> ReadSwapAnswer(wire::RespValue answer, std::size_t keys,
                                        std::vector<std::string_view>& held) {
  if (!answer.is(wire::RespKind::kArray) || answer.size() < kNumbers) return std::nullopt;
  std::array<std::int64_t, kNumbers> numbers{};
  std::size_t count = 0;
  held.clear();
  for (const wire::RespValue part : answer) {
    if (count < kNumbers) {
      if (!part.is(wire::RespKind::kInteger)) return std::nullopt;
      numbers[count++] = part.integer();
    } else {
      if (!part.is(wire::RespKind::kBulk)) return std::nullopt;
      held.push_back(part.text());
    }
  }
  const auto [is_as_seen, seconds, micros] = numbers;
  constexpr std::int64_t kLastSecond = 9'000'000'000;  // or nanoseconds do not fit
  if (seconds < 0 || seconds > kLastSecond || micros < 0 || micros >= 1'000'000) {
    return std::nullopt;
  }
  if (held.size() != (is_as_seen == 1 ? 0 : keys)) return std::nullopt;
  return SwapReply{
      .outcome = Outcome::kDone,
      .is_as_seen = is_as_seen == 1,
      .now = Instant(std::chrono::seconds(seconds) + std::chrono::microseconds(micros)),
      .held = held};
}

}  // namespace weir::authority
