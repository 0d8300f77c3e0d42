// Where a table lives: anonymous memory, or a file that survives the process.
//
//   | header (pages) | lines, 64 bytes each, and kProbe - 1 more | records, if there are any |
//
// In a file every word is valid by itself at all times, so a process may be killed at any moment
// and the next one goes on where it was; several may share it. (Against a loss of power it is as
// good as any file that was not synced: what the kernel had not written is gone.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "table/header.h"
#include "table/owner.h"
#include "table/slot.h"
#include "weir/result.h"

namespace weir::table {

class Memory {
 public:
  // In 2 MiB pages where the system gives them.
  static Result<Memory> Anonymous(Geometry geometry);

  // Opens the table in `path`, or makes one. A file that is no table, is damaged, or was made for
  // another geometry is refused and left as it was.
  static Result<Memory> File(const std::string& path, Geometry geometry);

  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&&) = delete;
  ~Memory();

  [[nodiscard]] Header& header() const noexcept { return *reinterpret_cast<Header*>(base_); }
  [[nodiscard]] Line* lines() const noexcept;
  // REQUIRES: geometry.record_words > 0
  [[nodiscard]] std::uint64_t* records() const noexcept;
  [[nodiscard]] const Owner& owner() const noexcept { return owner_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool is_file() const noexcept { return file_ >= 0; }

  // The note that counts, and the last one before it that was of another kind; a sequence of 0 if
  // there is none.
  [[nodiscard]] Note CurrentNote() const;
  [[nodiscard]] Note PreviousNote() const;
  // Makes `note` the current one. REQUIRES: the administration lock is held, if this is a file.
  void WriteNote(Note note);
  // Leaves only the current one: all that was counted under another kind has been carried over.
  void ForgetOlderNotes();

  // Held by whoever changes notes; released with the object.
  class Administration {
   public:
    explicit Administration(const Memory& memory);
    ~Administration();
    Administration(const Administration&) = delete;
    Administration& operator=(const Administration&) = delete;

   private:
    int file_;
  };

 private:
  Memory(std::byte* base, std::size_t bytes, int file, Owner owner)
      : base_(base), bytes_(bytes), file_(file), owner_(owner) {}

  std::byte* base_;
  std::size_t bytes_;
  int file_;  // -1: anonymous
  Owner owner_;
};

}  // namespace weir::table
