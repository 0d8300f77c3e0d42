#include "rule/value_classes.h"

#include <utility>

namespace weir::rule {

ValueClasses::ValueClasses(const PatternTrie& trie) : trie_(trie) { Begin(); }

void ValueClasses::Begin() {
  cells_.clear();
  leaps_.assign(kLeaps, {});
  classes_.clear();
  sets_.clear();
  rows_.clear();
  start_ = AddRow(trie_.Start());
}

std::uint32_t ValueClasses::AddRow(PatternTrie::Nodes set) {
  const auto row = static_cast<std::uint32_t>(cells_.size());
  cells_.resize(cells_.size() + kRow, kNotKnown);
  classes_.push_back(ClassOf(set));
  rows_.emplace(set, row);
  sets_.push_back(std::move(set));
  return row;
}

ValueClasses::Class ValueClasses::ClassOf(const PatternTrie::Nodes& set) {
  PatternTrie::Told told = trie_.TellOf(set);
  if (!told.is_certain) return kUnknown;
  constexpr std::size_t kMost = 0x7FFF;
  const auto known = by_patterns_.find(told.patterns);
  if (known != by_patterns_.end()) return known->second;
  if (by_patterns_.size() == kMost) return kUnknown;
  const auto next = static_cast<Class>(kFirst + by_patterns_.size());
  return by_patterns_.emplace(std::move(told.patterns), next).first->second;
}

[[gnu::always_inline]] inline std::uint32_t ValueClasses::AfterEight(std::uint32_t row,
                                                                     const char* at) {
  const std::uint32_t* const cells = cells_.data();
  const std::uint32_t from = row;
  const auto step = [&](std::size_t i) {
    row = cells[std::size_t{row} + static_cast<unsigned char>(at[i])];
    return row < kSettled;
  };
  static_assert(kWordBytes == 8);
  static_cast<void>(step(0) && step(1) && step(2) && step(3) && step(4) && step(5) && step(6) &&
                    step(7));
  if (row == kNotKnown) return row;
  const std::uint64_t word = LoadWord(at);
  Leap& leap = leaps_[PlaceOf(from, word)];
  if (leap.candidate == word) leap = {word, from, row, 0};
  leap.candidate = word;
  return row;
}

ValueClasses::Class ValueClasses::OfNewRest(std::uint32_t row, const char* at,
                                            std::string_view value) {
  return OfRest<OnNew::kRead>(row, at, value);
}

ValueClasses::Class ValueClasses::Learn(std::string_view value) {
  std::uint32_t row = start_;
  std::size_t added = 0;
  for (const char c : value) {
    const std::size_t cell = row + static_cast<unsigned char>(c);
    if (cells_[cell] == kNotKnown) {
      PatternTrie::Nodes set = trie_.Step(sets_[row / kRow], c);
      if (trie_.IsSettled(set)) {
        cells_[cell] = kSettled | ClassOf(set);
      } else if (const auto known = rows_.find(set); known != rows_.end()) {
        cells_[cell] = known->second;
      } else {
        if (sets_.size() == kMostRows) {
          Begin();
          return kUnknown;
        }
        if (added++ == kMostNew) return kUnknown;
        const std::uint32_t next = AddRow(std::move(set));  // moves the cells
        cells_[cell] = next;
      }
    }
    row = cells_[cell];
    if (row >= kSettled) return static_cast<Class>(row);
  }
  return classes_[row / kRow];
}

}  // namespace weir::rule
