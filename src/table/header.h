// The first pages of a table, in anonymous memory and in a mapped file alike.
//
// `Identity` is written once, before anybody else can see it. A `Note` is written under the
// administration lock, over the oldest; the youngest that is whole counts, so that a process killed
// while it writes one leaves the others. Everything is addressed by number, never by
// pointer: processes map it where they like.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/timeline_state.h"
#include "base/word_write.h"

namespace weir::table {

// What decides where things are. Equal geometry, equal file size.
struct Geometry {
  std::uint64_t lines = 0;         // that keys belong to
  std::uint64_t record_words = 0;  // beside each slot; 0 where the state is the word itself

  bool operator==(const Geometry&) const = default;
};

struct Identity {
  static constexpr std::uint64_t kMagic = 0x31'72'69'65'57'0A'0D'1A;  // "\x1a\r\nWeir1" in a file
  static constexpr std::uint64_t kVersion = 1;

  std::uint64_t magic = kMagic;
  std::uint64_t version = kVersion;
  Geometry geometry;
  std::uint64_t hash_seed = 0;
  std::uint64_t checksum = 0;  // of everything above
};

struct Note {
  std::uint64_t sequence = 0;           // 0: never written
  std::uint64_t kind = 0;               // of the keys under this limit
  std::int64_t wall_minus_boot_ns = 0;  // so that all processes read the same clock
  std::array<char, 40> boot_id{};       // the boot that it was taken in
  std::array<char, 1024> limit{};       // as text, so that it can be compared, and carried over
  std::uint64_t checksum = 0;           // of everything above
};

// Text in a note.
template <std::size_t N>
void CopyText(std::string_view text, std::array<char, N>& to) {
  to.fill('\0');
  std::memcpy(to.data(), text.data(), std::min(text.size(), N - 1));
}
template <std::size_t N>
std::string TextOf(const std::array<char, N>& from) {
  return {from.data(), strnlen(from.data(), N)};
}

// Changes to a record that are under way (table/records.h).
struct Journal {
  std::atomic<std::uint32_t> owner;     // 0: free
  std::atomic<std::uint32_t> complete;  // 1: what follows is all there
  std::uint64_t slot;
  std::uint64_t word;  // of the slot, when all is done
  std::uint64_t count;
  std::array<WordWrite, kMaxWordWrites> writes;
};

struct Header {
  static constexpr std::size_t kLocks = 1024;
  static constexpr std::size_t kJournals = 64;

  Identity identity;
  std::array<Note, 3> notes;

  alignas(64) TimelineState timeline;
  alignas(64) std::atomic<std::uint64_t> evicted;
  std::atomic<std::uint32_t> last_owner;
  // Who is adding a key to the lines that share a lock: 0, or the number of an Owner.
  alignas(64) std::array<std::atomic<std::uint32_t>, kLocks> locks;
  // Who is finishing the work of a dead process.
  std::atomic<std::uint32_t> recovery;
  std::array<Journal, kJournals> journals;
};

}  // namespace weir::table
