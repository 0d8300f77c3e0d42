// The audit trail: a line of JSON per change, the last at the end.
//
//   {"time":"2026-01-31T12:00:00.123Z","who":"ann","action":"rules.put","what":"shop/login",...}
//
// A line is on the disk before Record() returns, so that no change is made that nobody can account
// for. It is one write to the end of the file: several processes may record at once (the server and
// `weir token`). A file that is full is renamed FILE.1, that one FILE.2 and so on; the oldest goes.
// So does whatever else renames it (logrotate): the next record makes a new file.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "service/audit.h"
#include "weir/result.h"

namespace weir {

using AuditTime = std::chrono::sys_time<std::chrono::milliseconds>;
using AuditClock = std::function<AuditTime()>;
inline AuditTime AuditNow() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

// The line of an entry, without its end. Whatever is in the entry, it is one line of UTF-8; of a
// field that is longer than 4 KiB, the beginning.
std::string AuditLine(const AuditEntry& entry, AuditTime time);

struct AuditLogOptions {
  std::string path;
  std::uint64_t most_bytes = std::uint64_t{16} << 20;  // of one file
  int files = 8;                                       // at most, with the one written to
  AuditClock now = AuditNow;
};

class AuditLog final : public Audit {
 public:
  static Result<std::unique_ptr<AuditLog>> Open(AuditLogOptions options);

  std::optional<Error> Record(const AuditEntry& entry) override;
  // What a crash left half-written is passed over.
  [[nodiscard]] std::vector<std::string> Latest(std::size_t count) const override;

 private:
  explicit AuditLog(AuditLogOptions options) : options_(std::move(options)) {}
  [[nodiscard]] std::string NameOf(int age) const;
  // Has `file_` open and locked, and it is the one at the path.
  std::optional<Error> OpenLocked();
  std::optional<Error> Rotate();
  std::optional<Error> Append(std::string line);

  AuditLogOptions options_;
  mutable std::mutex mutex_;  // of all below
  Descriptor file_;
};

// Of a server that keeps nothing: the latest, in memory.
class AuditMemory final : public Audit {
 public:
  static constexpr std::size_t kMost = 1000;

  explicit AuditMemory(AuditClock now = AuditNow) : now_(std::move(now)) {}
  std::optional<Error> Record(const AuditEntry& entry) override;
  [[nodiscard]] std::vector<std::string> Latest(std::size_t count) const override;

 private:
  AuditClock now_;
  mutable std::mutex mutex_;
  std::deque<std::string> lines_;  // the newest first
};

}  // namespace weir
