#include "service/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace weir {
namespace {

bool WriteAll(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(file.get(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

// A link is written through: it stays a link.
std::string BehindLinks(const std::string& path) {
  std::error_code problem;
  const std::filesystem::path real = std::filesystem::canonical(path, problem);
  return problem ? path : real.string();
}

}  // namespace

Error FileError(std::string_view verb, const std::string& path) {
  const std::string reason = std::error_code(errno, std::generic_category()).message();
  return Error{"cannot " + std::string(verb) + " " + path + ": " + reason};
}

std::optional<Error> ReplaceFile(const std::string& path, std::string_view text, mode_t mode) {
  const std::string real = BehindLinks(path);
  std::string fresh = real + ".XXXXXX";
  const Descriptor file(mkostemp(fresh.data(), O_CLOEXEC));  // mode 0600
  if (!file.is_open()) return FileError("write", path);
  if (!WriteAll(file, text) || fchmod(file.get(), mode) != 0 || fsync(file.get()) != 0 ||
      std::rename(fresh.c_str(), real.c_str()) != 0) {
    const Error error = FileError("write", path);
    unlink(fresh.c_str());
    return error;
  }
  if (!SyncFolderOf(real)) return FileError("write", path);
  return std::nullopt;
}

bool SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor parent(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
  // A file system that cannot do it (EINVAL) keeps names in its own way.
  return parent.is_open() && (fsync(parent.get()) == 0 || errno == EINVAL);
}

Result<std::string> ReadWhole(const Descriptor& file, const std::string& path, std::size_t most) {
  std::string text;
  std::array<char, 16384> block{};
  for (;;) {
    const ssize_t got = read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError("read", path);
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > most) {
      return Error{path + " has more than " + std::to_string(most) + " bytes"};
    }
  }
}

}  // namespace weir
