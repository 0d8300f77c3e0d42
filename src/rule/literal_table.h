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

#include <cstddef>
#include <cstdint>
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
    bool holds_empty = false;
    std::uint64_t firsts = 0;  // the first characters of all its texts, see Bit()

    [[nodiscard]] bool empty() const { return shapes_begin == shapes_end; }
    // May one of the texts begin here?
    [[nodiscard]] bool MayBegin(std::string_view text) const {
      return holds_empty || (!text.empty() && (firsts & Bit(text.front())) != 0);
    }
  };

  [[nodiscard]] Set set(SetNumber number) const { return sets_[number]; }

  [[nodiscard]] Packed Find(SetNumber set, std::string_view text) const;

  // Calls visit(length, packed) for each text of `set` that `value` begins with.
  template <typename Visit>
  void ForEachPrefixOf(std::string_view value, const Set& set, Visit visit) const {
    for (std::uint32_t i = set.shapes_begin; i < set.shapes_end; ++i) {
      if (shapes_[i].length > value.size()) return;
      VisitIfIn(set, shapes_[i], value.substr(0, shapes_[i].length), visit);
    }
  }

  // The same for each that `value` ends with and that has at least `shortest` characters.
  template <typename Visit>
  void ForEachSuffixOf(std::string_view value, std::size_t shortest, const Set& set,
                       Visit visit) const {
    for (std::uint32_t i = set.shapes_begin; i < set.shapes_end; ++i) {
      const std::size_t length = shapes_[i].length;
      if (length > value.size()) return;
      if (length < shortest) continue;
      VisitIfIn(set, shapes_[i], value.substr(value.size() - length), visit);
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
  // Texts of one length, and a bit for each of their first and last characters.
  struct Shape {
    std::uint32_t length = 0;
    std::uint64_t firsts = 0;
    std::uint64_t lasts = 0;
  };
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t record = 0;  // where in records_, from 1; 0: free
  };
  // Followed by the text, so that both lie on one line of the cache.
  struct Record {
    SetNumber set;
    Packed packed;
    std::uint32_t length;
  };

  static std::uint64_t Bit(char c) { return std::uint64_t{1} << (static_cast<unsigned>(c) & 63); }

  template <typename Visit>
  void VisitIfIn(const Set& set, const Shape& shape, std::string_view text, Visit& visit) const {
    if (!text.empty() &&
        ((shape.firsts & Bit(text.front())) == 0 || (shape.lasts & Bit(text.back())) == 0)) {
      return;
    }
    const Packed packed = Find(set.number, text);
    if (packed != kNothing) visit(text.size(), packed);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1);  // a power of two of them, at most half in use
  std::vector<std::uint32_t> records_;
  std::vector<std::uint32_t> lists_;  // each its length, then its numbers
  std::vector<Set> sets_;
  std::vector<Shape> shapes_;
};

class LiteralTable::Builder {
 public:
  SetNumber NewSet() { return sets_++; }
  void Add(SetNumber set, std::string_view text, std::uint32_t number);
  // Numbers that are found without a text.
  Packed Pack(std::span<const std::uint32_t> numbers);
  LiteralTable Build() &&;

 private:
  struct Literal {
    SetNumber set;
    std::string text;
    std::vector<std::uint32_t> numbers;
  };

  void Insert(const Literal& literal);
  void MakeShapes();

  SetNumber sets_ = 0;
  std::vector<Literal> literals_;
  absl::flat_hash_map<std::pair<SetNumber, std::string>, std::size_t> places_;
  LiteralTable made_;
};

}  // namespace weir::rule
