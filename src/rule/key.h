// A request's key: the counter it belongs to, and the hash of the values it is made of.
//
// Several values are hashed each with its length, so that ("ab", "c") and ("a", "bc") are two keys.
// Nothing of a client's input is a name of anything: it goes into a hash with the process's seed,
// and that is all.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/copy_few.h"
#include "rule/rulebook.h"
#include "weir/keyed_limiter.h"

namespace weir::rule {

class KeyBytes {
 public:
  // `seed` is the process's: long values go through a hash before the key does.
  KeyBytes(std::uint64_t counter, std::uint64_t seed) : seed_(seed) {
    Put(&counter, sizeof counter);
  }

  void Add(std::string_view value) {
    const auto size = static_cast<std::uint32_t>(value.size());
    if (size <= kWhole && used_ + sizeof size + kWhole <= buffer_.size()) [[likely]] {
      char* const to = buffer_.data() + used_;  // as below, with one look at the room for both
      std::memcpy(to, &size, sizeof size);
      CopyFew(to + sizeof size, value.data(), size);
      used_ += sizeof size + size;
      return;
    }
    Put(&size, sizeof size);
    if (value.size() <= kWhole) {
      Put(value.data(), value.size());
    } else {
      // Its hash stands for a long one; its length has been told.
      const XXH128_hash_t hash = XXH3_128bits_withSeed(value.data(), value.size(), seed_);
      Put(&hash, sizeof hash);
    }
  }
  // For a value that is not there, which is another thing than an empty one.
  void AddAbsent() {
    constexpr std::uint32_t kNoLength = ~std::uint32_t{0};
    Put(&kNoLength, sizeof kNoLength);
  }
  void Add(const Address& address) { Put(address.bytes().data(), address.bytes().size()); }

  [[nodiscard]] std::string_view bytes() const { return {buffer_.data(), used_}; }

 private:
  static constexpr std::size_t kWhole = 64;

  // Makes room: what is there so far is from now on its hash.
  void Fold() {
    const XXH128_hash_t hash = XXH3_128bits_withSeed(buffer_.data(), used_, seed_);
    used_ = 0;
    Put(&hash, sizeof hash);
  }
  // REQUIRES: size <= kWhole
  void Put(const void* from, std::size_t size) {
    if (used_ + size > buffer_.size()) Fold();
    CopyFew(buffer_.data() + used_, static_cast<const char*>(from), size);
    used_ += size;
  }

  std::uint64_t seed_;
  std::array<char, 512> buffer_;
  std::size_t used_ = 0;
};

// Adds the values of `key`. False if the request lacks one: then it has no such key.
[[gnu::always_inline]] inline bool AddKey(std::span<const CompiledKeyPart> key,
                                          const Values& values, KeyBytes& bytes) {
  for (const CompiledKeyPart& part : key) {
    if (part.is_address) {
      if (!values.ip()) return false;
      const Address& ip = *values.ip();
      bytes.Add(ip.Masked(ip.is_v4() ? part.bits.v4 : part.bits.v6));
    } else {
      if (!values.Has(part.attribute)) return false;
      bytes.Add(values[part.attribute]);
    }
  }
  return true;
}

inline KeyHash HashOf(const void* data, std::size_t size, std::uint64_t seed) {
  const XXH128_hash_t hashed = XXH3_128bits_withSeed(data, size, seed);
  return {hashed.low64, hashed.high64};
}

// HashValues() of several. Apart, so that what is inlined for one is short.
[[gnu::noinline]] inline std::optional<KeyHash> HashSeveral(std::span<const CompiledKeyPart> key,
                                                            const Values& values,
                                                            std::uint64_t seed) {
  KeyBytes bytes(key.size(), seed);
  if (!AddKey(key, values, bytes)) return std::nullopt;
  return HashOf(bytes.bytes().data(), bytes.bytes().size(), seed);
}

// The hash of the values of `key`: the same for all counters that count by the same attributes.
// Nothing if the request lacks one of them: then it has no such key.
[[gnu::always_inline]] inline std::optional<KeyHash> HashValues(
    std::span<const CompiledKeyPart> key, const Values& values, std::uint64_t seed) {
  if (key.size() == 1) [[likely]] {
    const CompiledKeyPart& part = key[0];
    if (part.is_address) {
      if (!values.ip()) return std::nullopt;
      const Address& ip = *values.ip();
      const Address masked = ip.Masked(ip.is_v4() ? part.bits.v4 : part.bits.v6);
      return HashOf(masked.bytes().data(), masked.bytes().size(), seed);
    }
    if (!values.Has(part.attribute)) return std::nullopt;
    const std::string_view value = values.Present(part.attribute);
    return HashOf(value.data(), value.size(), seed);
  }
  return HashSeveral(key, values, seed);
}

// The key of these values in a counter. Both the hash and the counter's number are as good as
// random, so that what they make together is too.
constexpr KeyHash KeyIn(std::uint64_t counter, KeyHash values) {
  return {values.low + counter, values.high ^ counter * 0x9E3779B97F4A7C15};
}

}  // namespace weir::rule
