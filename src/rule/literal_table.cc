#include "rule/literal_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <tuple>

#include "base/byte_words.h"
#include "base/check.h"
#include "base/same_few.h"

namespace weir::rule {
namespace {

// Texts are few and short, and were chosen by whoever wrote the rules: what counts is that a value
// is looked up in few instructions. All of a text of up to 32 characters goes into it.
std::uint64_t Hash(LiteralTable::SetNumber set, std::string_view text) {
  const char* const at = text.data();
  const std::size_t size = text.size();
  if (size > 32) return XXH3_64bits_withSeed(at, size, set);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (size >= 8) {
    first = LoadWord(at);
    last = LoadWord(at + size - 8);
    if (size > 16) {
      first ^= std::rotl(LoadWord(at + 8), 21);
      last ^= std::rotl(LoadWord(at + size - 16), 43);
    }
  } else {
    first = LoadUpToWord(text);
  }
  std::uint64_t hash = (first ^ (set + size) * 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93;
  hash = ((hash ^ hash >> 32) + last) * 0x9E3779B97F4A7C15;
  return hash ^ hash >> 32;
}

std::uint32_t Tag(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

}  // namespace

LiteralTable::Found LiteralTable::Find(SetNumber set, std::string_view text) const {
  const std::uint64_t hash = Hash(set, text);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask; slots_[i].record != 0; i = (i + 1) & mask) {
    if (slots_[i].tag != Tag(hash)) continue;
    const std::uint32_t* at = lines_.data()->words.data() + (slots_[i].record - 1);
    Record record;
    std::memcpy(&record, at, sizeof record);
    const char* bytes = reinterpret_cast<const char*>(at) + sizeof record;
    if (record.set == set && SameFew({bytes, record.length}, text)) {
      return {record.packed, {bytes + record.length, record.note_length}};
    }
  }
  return {};
}

void LiteralTable::Builder::Add(SetNumber set, std::string_view text, std::uint32_t number,
                                std::string_view note) {
  WEIR_CHECK(set < sets_ && number < kMostNumbers);
  WEIR_CHECK(std::max(text.size(), note.size()) <= std::numeric_limits<std::uint16_t>::max());
  const auto [place, is_new] = places_.try_emplace({set, std::string(text)}, literals_.size());
  if (is_new) literals_.push_back({set, std::string(text), {}, {}});
  literals_[place->second].numbers.push_back(number);
  literals_[place->second].note = note;
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
  made_.slots_.resize(std::bit_ceil(literals_.size() * 4 / 3 + 1));
  for (const Literal& literal : literals_) Insert(literal);
  MakeShapes();
  return std::move(made_);
}

void LiteralTable::Builder::Insert(const Literal& literal) {
  const std::string& text = literal.text;
  const Record record = {literal.set, Pack(literal.numbers),
                         static_cast<std::uint16_t>(text.size()),
                         static_cast<std::uint16_t>(literal.note.size())};
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  const std::string bytes = text + literal.note;
  std::uint32_t* words = NewRecord((sizeof record + bytes.size() + kWord - 1) / kWord);
  std::memcpy(words, &record, sizeof record);
  std::memcpy(words + sizeof record / kWord, bytes.data(), bytes.size());
  const std::uint64_t hash = Hash(literal.set, text);
  const std::size_t mask = made_.slots_.size() - 1;
  std::size_t i = hash & mask;
  while (made_.slots_[i].record != 0) i = (i + 1) & mask;
  made_.slots_[i] = {Tag(hash),
                     static_cast<std::uint32_t>(words - made_.lines_.data()->words.data() + 1)};
}

std::uint32_t* LiteralTable::Builder::NewRecord(std::size_t words) {
  constexpr std::size_t kLine = std::tuple_size_v<decltype(Line::words)>;
  const std::size_t left = (kLine - words_ % kLine) % kLine;
  if (words > left && words <= kLine) words_ += left;
  const std::size_t begin = words_;
  words_ += words;
  made_.lines_.resize((words_ + kLine - 1) / kLine);
  return made_.lines_.data()->words.data() + begin;
}

void LiteralTable::Builder::MakeShapes() {
  std::sort(literals_.begin(), literals_.end(), [](const Literal& a, const Literal& b) {
    return std::pair(a.set, a.text.size()) < std::pair(b.set, b.text.size());
  });
  made_.sets_.resize(sets_);
  for (SetNumber number = 0; number < sets_; ++number) made_.sets_[number].number = number;
  for (const Literal& literal : literals_) {
    Set& set = made_.sets_[literal.set];
    set.lengths |= std::uint64_t{1} << literal.text.size() % 64;
    if (literal.text.empty()) {
      set.of_empty = Pack(literal.numbers);
      continue;
    }
    const auto length = static_cast<std::uint32_t>(literal.text.size());
    const bool is_first = set.shapes_begin == set.shapes_end;
    if (is_first || made_.shapes_.back().length != length) {
      if (is_first) set.shapes_begin = static_cast<std::uint32_t>(made_.shapes_.size());
      made_.shapes_.push_back({length, 0, 0});
      set.shapes_end = static_cast<std::uint32_t>(made_.shapes_.size());
    }
    made_.shapes_.back().beginnings |= BitOfBeginning(literal.text);
    made_.shapes_.back().lasts |= BitOf(literal.text.back());
    set.firsts |= BitOf(literal.text.front());
  }
}

}  // namespace weir::rule
