// Sets of texts, and the numbers each leads to: the one structure that all of the match index is
// made of.
//
// It answers which texts of a set a value is, begins with or ends with. Each question costs one
// look into a hash table per length that occurs in the set, and most lengths are ruled out by the
// first and the last character; how many texts there are does not matter.
//
// Thread safety: a finished table is never changed.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::rule {

// What was found. Room for what a request usually finds, without allocation.
using Hits = absl::InlinedVector<std::uint32_t, 32>;

class LiteralTable {
 public:
  class Builder;
  // Numbers below kMostNumbers: one of them, or where several begin.
  using Packed = std::uint32_t;
  using SetNumber = std::uint32_t;
  static constexpr std::uint32_t kMostNumbers = std::uint32_t{1} << 31;
  static constexpr Packed kNothing = ~Packed{0};

  // What the table knows of a set by heart.
  struct Set {
    SetNumber number = 0;
    std::uint32_t shapes_begin = 0;
    std::uint32_t shapes_end = 0;
    Packed of_empty = kNothing;  // what the empty text leads to
    std::uint64_t firsts = 0;    // bits of the first characters of all other texts
    std::uint64_t lengths = 0;   // bits of the lengths of all texts, counted around

    [[nodiscard]] bool empty() const { return shapes_begin == shapes_end && of_empty == kNothing; }
    // May one of the texts begin here?
    [[nodiscard]] bool MayBegin(std::string_view text) const {
      return of_empty != kNothing || (!text.empty() && (firsts & BitOf(text.front())) != 0);
    }
    // May this be one of the texts?
    [[nodiscard]] bool MayHold(std::string_view text) const {
      return (lengths >> text.size() % 64 & 1) != 0 && MayBegin(text);
    }
  };

  [[nodiscard]] Set set(SetNumber number) const { return sets_[number]; }

  // What a text leads to: numbers, and a note that was left with them.
  struct Found {
    Packed packed = kNothing;
    std::string_view note;
  };

  [[nodiscard]] Found Find(SetNumber set, std::string_view text) const;

  // Calls visit(length, found) for each text of `set` that `value` begins with.
  template <typename Visit>
  void ForEachPrefixOf(std::string_view value, const Set& set, Visit visit) const {
    if (set.of_empty != kNothing) visit(std::size_t{0}, Found{set.of_empty, {}});
    if (value.empty()) return;
    // All its beginnings begin alike.
    const std::uint64_t if_short = BitOf(value.front());
    const std::uint64_t if_long = BitOfBeginning(value);
    for (std::uint32_t i = set.shapes_begin; i < set.shapes_end; ++i) {
      const Shape& shape = shapes_[i];
      const std::size_t length = shape.length;
      if (length > value.size()) return;
      if ((shape.beginnings & (length < kBeginning ? if_short : if_long)) == 0) continue;
      if ((shape.lasts & BitOf(value[length - 1])) == 0) continue;
      const Found found = Find(set.number, value.substr(0, length));
      if (found.packed != kNothing) visit(length, found);
    }
  }

  // The same for each that `value` ends with and that has at least `shortest` characters.
  template <typename Visit>
  void ForEachSuffixOf(std::string_view value, std::size_t shortest, const Set& set,
                       Visit visit) const {
    if (set.of_empty != kNothing && shortest == 0) visit(std::size_t{0}, Found{set.of_empty, {}});
    for (std::uint32_t i = set.shapes_begin; i < set.shapes_end; ++i) {
      const std::size_t length = shapes_[i].length;
      if (length > value.size()) return;
      if (length < shortest) continue;
      const std::string_view text = value.substr(value.size() - length);
      if (!shapes_[i].MayHold(text)) continue;
      const Found found = Find(set.number, text);
      if (found.packed != kNothing) visit(length, found);
    }
  }

  template <typename Visit>
  void Unpack(Packed packed, Visit visit) const {
    if (packed < kMostNumbers) return visit(packed);
    const std::uint32_t* list = lists_.data() + (packed - kMostNumbers);
    for (std::uint32_t i = 1; i <= list[0]; ++i) visit(list[i]);
  }

  void Append(Packed packed, Hits& hits) const {
    if (packed == kNothing) return;
    Unpack(packed, [&](std::uint32_t number) { hits.push_back(number); });
  }

 private:
  // Texts of one length, and bits of how they begin and of their last characters.
  struct Shape {
    std::uint32_t length = 0;
    std::uint64_t beginnings = 0;
    std::uint64_t lasts = 0;

    [[nodiscard]] bool MayHold(std::string_view text) const {
      return (lasts & BitOf(text.back())) != 0 && (beginnings & BitOfBeginning(text)) != 0;
    }
  };
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t record = 0;  // its first word, counted from 1; 0: the slot is free
  };
  // Records lie one behind the other, each on one line of the cache if it fits.
  struct alignas(64) Line {
    std::array<std::uint32_t, 16> words;
  };
  // Followed by the text and the note.
  struct Record {
    SetNumber set;
    Packed packed;
    std::uint16_t length;
    std::uint16_t note_length;
  };

  // One of 64 bits; digits, letters and the usual signs have different ones.
  static std::uint64_t BitOf(char c) {
    const unsigned code = static_cast<unsigned char>(c);
    return std::uint64_t{1} << ((code & 31) | (code >> 1 & 32));
  }
  static constexpr std::size_t kBeginning = 4;
  // Of the first four characters, if there are as many. REQUIRES: there is one
  static std::uint64_t BitOfBeginning(std::string_view text) {
    std::uint32_t four = 0;
    static_assert(sizeof four == kBeginning);
    if (text.size() < kBeginning) return BitOf(text.front());
    std::memcpy(&four, text.data(), sizeof four);
    constexpr std::uint32_t kGoldenRatio = 0x9E3779B1;
    return std::uint64_t{1} << (four * kGoldenRatio >> 26);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1);  // a power of two of them, never all in use
  std::vector<Line> lines_;
  std::vector<std::uint32_t> lists_;  // each its length, then its numbers
  std::vector<Set> sets_;
  std::vector<Shape> shapes_;
};

class LiteralTable::Builder {
 public:
  SetNumber NewSet() { return sets_++; }
  // Numbers that are given for one text are found together; of several notes the last is kept.
  void Add(SetNumber set, std::string_view text, std::uint32_t number, std::string_view note = {});
  // Numbers that are found without a text.
  Packed Pack(std::span<const std::uint32_t> numbers);
  LiteralTable Build() &&;

 private:
  struct Literal {
    SetNumber set;
    std::string text;
    std::vector<std::uint32_t> numbers;
    std::string note;
  };

  void Insert(const Literal& literal);
  std::uint32_t* NewRecord(std::size_t words);
  void MakeShapes();

  SetNumber sets_ = 0;
  std::vector<Literal> literals_;
  absl::flat_hash_map<std::pair<SetNumber, std::string>, std::size_t> places_;
  std::size_t words_ = 0;  // of records, so far
  LiteralTable made_;
};

}  // namespace weir::rule
