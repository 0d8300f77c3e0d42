// The limits of a ledger's folder, by kind: lines of text such as
//
//     of 5e0c1f2a77b3d941
//     7 token_bucket 10/1s burst 3
//
// The first names the tables it belongs to, by their seed: a file that was lost, or comes from
// elsewhere, says nothing about these.
//
// A kind is written down before the first word is marked with it, and a line is written in one
// step, so whatever ends the process, every word in the tables can be read by the next one. Of two
// lines for one kind the later counts. Holding the file open is holding the folder.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "weir/result.h"

namespace weir {

class LimitFile {
 public:
  using Lines = std::map<std::uint16_t, std::string>;

  // Makes the folder if it is not there. Fails if another process has it, or it cannot be written.
  static Result<std::unique_ptr<LimitFile>> Open(const std::string& folder);
  ~LimitFile();
  LimitFile(const LimitFile&) = delete;
  LimitFile& operator=(const LimitFile&) = delete;

  // What was there when it was opened.
  [[nodiscard]] const Lines& lines() const { return lines_; }
  // Whether it belongs to the tables with this seed.
  [[nodiscard]] bool IsOf(std::uint64_t seed) const { return seed_ == seed; }
  // From now on it does.
  Result<bool> Claim(std::uint64_t seed);
  // Fails, and leaves the file as it was, if the line cannot be written whole.
  Result<bool> Add(std::uint16_t kind, const std::string& limit);
  // Leaves nothing but `lines`, in one step.
  Result<bool> Replace(const Lines& lines);

 private:
  LimitFile(std::string folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  [[nodiscard]] std::string path() const { return folder_ + "/limits.txt"; }
  Result<bool> Read();
  // False if it makes no sense.
  bool ReadLine(std::string_view line);
  Result<bool> Append(const std::string& line);

  std::string folder_;
  int lock_;
  int file_ = -1;
  std::optional<std::uint64_t> seed_;
  Lines lines_;
};

}  // namespace weir
