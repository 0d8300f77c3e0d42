// Values of one attribute by what the rules' patterns have to say of them: two values that match
// the same patterns are of one class.
//
// A path with a number in it is never the same twice, but its class is: it tells all that rules can
// know of it. A value is read character by character, each a look into a table that leads from what
// was known to what is known (pattern_trie.h). The table is made as values come, since most of what
// could come never does; it is bounded, and begins anew when it is full.
//
// Thread safety: none; a thread has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/byte_words.h"
#include "rule/pattern_trie.h"

namespace weir::rule {

class ValueClasses {
 public:
  using Class = std::uint16_t;
  static constexpr Class kUnknown = 0;  // it takes more than reading to tell
  static constexpr Class kAbsent = 1;   // there is no value
  static constexpr Class kFirst = 2;    // of all others

  // Of 1 KiB each.
  static constexpr std::size_t kMostRows = 1024;
  // That one value may add: who sends what nobody has sent before does not make others wait.
  static constexpr std::size_t kMostNew = 64;

  // `trie` outlives it.
  explicit ValueClasses(const PatternTrie& trie);

  [[nodiscard, gnu::always_inline]] Class Of(std::string_view value) {
    return OfRest<OnNew::kLeave>(start_, value.data(), value);
  }

  [[nodiscard]] std::size_t rows() const { return sets_.size(); }

 private:
  // What is done with eight characters that were not read before: whoever leaves them to another
  // function saves no registers for it.
  enum class OnNew : std::uint8_t { kLeave, kRead };

  // Of what lies from `at` on, where `row` is what is known so far.
  template <OnNew Action>
  [[nodiscard, gnu::always_inline]] Class OfRest(std::uint32_t row, const char* at,
                                                 std::string_view value) {
    const std::uint32_t* const cells = cells_.data();
    const char* const end = value.data() + value.size();
    // Eight characters at a time, in one step where they were read before.
    while (static_cast<std::size_t>(end - at) >= kWordBytes) {
      const std::uint64_t word = LoadWord(at);
      const Leap& leap = leaps_[PlaceOf(row, word)];
      if (leap.word == word && leap.from == row) {
        row = leap.to;
      } else if constexpr (Action == OnNew::kRead) {
        row = AfterEight(row, at);
      } else {
        return OfNewRest(row, at, value);
      }
      if (row >= kSettled) return ClassOfSettled(row, value);
      at += kWordBytes;
    }
    // One at a time, each of which knows its place: nothing has to be counted.
    const auto step = [&](std::size_t before_end) {
      row = cells[std::size_t{row} + static_cast<unsigned char>(*(end - before_end))];
      return row < kSettled;
    };
    switch (end - at) {
      case 7:
        if (!step(7)) break;
        [[fallthrough]];
      case 6:
        if (!step(6)) break;
        [[fallthrough]];
      case 5:
        if (!step(5)) break;
        [[fallthrough]];
      case 4:
        if (!step(4)) break;
        [[fallthrough]];
      case 3:
        if (!step(3)) break;
        [[fallthrough]];
      case 2:
        if (!step(2)) break;
        [[fallthrough]];
      case 1:
        if (!step(1)) break;
        [[fallthrough]];
      default:
        return classes_[row / kRow];
    }
    return ClassOfSettled(row, value);
  }
  // OfRest() that begins with characters that were not read before.
  [[gnu::noinline]] Class OfNewRest(std::uint32_t row, const char* at, std::string_view value);

  static constexpr std::uint32_t kRow = 256;
  // What a cell leads to: a row, by the place of its first cell; or a class, if it cannot change
  // any more.
  static constexpr std::uint32_t kSettled = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kNotKnown = ~std::uint32_t{0};

  // From one row to another by eight characters; what is found this way is what single steps find.
  // What comes twice in a row takes the place of another: numbers that never come again do not.
  struct Leap {
    std::uint64_t word = 0;
    std::uint32_t from = kNotKnown;
    std::uint32_t to = 0;
    std::uint64_t candidate = 0;  // the word that came here last, and is not the one above
  };
  static constexpr std::size_t kLeaps = 1024;
  static std::size_t PlaceOf(std::uint32_t row, std::uint64_t word) {
    static_assert(kLeaps == std::size_t{1} << 10);
    return (word ^ row) * 0x9E3779B97F4A7C15 >> (64 - 10);  // where all of the word is felt
  }
  // The row behind the eight characters at `at`, which are read one by one, or what is known before
  // the last of them. Remembers it as a leap.
  std::uint32_t AfterEight(std::uint32_t row, const char* at);
  // REQUIRES: row >= kSettled
  [[gnu::always_inline]] Class ClassOfSettled(std::uint32_t row, std::string_view value) {
    return row != kNotKnown ? static_cast<Class>(row) : Learn(value);
  }
  // Of(), where something is new on the way.
  [[gnu::noinline]] Class Learn(std::string_view value);
  void Begin();
  std::uint32_t AddRow(PatternTrie::Nodes set);
  Class ClassOf(const PatternTrie::Nodes& set);

  const PatternTrie& trie_;
  std::uint32_t start_ = 0;
  std::vector<std::uint32_t> cells_;
  std::vector<Leap> leaps_;
  std::vector<Class> classes_;            // of a value that ends in a row
  std::vector<PatternTrie::Nodes> sets_;  // what a row stands for
  std::map<PatternTrie::Nodes, std::uint32_t> rows_;
  std::map<std::vector<std::uint32_t>, Class> by_patterns_;  // stay when rows begin anew
};

}  // namespace weir::rule
