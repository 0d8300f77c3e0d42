// The bytes that a request's key is hashed from.
//
// A key is the counter it belongs to and the values it is made of, each with its length, so that
// ("ab", "c") and ("a", "bc") are two keys. Nothing of a client's input is a name of anything: it
// goes into a hash with the process's seed, and that is all.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "rule/rulebook.h"

namespace weir::rule {

class KeyBytes {
 public:
  // `seed` is the process's: long values go through a hash before the key does.
  KeyBytes(std::uint64_t counter, std::uint64_t seed) : seed_(seed) {
    Put(&counter, sizeof counter);
  }

  void Add(std::string_view value) {
    const auto size = static_cast<std::uint32_t>(value.size());
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
  // std::memcpy() for a few bytes whose number is not known before: a call costs more than they do.
  // What two moves copy may overlap in the middle.
  static void CopyFew(char* to, const char* from, std::size_t size) {
    if (size >= 16) {
      for (std::size_t i = 0; i + 16 < size; i += 16) std::memcpy(to + i, from + i, 16);
      std::memcpy(to + size - 16, from + size - 16, 16);
    } else if (size >= 8) {
      std::memcpy(to, from, 8);
      std::memcpy(to + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
      std::memcpy(to, from, 4);
      std::memcpy(to + size - 4, from + size - 4, 4);
    } else if (size > 0) {
      to[0] = from[0];
      to[size / 2] = from[size / 2];
      to[size - 1] = from[size - 1];
    }
  }

  std::uint64_t seed_;
  std::array<char, 512> buffer_;
  std::size_t used_ = 0;
};

// Adds the values of `key`. False if the request lacks one: then it has no such key.
inline bool AddKey(std::span<const CompiledKeyPart> key, const Values& values, KeyBytes& bytes) {
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

}  // namespace weir::rule
