#include "limiter/limit_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/text.h"

namespace weir {
namespace {

Error Failed(const std::string& path, const std::string& what) {
  return Error{path + ": " + what + ": " +
               std::error_code(errno, std::generic_category()).message()};
}

constexpr std::string_view kOf = "of ";

std::string LineOf(std::uint64_t seed) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), seed, 16);
  return std::string(kOf) + std::string(digits.data(), end.ptr) + "\n";
}
std::string LineOf(std::uint16_t kind, const std::string& limit) {
  return std::to_string(kind) + " " + limit + "\n";
}

}  // namespace

Result<std::unique_ptr<LimitFile>> LimitFile::Open(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return Error{folder + ": cannot be made: " + problem.message()};
  const std::string lock_path = folder + "/lock";
  const int lock = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return Failed(lock_path, "cannot be opened");
  std::unique_ptr<LimitFile> file(new LimitFile(folder, lock));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Error{folder + ": is in use by another process: use another folder, or end that one"};
    }
    return Failed(lock_path, "cannot be locked");
  }
  file->file_ = open(file->path().c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file->file_ < 0) return Failed(file->path(), "cannot be opened");
  if (const Result<bool> read = file->Read(); !read) return read.error();
  return file;
}

LimitFile::~LimitFile() {
  if (file_ >= 0) close(file_);
  close(lock_);
}

Result<bool> LimitFile::Read() {
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t got = 0;
       (got = pread(file_, block.data(), block.size(), static_cast<off_t>(text.size()))) != 0;) {
    if (got < 0) return Failed(path(), "cannot be read");
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  std::size_t number = 0;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    ++number;
    const std::string_view line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    if (!ReadLine(line)) {
      return Error{
          path() + ":" + std::to_string(number) +
          ": is damaged: expected a number and a limit. It is left as it is: put it right, "
          "or use another folder"};
    }
  }
  // A line without an end was being written when its process was killed: nothing is marked with it.
  if (start < text.size() && ftruncate(file_, static_cast<off_t>(start)) != 0) {
    return Failed(path(), "cannot be written");
  }
  return true;
}

bool LimitFile::ReadLine(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return false;
  const std::string_view rest = line.substr(space + 1);
  if (line.starts_with(kOf)) {
    std::uint64_t seed = 0;
    const auto [stop, wrong] = std::from_chars(rest.data(), rest.data() + rest.size(), seed, 16);
    if (wrong != std::errc{} || stop != rest.data() + rest.size()) return false;
    seed_ = seed;
    return true;
  }
  const Result<std::uint64_t> kind = ParseCount(line.substr(0, space));
  if (!kind || *kind < 1 || *kind > UINT16_MAX) return false;
  lines_[static_cast<std::uint16_t>(*kind)] = rest;
  return true;
}

Result<bool> LimitFile::Add(std::uint16_t kind, const std::string& limit) {
  return Append(LineOf(kind, limit));
}

// On the disk before anything is marked with it: the tables may get there first.
Result<bool> LimitFile::Append(const std::string& line) {
  struct stat before {};
  if (fstat(file_, &before) != 0) return Failed(path(), "cannot be read");
  const ssize_t written = write(file_, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size()) && fdatasync(file_) == 0) return true;
  const int problem = written >= 0 && written < static_cast<ssize_t>(line.size()) ? ENOSPC : errno;
  if (ftruncate(file_, before.st_size) != 0) return Failed(path(), "is damaged");
  errno = problem;
  return Failed(path(), "cannot be written");
}

Result<bool> LimitFile::Claim(std::uint64_t seed) {
  seed_ = seed;
  return Append(LineOf(seed));
}

Result<bool> LimitFile::Replace(const Lines& lines) {
  std::string text = seed_ ? LineOf(*seed_) : "";
  for (const auto& [kind, limit] : lines) text += LineOf(kind, limit);
  const std::string draft = path() + ".new";
  const int fresh = open(draft.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (fresh < 0) return Failed(draft, "cannot be opened");
  const ssize_t written = write(fresh, text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()) || fdatasync(fresh) != 0 ||
      rename(draft.c_str(), path().c_str()) != 0) {
    const Error error = Failed(draft, "cannot take the place of the one before");
    close(fresh);
    return error;
  }
  close(file_);
  file_ = fresh;
  return true;
}

}  // namespace weir
