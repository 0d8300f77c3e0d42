// The two commands whose limit comes with each request, read from their arguments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "algorithm/cell.h"
#include "base/byte_words.h"
#include "base/decimal.h"
#include "limiter/ledger.h"
#include "weir/result.h"

namespace weir {

struct CellCommand {
  using Arguments = std::span<const std::string_view>;

  // CL.THROTTLE: max_burst more than one at once; errors in redis-cell's words.
  static Result<CellCommand> OfRedisCell(Arguments arguments);
  // THROTTLE: max_burst at once; errors in throttlecrab's words.
  static Result<CellCommand> OfThrottlecrab(Arguments arguments);

  Decision Run(Ledger& ledger, Instant now) const { return Run(ledger, HashOf(ledger, key), now); }
  // The same where the hash of the key is known.
  Decision Run(Ledger& ledger, KeyHash hash, Instant now) const {
    return ledger.TakeCell(hash, cell, quantity, now);
  }
  static KeyHash HashOf(const Ledger& ledger, std::string_view key);

  // How long the key will be remembered; 0 if it is not.
  static Nanos ForgottenIn(Ledger& ledger, std::string_view key, Instant now);
  static void Forget(Ledger& ledger, std::string_view key, Instant now);

  std::string_view key;
  algorithm::Cell cell;
  Permits quantity;
  std::int64_t limit;  // as it is told
};

// Reads commands of one of the two kinds. Clients use the same limit again and again: the last one
// is kept with the words it was said in, and is neither read nor worked out again.
class CellReader {
 public:
  using Arguments = CellCommand::Arguments;
  using ReadAll = Result<CellCommand> (*)(Arguments);

  explicit CellReader(ReadAll read) : read_(read) {}

  // Until the next call.
  const Result<CellCommand>& Read(Arguments arguments) {
    const bool has_quantity = arguments.size() == kLimitEnd + 1;
    if ((has_quantity || arguments.size() == kLimitEnd) && IsLastLimit(arguments)) [[likely]] {
      const std::int64_t quantity =
          has_quantity ? ReadDecimal(arguments[kLimitEnd]).value_or(-1) : 1;
      if (quantity >= 0) [[likely]] {
        last_->key = arguments[1];
        last_->quantity = Permits{static_cast<std::uint64_t>(quantity)};
        return last_;
      }
    }
    return ReadAnew(arguments);
  }

 private:
  // Where the numbers of a limit are.
  static constexpr std::size_t kLimitBegin = 2;
  static constexpr std::size_t kLimitEnd = 5;
  struct Word {
    std::size_t size = std::numeric_limits<std::size_t>::max();  // of no text: there is none
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] bool IsLastLimit(Arguments arguments) const {
    for (std::size_t i = kLimitBegin; i < kLimitEnd; ++i) {
      const Word& word = words_[i - kLimitBegin];
      if (arguments[i].size() != word.size || LoadUpToWord(arguments[i]) != word.bytes)
        return false;
    }
    return true;
  }
  const Result<CellCommand>& ReadAnew(Arguments arguments);

  ReadAll read_;
  // Of last_, if it is a command and its numbers are short.
  std::array<Word, kLimitEnd - kLimitBegin> words_{};
  Result<CellCommand> last_ = Error{};
};

}  // namespace weir
