// What the fields of an answer say each time about the limits that a request is under, remembered:
// the same few sets of limits decide nearly everything.
//
//   RateLimit-Policy: "api";q=100;w=60, "login";q=5;w=1 CR LF RateLimit:      all of it
//   "api";r=      "login";r=                                                  behind that, each
//
// Thread safety: none; a thread has its own, FieldTexts::OfThread().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "service/checker.h"

namespace weir {

// Of one set. Copied in whole blocks: what stands behind a text is written too, and is nothing.
class alignas(64) FieldText {
 public:
  static constexpr std::size_t kMostLimits = 4;
  static constexpr std::size_t kMostPolicies = 256;  // bytes
  static constexpr std::size_t kMostName = 64;

  // Each returns where it ends. REQUIRES: room for that many bytes
  char* PutPolicies(char* to) const {
    constexpr std::size_t kBlock = 64;
    for (std::size_t at = 0; at < policies_size_; at += kBlock) {
      std::memcpy(to + at, policies_.data() + at, kBlock);
    }
    return to + policies_size_;
  }
  char* PutName(std::size_t limit, char* to) const {
    const Name& name = names_[limit];
    std::memcpy(to, name.text.data(), kMostName / 2);
    if (name.size > kMostName / 2) {
      std::memcpy(to + kMostName / 2, name.text.data() + kMostName / 2, kMostName / 2);
    }
    return to + name.size;
  }

 private:
  friend class FieldTexts;

  struct Name {
    std::uint32_t size = 0;
    std::array<char, kMostName> text{};
  };
  // Whose it is: pointers alone may be those of other rules later.
  struct Whose {
    const rule::CompiledRule* rule = nullptr;
    const Limit* limit = nullptr;
  };

  [[nodiscard]] bool IsOf(std::span<const Finding> findings, std::uint64_t rules) const {
    if (rules_ != rules || count_ != findings.size()) return false;
    const Whose* whose = whose_.data();
    for (const Finding& finding : findings) {
      if (finding.limit != whose->limit || finding.rule != whose->rule) return false;
      if (!finding.enforced) return false;
      ++whose;
    }
    return true;
  }

  std::uint64_t rules_ = 0;
  std::size_t count_ = 0;
  std::size_t policies_size_ = 0;
  std::array<Whose, kMostLimits> whose_{};
  std::array<Name, kMostLimits> names_{};
  std::array<char, kMostPolicies> policies_{};
};

class FieldTexts {
 public:
  static FieldTexts& OfThread();

  // `rules`: the serial number of the namespace (rule::Space) that `reply` was made by. Null if
  // they are not known yet: they are the next time, unless they are too many or too long, not all
  // of them are told, or others take their place. What is found stays as it is until the next call.
  // REQUIRES: there are findings
  const FieldText* Find(const CheckReply& reply, std::uint64_t rules) {
    const std::size_t place = PlaceOf(reply.findings());
    const FieldText& text = texts_[place];
    if (text.IsOf(reply.findings(), rules)) [[likely]] {
      return &text;
    }
    // Two that belong in one place are both remembered, side by side: they may come in turns.
    const FieldText& beside = texts_[place ^ 1];
    return beside.IsOf(reply.findings(), rules) ? &beside : Make(reply, rules, place);
  }

 private:
  static constexpr std::size_t kEntries = 128;

  // Sets that begin and end with the same are seldom two.
  static std::size_t PlaceOf(std::span<const Finding> findings) {
    const auto first = reinterpret_cast<std::uintptr_t>(findings.front().limit);
    const auto last = reinterpret_cast<std::uintptr_t>(findings.back().rule);
    static_assert(kEntries == std::size_t{1} << 7);
    return (first * 3 + last) * 0x9E3779B97F4A7C15 >> (64 - 7);
  }
  // Null: what is made is found the next time.
  [[gnu::noinline]] const FieldText* Make(const CheckReply& reply, std::uint64_t rules,
                                          std::size_t place);

  std::array<FieldText, kEntries> texts_{};
};

}  // namespace weir
