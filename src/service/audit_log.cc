#include "service/audit_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "base/utc_time.h"
#include "rule/json.h"
#include "rule/utf8.h"
#include "service/last_lines.h"
#include "service/replace_file.h"

namespace weir {
namespace {

constexpr std::size_t kLongestField = 4096;  // bytes
constexpr mode_t kOwnerOnly = 0600;

std::string Field(std::string_view name, std::string_view value) {
  std::string text = rule::Valid(value.substr(0, kLongestField));
  if (value.size() > kLongestField) text += "...";
  return rule::JsonString(name) + ":" + rule::JsonString(text);
}

// Whether a crash left all of the line. Its last value is a string, and a quote within a string has
// a backslash before it (which has none itself): so only the end of a line looks like one.
bool IsWhole(const std::string& line) {
  if (!line.starts_with('{') || !line.ends_with("\"}")) return false;
  const std::size_t before = line.find_last_not_of('\\', line.size() - 3);
  return (line.size() - 3 - before) % 2 == 0;
}

// Whether the file ends in the middle of a line: whoever wrote it was killed, or had no room.
bool IsTorn(int file, off_t size) {
  char last = '\n';
  return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

// The lock of a file, let go with the end of the scope.
class Unlock {
 public:
  explicit Unlock(const Descriptor& file) : file_(file) {}
  ~Unlock() { flock(file_.get(), LOCK_UN); }
  Unlock(const Unlock&) = delete;
  Unlock& operator=(const Unlock&) = delete;

 private:
  const Descriptor& file_;
};

}  // namespace

std::string AuditLine(const AuditEntry& entry, AuditTime time) {
  return "{" + Field("time", FormatUtc(time)) + "," + Field("who", entry.who) + "," +
         Field("action", entry.action) + "," + Field("what", entry.what) + "," +
         Field("detail", entry.detail) + "}";
}

Result<std::unique_ptr<AuditLog>> AuditLog::Open(AuditLogOptions options) {
  std::unique_ptr<AuditLog> log(new AuditLog(std::move(options)));
  const std::lock_guard lock(log->mutex_);
  if (auto problem = log->OpenLocked()) return *problem;
  const Unlock unlock(log->file_);
  return log;
}

std::string AuditLog::NameOf(int age) const {
  return age == 0 ? options_.path : options_.path + "." + std::to_string(age);
}

std::optional<Error> AuditLog::OpenLocked() {
  // Somebody may rename the file between the opening and the lock; not again and again.
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (!file_.is_open()) {
      file_ = Descriptor(
          open(options_.path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, kOwnerOnly));
      if (!file_.is_open() || !SyncFolderOf(options_.path)) {
        return FileError("write", options_.path);
      }
    }
    if (flock(file_.get(), LOCK_EX) != 0) return FileError("write", options_.path);
    struct stat at_path {};
    struct stat opened {};
    if (stat(options_.path.c_str(), &at_path) == 0 && fstat(file_.get(), &opened) == 0 &&
        at_path.st_ino == opened.st_ino && at_path.st_dev == opened.st_dev) {
      return std::nullopt;
    }
    file_ = Descriptor();
  }
  return Error{"cannot write " + options_.path + ": it is renamed all the time"};
}

// The locked file becomes the first of the old ones. Who waits for its lock will see that it is not
// at the path any more.
std::optional<Error> AuditLog::Rotate() {
  if (options_.files <= 1 && unlink(options_.path.c_str()) != 0) {
    return FileError("remove", options_.path);
  }
  for (int age = options_.files - 2; age >= 0; --age) {
    if (std::rename(NameOf(age).c_str(), NameOf(age + 1).c_str()) != 0 && errno != ENOENT) {
      return FileError("rename", NameOf(age));
    }
  }
  file_ = Descriptor();
  return OpenLocked();
}

// One write, so that no other line can come in between. What was written of a line that did not fit
// is taken back.
std::optional<Error> AuditLog::Append(std::string line) {
  struct stat facts {};
  if (fstat(file_.get(), &facts) != 0) return FileError("write", options_.path);
  if (IsTorn(file_.get(), facts.st_size)) line.insert(0, "\n");
  line += "\n";
  ssize_t put = 0;
  do {
    put = write(file_.get(), line.data(), line.size());
  } while (put < 0 && errno == EINTR);
  if (put == static_cast<ssize_t>(line.size()) && fdatasync(file_.get()) == 0) return std::nullopt;
  if (put >= 0 && put < static_cast<ssize_t>(line.size())) errno = ENOSPC;
  const Error error = FileError("write", options_.path);
  if (put > 0) static_cast<void>(ftruncate(file_.get(), facts.st_size) == 0);
  return error;
}

std::optional<Error> AuditLog::Record(const AuditEntry& entry) {
  const std::string line = AuditLine(entry, options_.now());
  const std::lock_guard lock(mutex_);
  if (auto problem = OpenLocked()) return problem;
  const Unlock unlock(file_);
  struct stat facts {};
  if (fstat(file_.get(), &facts) != 0) return FileError("write", options_.path);
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  if (size > 0 && size + line.size() + 1 > options_.most_bytes) {
    if (auto problem = Rotate()) return problem;
  }
  return Append(line);
}

std::vector<std::string> AuditLog::Latest(std::size_t count) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (int age = 0; age < options_.files && lines.size() < count; ++age) {
    const Descriptor file(open(NameOf(age).c_str(), O_RDONLY | O_CLOEXEC));
    if (file.is_open()) AddLastLines(file, count, IsWhole, lines);
  }
  return lines;
}

std::optional<Error> AuditMemory::Record(const AuditEntry& entry) {
  std::string line = AuditLine(entry, now_());
  const std::lock_guard lock(mutex_);
  lines_.push_front(std::move(line));
  if (lines_.size() > kMost) lines_.pop_back();
  return std::nullopt;
}

std::vector<std::string> AuditMemory::Latest(std::size_t count) const {
  const std::lock_guard lock(mutex_);
  const auto end = lines_.begin() + static_cast<std::ptrdiff_t>(std::min(count, lines_.size()));
  return {lines_.begin(), end};
}

}  // namespace weir
