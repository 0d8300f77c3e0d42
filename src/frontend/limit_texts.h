// What the fields of an answer say of a limit each time, remembered: the same few limits decide
// nearly everything.
//
//   "api";q=100;w=60
//
// Thread safety: none; a thread has its own, LimitTexts::OfThread().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "service/checker.h"

namespace weir {

// Copied in whole blocks: what stands behind the text is written too, and is nothing.
class alignas(128) LimitText {
 public:
  static constexpr std::size_t kMost = 64;  // bytes

  // Its rule's name in quotes, and the policy behind it. Returns where it ends. REQUIRES: room for
  // kMost
  char* PutPolicy(char* to) const { return PutBytes(to, size_); }
  // The name in quotes alone.
  char* PutName(char* to) const { return PutBytes(to, name_size_); }

 private:
  friend class LimitTexts;

  char* PutBytes(char* to, std::size_t size) const {
    std::memcpy(to, text_.data(), kMost / 2);
    if (size > kMost / 2) std::memcpy(to + kMost / 2, text_.data() + kMost / 2, kMost / 2);
    return to + size;
  }

  // Whose it is: pointers alone may be those of other rules later.
  std::uint64_t rules_ = 0;
  const rule::CompiledRule* rule_ = nullptr;
  const Limit* limit_ = nullptr;
  std::uint32_t name_size_ = 0;
  std::uint32_t size_ = 0;
  std::array<char, kMost> text_{};
};

class LimitTexts {
 public:
  static LimitTexts& OfThread();

  // `rules`: the serial number of the namespace (rule::Space) that `reply` was made by. Null if it
  // is not known yet: it is the next time, unless it is too long or another one takes its place.
  // What is found stays as it is until one is not found. REQUIRES: the finding has a limit
  const LimitText* Find(const CheckReply& reply, const Finding& finding, std::uint64_t rules) {
    LimitText& text = texts_[PlaceOf(finding)];
    if (text.limit_ == finding.limit && text.rule_ == finding.rule && text.rules_ == rules) {
      return &text;
    }
    Make(reply, finding, rules, text);
    return nullptr;
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
  static void Make(const CheckReply& reply, const Finding& finding, std::uint64_t rules,
                   LimitText& text);

  std::array<LimitText, kEntries> texts_{};
};

}  // namespace weir
