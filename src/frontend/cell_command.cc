#include "frontend/cell_command.h"

#include <array>
#include <limits>
#include <optional>
#include <string>

#include "base/decimal.h"
#include "limiter/key_hash.h"
#include "rule/utf8.h"

namespace weir {
namespace {

// Keys of rules are hashed with the ledger's seed: with another, these have nothing to do with
// them.
constexpr std::uint64_t kOtherSeed = 0x6C6C65635F6C63;

// What both commands have in common, once the numbers are read.
struct Numbers {
  std::int64_t burst;
  std::int64_t count;
  std::int64_t period;
  std::int64_t quantity = 1;
};

Result<algorithm::Cell> CellOf(std::int64_t burst, const Numbers& numbers) {
  // A period that is too long to be counted in nanoseconds is as long as can be.
  constexpr std::int64_t kMostSeconds =
      std::numeric_limits<std::int64_t>::max() / 1'000'000'000 / 64;
  const std::chrono::seconds period(std::min(numbers.period, kMostSeconds));
  return algorithm::Cell::Of(Permits{static_cast<std::uint64_t>(burst)},
                             Permits{static_cast<std::uint64_t>(numbers.count)}, period);
}

// Apart from where numbers are read: texts are put together for the few who get them.
Error NotANumber(std::string_view text) {
  return Error{"Cell error: Couldn't parse as integer: " + rule::Shown(text)};
}

}  // namespace

Result<CellCommand> CellCommand::OfRedisCell(Arguments arguments) {
  if (arguments.size() < 5 || arguments.size() > 6) {
    return Error{
        "Cell error: Usage: cl.throttle <key> <max_burst> <count per period> <period> "
        "[<quantity>]"};
  }
  std::array<std::int64_t, 4> read = {0, 0, 0, 1};
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const std::optional<std::int64_t> value = ReadDecimal(arguments[i]);
    if (!value) return NotANumber(arguments[i]);
    read[i - 2] = *value;
  }
  const Numbers numbers{read[0], read[1], read[2], read[3]};
  if (numbers.count <= 0 || numbers.period <= 0) {
    return Error{"Cell error: Zero rates are not supported"};
  }
  if (numbers.burst < 0 || numbers.quantity < 0) {
    return Error{"Cell error: max_burst and quantity must not be negative"};
  }
  const std::int64_t limit =
      numbers.burst == std::numeric_limits<std::int64_t>::max() ? numbers.burst : numbers.burst + 1;
  const Result<algorithm::Cell> cell = CellOf(limit, numbers);
  if (!cell) return Error{"Cell error: " + cell.error().message};
  return CellCommand{arguments[1], *cell, Permits{static_cast<std::uint64_t>(numbers.quantity)},
                     limit};
}

Result<CellCommand> CellCommand::OfThrottlecrab(Arguments arguments) {
  if (arguments.size() < 5 || arguments.size() > 6) {
    return Error{"ERR wrong number of arguments for 'throttle' command"};
  }
  Numbers numbers{};
  numbers.quantity = 1;
  struct Field {
    const char* name;
    std::int64_t* value;
    std::int64_t least;
  };
  const Field fields[] = {{"max_burst", &numbers.burst, 1},
                          {"count_per_period", &numbers.count, 1},
                          {"period", &numbers.period, 1},
                          {"quantity", &numbers.quantity, 0}};
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const Field& field = fields[i - 2];
    const std::optional<std::int64_t> value = ReadDecimal(arguments[i]);
    if (!value || *value < field.least) return Error{std::string("ERR invalid ") + field.name};
    *field.value = *value;
  }
  const Result<algorithm::Cell> cell = CellOf(numbers.burst, numbers);
  if (!cell) return Error{"ERR Rate limit check failed: " + cell.error().message};
  return CellCommand{arguments[1], *cell, Permits{static_cast<std::uint64_t>(numbers.quantity)},
                     numbers.burst};
}

const Result<CellCommand>& CellReader::ReadAnew(Arguments arguments) {
  words_ = {};
  last_ = read_(arguments);
  if (!last_) return last_;
  std::array<Word, kLimitEnd - kLimitBegin> words;
  for (std::size_t i = kLimitBegin; i < kLimitEnd; ++i) {
    if (arguments[i].size() > kWordBytes) return last_;
    words[i - kLimitBegin] = {arguments[i].size(), LoadUpToWord(arguments[i])};
  }
  words_ = words;
  return last_;
}

KeyHash CellCommand::HashOf(const Ledger& ledger, std::string_view key) {
  return HashKey(key, ledger.seed() ^ kOtherSeed);
}

Nanos CellCommand::ForgottenIn(Ledger& ledger, std::string_view key, Instant now) {
  static const algorithm::Cell kAny =
      algorithm::Cell::Of(Permits{1}, Permits{1}, std::chrono::seconds(1)).value();
  return ledger.TakeCell(HashOf(ledger, key), kAny, Permits{0}, now).reset_after;
}

void CellCommand::Forget(Ledger& ledger, std::string_view key, Instant now) {
  ledger.ForgetCell(HashOf(ledger, key), now);
}

}  // namespace weir
