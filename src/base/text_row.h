// Short pieces of text in a row, appended to a string when the row is gone: to grow a string by a
// number at a time costs more than the numbers do.
//
//   TextRow row(out);
//   row.Text("Retry-After: ");
//   row.Number(std::uint64_t{3});
//
// Or many pieces at once, where each instruction counts:
//
//   char* to = row.Reserve(64);
//   to = Put(to, ";q=");
//   to = WriteDecimal(quota, to);
//   row.Use(to);
//
// Nothing else is to be appended to the string meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/copy_few.h"
#include "base/decimal.h"

namespace weir {

// Writes a literal where there is room for it, and returns where it ends.
template <std::size_t Size>
char* Put(char* to, const char (&text)[Size]) {  // NOLINT(modernize-avoid-c-arrays)
  std::memcpy(to, text, Size - 1);
  return to + Size - 1;
}

class TextRow {
 public:
  static constexpr std::size_t kMostReserved = 1'024;

  explicit TextRow(std::string& out) : out_(out) { MakeRoom(); }
  TextRow(const TextRow&) = delete;
  TextRow& operator=(const TextRow&) = delete;
  ~TextRow() {
    if (Used() > 0) Append();  // there is room for it: it cannot fail
  }

  void Text(std::string_view text) {
    if (Room() < text.size()) return LongText(text);
    CopyFew(end_, text.data(), text.size());
    end_ += text.size();
  }
  // As Text(), which copies a piece of a length known beforehand without a call.
  template <std::size_t Size>
  void Text(const char (&text)[Size]) {  // NOLINT(modernize-avoid-c-arrays): what a literal is
    Use(Put(Reserve(Size - 1), text));
  }
  void Char(char c) {
    char* const to = Reserve(1);
    *to = c;
    Use(to + 1);
  }
  // std::int64_t or std::uint64_t.
  template <typename Integer>
  void Number(Integer value) {
    Use(WriteDecimal(value, Reserve(kMostDigits)));
  }

  // Room for pieces that the caller writes, who then says where they end. REQUIRES: at most
  // kMostReserved.
  char* Reserve(std::size_t size) {
    if (Room() < size) Flush();
    return end_;
  }
  void Use(char* end) { end_ = end; }
  // What is in the row goes to the string now.
  [[gnu::noinline]] void Flush() {
    Append();
    end_ = row_.data();
    MakeRoom();
  }

  // The row is complete: the same, but nothing more is to come.
  void Finish() {
    Append();
    end_ = row_.data();
  }

  // Of the string when all is appended.
  [[nodiscard]] std::size_t size() const { return out_.size() + Used(); }

 private:
  [[nodiscard]] std::size_t Room() const {
    return static_cast<std::size_t>(row_.data() + row_.size() - end_);
  }
  [[nodiscard]] std::size_t Used() const { return static_cast<std::size_t>(end_ - row_.data()); }
  void Append() { out_.append(row_.data(), Used()); }
  void MakeRoom() { out_.reserve(out_.size() + row_.size()); }
  [[gnu::noinline]] void LongText(std::string_view text) {
    Flush();
    out_ += text;
    MakeRoom();
  }

  std::string& out_;
  std::array<char, kMostReserved> row_;  // most answers fit in
  char* end_ = row_.data();              // of what is in it
};

}  // namespace weir
