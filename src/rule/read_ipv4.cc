// Reads "10.1.2.3", all four numbers at once. How many digits each has is as good as random: who
// branches on it guesses wrong about once per address (callgrind --branch-sim: 0.8 times).
#include <emmintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/byte_words.h"
#include "rule/address_text.h"

namespace weir::rule {
namespace {

constexpr std::size_t kShortest = 7;
constexpr std::size_t kLongest = 15;

std::uint32_t LoadFour(const char* from) {
  std::uint32_t four = 0;
  std::memcpy(&four, from, sizeof four);
  return four;
}

// With zeros behind it. REQUIRES: kShortest to kLongest characters
__m128i Load(std::string_view text) {
  const char* const from = text.data();
  const std::size_t size = text.size();
  if (size < kWordBytes) {
    return _mm_cvtsi64_si128(
        static_cast<long long>(LoadFour(from) | std::uint64_t{LoadFour(from + 3)} << 24));
  }
  // What the last eight characters have in common with the first is shifted out.
  const std::uint64_t last = LoadWord(from + size - kWordBytes) >> 8 >> 8 * (kLongest - size);
  return _mm_set_epi64x(static_cast<long long>(last), static_cast<long long>(LoadWord(from)));
}

__m128i EachOfFour(std::uint32_t number) { return _mm_set1_epi32(static_cast<int>(number)); }

}  // namespace

bool ReadIpv4(std::string_view text, std::uint8_t* to) {
  if (text.size() - kShortest > kLongest - kShortest) return false;
  const __m128i all = Load(text);
  const unsigned dots =
      static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8('.'))));
  // Where each number ends: at three dots, and behind the text.
  const unsigned second = dots & (dots - 1);
  const unsigned third = second & (second - 1);
  if (third == 0 || (third & (third - 1)) != 0) return false;
  const std::array<std::size_t, 4> ends = {static_cast<std::size_t>(std::countr_zero(dots)),
                                           static_cast<std::size_t>(std::countr_zero(second)),
                                           static_cast<std::size_t>(std::countr_zero(third)),
                                           text.size()};

  // The four characters that end with each, and which of those are its own: at most three.
  constexpr std::size_t kBefore = 4;
  constexpr std::array<std::uint32_t, 4> kLast = {0, 0xFF00'0000, 0xFFFF'0000, 0xFFFF'FF00};
  std::array<char, kBefore + 16> characters{};
  _mm_storeu_si128(reinterpret_cast<__m128i*>(characters.data() + kBefore), all);
  std::array<int, 4> four;  // NOLINT(*-member-init)
  std::array<int, 4> own;   // NOLINT(*-member-init)
  std::size_t begin = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t digits = ends[i] - begin;
    if (digits - 1 > 2) return false;
    four[i] = static_cast<int>(LoadFour(characters.data() + ends[i]));
    own[i] = static_cast<int>(kLast[digits]);
    begin = ends[i] + 1;
  }
  const __m128i kept = _mm_set_epi32(own[3], own[2], own[1], own[0]);
  const __m128i digits = _mm_and_si128(
      _mm_xor_si128(_mm_set_epi32(four[3], four[2], four[1], four[0]), _mm_set1_epi8('0')), kept);

  // In each four bytes now: nothing, hundreds, tens, ones.
  const __m128i tens = _mm_and_si128(digits, EachOfFour(0x00FF'00FF));
  const __m128i hundreds_and_ones = _mm_srli_epi16(digits, 8);
  const __m128i values =
      _mm_add_epi32(_mm_madd_epi16(tens, EachOfFour(10 << 16)),
                    _mm_madd_epi16(hundreds_and_ones, EachOfFour(1 << 16 | 100)));
  const __m128i are_digits = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
  const __m128i first = _mm_andnot_si128(_mm_slli_epi32(kept, 8), kept);
  const __m128i zero_in_front =
      _mm_andnot_si128(EachOfFour(0xFF00'0000),  // a zero alone is a number
                       _mm_and_si128(first, _mm_cmpeq_epi8(digits, _mm_setzero_si128())));
  const __m128i wrong = _mm_or_si128(zero_in_front, _mm_cmpgt_epi32(values, EachOfFour(255)));
  if (_mm_movemask_epi8(_mm_andnot_si128(wrong, are_digits)) != 0xFFFF) return false;
  const __m128i words = _mm_packs_epi32(values, values);
  const int bytes = _mm_cvtsi128_si32(_mm_packus_epi16(words, words));
  std::memcpy(to, &bytes, sizeof bytes);
  return true;
}

}  // namespace weir::rule
