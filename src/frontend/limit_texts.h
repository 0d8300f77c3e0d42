// What an answer to a Redis client says of a limit each time, remembered: the same few limits
// decide nearly everything.
//
//   $3 CR LF api CR LF :100 CR LF
//
// Thread safety: none; a thread has its own, LimitTexts::OfThread().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "service/checker.h"

namespace weir {

// The name of its rule, and how many it lets through. Copied in whole blocks: what stands behind
// the text is written too, and is nothing.
class alignas(128) LimitText {
 public:
  static constexpr std::size_t kMost = 64;  // bytes

  // Returns where it ends. REQUIRES: room for kMost
  char* Put(char* to) const {
    std::memcpy(to, text_.data(), kMost / 2);
    if (size_ > kMost / 2) std::memcpy(to + kMost / 2, text_.data() + kMost / 2, kMost / 2);
    return to + size_;
  }

 private:
  friend class LimitTexts;

  [[nodiscard]] bool IsOf(const Finding& finding, std::uint64_t rules) const {
    return limit_ == finding.limit && rule_ == finding.rule && rules_ == rules;
  }

  // Whose it is: pointers alone may be those of other rules later.
  std::uint64_t rules_ = 0;
  const rule::CompiledRule* rule_ = nullptr;
  const Limit* limit_ = nullptr;
  std::size_t size_ = 0;
  std::array<char, kMost> text_{};
};

class LimitTexts {
 public:
  static LimitTexts& OfThread();

  // `rules`: the serial number of the namespace (rule::Space) that the finding is from. Null if it
  // is not known yet: it is the next time, unless it is too long or another one takes its place.
  // What is found stays as it is until the next call. REQUIRES: the finding has a limit
  const LimitText* Find(const Finding& finding, std::uint64_t rules) {
    const std::size_t place = PlaceOf(finding);
    const LimitText& text = texts_[place];
    return text.IsOf(finding, rules) ? &text : FindBeside(finding, rules, place);
  }

 private:
  static constexpr std::size_t kEntries = 256;

  // Rules may share a limit, and a rule may have several.
  static std::size_t PlaceOf(const Finding& finding) {
    constexpr std::size_t kApart = 32;  // bytes that rules are at least, and limits
    const auto rule = reinterpret_cast<std::uintptr_t>(finding.rule);
    const auto limit = reinterpret_cast<std::uintptr_t>(finding.limit);
    static_assert(sizeof(rule::CompiledRule) >= kApart && sizeof(Limit) >= kApart);
    return (rule * 3 + limit) / kApart % kEntries;
  }
  // Two that belong in one place are both remembered, side by side: they may come in turns.
  [[gnu::noinline]] const LimitText* FindBeside(const Finding& finding, std::uint64_t rules,
                                                std::size_t place);

  std::array<LimitText, kEntries> texts_{};
};

}  // namespace weir
