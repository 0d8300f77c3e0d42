#include "catalog/rule_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "weir/result.h"

namespace weir::catalog {
namespace {

namespace fs = std::filesystem;

std::string Reason(int error) { return std::error_code(error, std::generic_category()).message(); }

std::string InMebibytes(std::size_t bytes) {
  return bytes >> 20 > 0 ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes) + " bytes";
}

// What became of an attempt to read a file.
struct Attempt {
  std::optional<std::string> text = {};
  int error = 0;            // of the system: the file is not there, may not be read
  std::string what = {};    // what is there is of no use, and
  std::string remedy = {};  // what would be
};

Attempt NotRegular() {
  return {.what = "is not a regular file", .remedy = "put a file of rules here"};
}

Attempt TooLarge(std::size_t most) {
  return {.what = "is larger than " + InMebibytes(most), .remedy = "split it"};
}

bool SameMoment(const struct stat& a, const struct stat& b) {
  const auto same = [](const timespec& s, const timespec& t) {
    return s.tv_sec == t.tv_sec && s.tv_nsec == t.tv_nsec;
  };
  return a.st_size == b.st_size && same(a.st_mtim, b.st_mtim) && same(a.st_ctim, b.st_ctim);
}

// Everything from the start of `file`, but at most `most` bytes and one.
Attempt ReadToEnd(int file, std::size_t size, std::size_t most) {
  constexpr std::size_t kChunk = 65536;
  std::string text;
  std::size_t used = 0;
  text.resize(std::min(size, most) + 1);
  for (;;) {
    if (used > most) return TooLarge(most);
    if (used == text.size()) text.resize(std::min(used + kChunk, most + 1));
    const ssize_t got =
        pread(file, text.data() + used, text.size() - used, static_cast<off_t>(used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {.error = errno};
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  text.resize(used);
  return {.text = std::move(text)};
}

Attempt ReadFile(const std::string& path, std::size_t most) {
  // Asked before it is opened: to open a device can be an act. And again after: it may have been
  // another file by then. A pipe would wait for a writer, but for O_NONBLOCK.
  struct stat before {};
  if (stat(path.c_str(), &before) != 0) return {.error = errno};
  if (!S_ISREG(before.st_mode)) return NotRegular();
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return {.error = errno};
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i) {
    if (fstat(file.get(), &before) != 0) return {.error = errno};
    if (!S_ISREG(before.st_mode)) return NotRegular();
    const auto size = static_cast<std::size_t>(before.st_size);
    if (size > most) return TooLarge(most);
    Attempt attempt = ReadToEnd(file.get(), size, most);
    struct stat after {};
    if (!attempt.text || (fstat(file.get(), &after) == 0 && SameMoment(before, after))) {
      return attempt;
    }
  }
  return {.what = "is being written to while it is read",
          .remedy = "write a new file and rename it over the old one"};
}

rule::Problem ProblemOf(const std::string& name, const Attempt& attempt) {
  if (attempt.error == 0) return {name, {}, "", attempt.what, attempt.remedy};
  return {name, {}, "", "cannot be read: " + Reason(attempt.error), ""};
}

// The names of the rule files in a directory, ordered. Directories that have such a name are left
// out.
Result<std::vector<std::string>> ListRuleFiles(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (IsRuleFileName(name) && !entry->is_directory(ignored)) names.push_back(std::move(name));
  }
  if (error) return Error{path + " cannot be read: " + error.message()};
  std::sort(names.begin(), names.end());
  return names;
}

RuleFiles ReadDirectory(const std::string& path, const RuleFileLimits& limits) {
  RuleFiles found;
  const Result<std::vector<std::string>> names = ListRuleFiles(path);
  if (!names) {
    found.away = names.error().message;
    return found;
  }
  if (names->size() > limits.files) {
    found.problems.push_back({path,
                              {},
                              "",
                              "holds " + std::to_string(names->size()) +
                                  " rule files, and at most " + std::to_string(limits.files) +
                                  " are read",
                              "put several together"});
    return found;
  }
  std::size_t left = limits.bytes_in_all;
  for (const std::string& name : *names) {
    const std::string shown = (fs::path(path) / name).string();
    Attempt attempt = ReadFile(shown, std::min(limits.file_bytes, left));
    // Deleted since it was listed. But a link that leads nowhere is a mistake, not a deletion.
    std::error_code ignored;
    if (attempt.error == ENOENT && !fs::is_symlink(shown, ignored)) continue;
    if (!attempt.text) {
      found.problems.push_back(ProblemOf(shown, attempt));
      continue;
    }
    left -= attempt.text->size();
    found.files.push_back({shown, std::move(*attempt.text)});
  }
  if (found.files.empty() && found.problems.empty()) {
    found.away = path + " holds no *.yaml or *.yml file";
  }
  return found;
}

}  // namespace

bool IsRuleFileName(std::string_view name) {
  return !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml"));
}

RuleFiles ReadRuleFiles(const std::string& path, const RuleFileLimits& limits) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return ReadDirectory(path, limits);
  RuleFiles found;
  Attempt attempt = ReadFile(path, limits.file_bytes);
  if (attempt.text) {
    found.files.push_back({path, std::move(*attempt.text)});
  } else if (attempt.error != 0) {
    found.away = path + " cannot be read: " + Reason(attempt.error);
  } else {
    found.problems.push_back(ProblemOf(path, attempt));
  }
  return found;
}

}  // namespace weir::catalog
