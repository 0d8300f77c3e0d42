#include "rule/literal_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace weir::rule {
namespace {

std::uint64_t Hash(LiteralTable::SetNumber set, std::string_view text) {
  return XXH3_64bits_withSeed(text.data(), text.size(), set);
}

std::uint32_t Tag(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

}  // namespace

LiteralTable::Packed LiteralTable::Find(SetNumber set, std::string_view text) const {
  const std::uint64_t hash = Hash(set, text);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask; slots_[i].record != 0; i = (i + 1) & mask) {
    if (slots_[i].tag != Tag(hash)) continue;
    const std::uint32_t* at = records_.data() + (slots_[i].record - 1);
    Record record;
    std::memcpy(&record, at, sizeof record);
    const void* bytes = at + sizeof record / sizeof *at;
    if (record.set == set && record.length == text.size() &&
        std::memcmp(bytes, text.data(), text.size()) == 0) {
      return record.packed;
    }
  }
  return kNothing;
}

void LiteralTable::Builder::Add(SetNumber set, std::string_view text, std::uint32_t number) {
  WEIR_CHECK(set < sets_ && number < kMostNumbers);
  const auto [place, is_new] = places_.try_emplace({set, std::string(text)}, literals_.size());
  if (is_new) literals_.push_back({set, std::string(text), {}});
  literals_[place->second].numbers.push_back(number);
}

LiteralTable::Packed LiteralTable::Builder::Pack(std::span<const std::uint32_t> numbers) {
  if (numbers.empty()) return kNothing;
  if (numbers.size() == 1) return numbers[0];
  const auto begin = static_cast<std::uint32_t>(made_.lists_.size());
  made_.lists_.push_back(static_cast<std::uint32_t>(numbers.size()));
  made_.lists_.insert(made_.lists_.end(), numbers.begin(), numbers.end());
  return kMostNumbers + begin;
}

LiteralTable LiteralTable::Builder::Build() && {
  made_.slots_.resize(std::bit_ceil(2 * literals_.size() + 1));
  for (const Literal& literal : literals_) Insert(literal);
  MakeShapes();
  return std::move(made_);
}

void LiteralTable::Builder::Insert(const Literal& literal) {
  const std::string& text = literal.text;
  const Record record = {literal.set, Pack(literal.numbers),
                         static_cast<std::uint32_t>(text.size())};
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  const std::size_t begin = made_.records_.size();
  made_.records_.resize(begin + (sizeof record + text.size() + kWord - 1) / kWord);
  std::memcpy(&made_.records_[begin], &record, sizeof record);
  if (!text.empty()) {
    std::memcpy(&made_.records_[begin + sizeof record / kWord], text.data(), text.size());
  }
  const std::uint64_t hash = Hash(literal.set, text);
  const std::size_t mask = made_.slots_.size() - 1;
  std::size_t i = hash & mask;
  while (made_.slots_[i].record != 0) i = (i + 1) & mask;
  made_.slots_[i] = {Tag(hash), static_cast<std::uint32_t>(begin + 1)};
}

void LiteralTable::Builder::MakeShapes() {
  std::sort(literals_.begin(), literals_.end(), [](const Literal& a, const Literal& b) {
    return std::pair(a.set, a.text.size()) < std::pair(b.set, b.text.size());
  });
  made_.sets_.resize(sets_);
  for (SetNumber number = 0; number < sets_; ++number) made_.sets_[number].number = number;
  for (const Literal& literal : literals_) {
    Set& set = made_.sets_[literal.set];
    const auto length = static_cast<std::uint32_t>(literal.text.size());
    if (set.empty() || made_.shapes_.back().length != length) {
      if (set.empty()) set.shapes_begin = static_cast<std::uint32_t>(made_.shapes_.size());
      made_.shapes_.push_back({length, 0, 0});
      set.shapes_end = static_cast<std::uint32_t>(made_.shapes_.size());
    }
    if (length == 0) {
      set.holds_empty = true;
    } else {
      made_.shapes_.back().firsts |= Bit(literal.text.front());
      made_.shapes_.back().lasts |= Bit(literal.text.back());
      set.firsts |= Bit(literal.text.front());
    }
  }
}

}  // namespace weir::rule
