#include "limiter/limit_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/text.h"

namespace weir {
namespace {

Error Failed(const std::string& path, const std::string& what) {
  return Error{path + ": " + what + ": " +
               std::error_code(errno, std::generic_category()).message()};
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
  std::ifstream stream(path());
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  std::size_t number = 0;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    ++number;
    const std::string_view line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    const std::size_t space = line.find(' ');
    const Result<std::uint64_t> kind = ParseCount(line.substr(0, space));
    if (!kind || *kind < 1 || *kind > UINT16_MAX || space == std::string_view::npos) {
      return Error{path() + ":" + std::to_string(number) +
                   ": is damaged: expected a number and a "
                   "limit. It is left as it is: put it right, or use another folder"};
    }
    lines_[static_cast<std::uint16_t>(*kind)] = line.substr(space + 1);
  }
  // A line without an end was being written when its process was killed: nothing is marked with it.
  if (start < text.size() && ftruncate(file_, static_cast<off_t>(start)) != 0) {
    return Failed(path(), "cannot be written");
  }
  return true;
}

Result<bool> LimitFile::Add(std::uint16_t kind, const std::string& limit) {
  const std::string line = LineOf(kind, limit);
  struct stat before {};
  if (fstat(file_, &before) != 0) return Failed(path(), "cannot be read");
  const ssize_t written = write(file_, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return true;
  const int problem = written < 0 ? errno : ENOSPC;
  if (written > 0 && ftruncate(file_, before.st_size) != 0) return Failed(path(), "is damaged");
  errno = problem;
  return Failed(path(), "cannot be written");
}

Result<bool> LimitFile::Replace(const Lines& lines) {
  const std::string draft = path() + ".new";
  {
    std::ofstream stream(draft, std::ios::trunc);
    for (const auto& [kind, limit] : lines) stream << LineOf(kind, limit);
    stream.flush();
    if (!stream) return Failed(draft, "cannot be written");
  }
  const int fresh = open(draft.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (fresh < 0) return Failed(draft, "cannot be opened");
  if (rename(draft.c_str(), path().c_str()) != 0) {
    const Error error = Failed(path(), "cannot be replaced");
    close(fresh);
    return error;
  }
  close(file_);
  file_ = fresh;
  return true;
}

}  // namespace weir
