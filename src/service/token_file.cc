#include "service/token_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>

#include "base/constant_time.h"
#include "base/descriptor.h"
#include "service/replace_file.h"

namespace weir {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // some 8,000 tokens
constexpr std::chrono::seconds kBetweenLooks{1};
constexpr mode_t kOwnerOnly = 0600;
constexpr mode_t kOthersWrite = 0022;

}  // namespace

Result<std::vector<TokenEntry>> LoadTokens(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return std::vector<TokenEntry>();
  struct stat facts {};
  if (!file.is_open() || fstat(file.get(), &facts) != 0) return FileError("read", path);
  if ((facts.st_mode & kOthersWrite) != 0) {
    return Error{path + ": others may write it, and so make themselves admin; chmod 600 " + path};
  }
  const Result<std::string> text = ReadWhole(file, path, kMostBytes);
  if (!text) return text.error();
  return ReadTokens(*text, path);
}

std::optional<Error> EditTokens(
    const std::string& path,
    const std::function<std::optional<Error>(std::vector<TokenEntry>& tokens)>& edit) {
  // The file itself is replaced, so its folder is what stays to be locked.
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor lock(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (!lock.is_open() || flock(lock.get(), LOCK_EX) != 0) {
    return FileError("write to the folder", folder.empty() ? "." : folder);
  }
  Result<std::vector<TokenEntry>> tokens = LoadTokens(path);
  if (!tokens) return tokens.error();
  if (auto refused = edit(*tokens)) return refused;
  const std::string text = WriteTokens(*tokens);
  if (text.size() > kMostBytes) {
    return Error{path + ": there is no room for another token; revoke one"};
  }
  return ReplaceFile(path, text, kOwnerOnly);
}

Result<std::unique_ptr<TokenFile>> TokenFile::Open(TokenFileOptions options) {
  std::unique_ptr<TokenFile> file(new TokenFile(std::move(options)));
  const std::lock_guard lock(file->mutex_);
  file->looked_ = file->options_.now();
  if (auto problem = file->Refresh()) return *problem;
  return file;
}

bool TokenFile::Identity::operator==(const Identity& other) const {
  return changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec &&
         size == other.size && inode == other.inode && exists == other.exists;
}

TokenFile::Identity TokenFile::Look() const {
  struct stat facts {};
  if (stat(options_.path.c_str(), &facts) != 0) return {};
  return {facts.st_mtim, facts.st_size, facts.st_ino, true};
}

// The look comes before the reading: what changes between the two is read again next time.
std::optional<Error> TokenFile::Refresh() const {
  seen_ = Look();
  Result<std::vector<TokenEntry>> tokens = LoadTokens(options_.path);
  if (!tokens) return tokens.error();
  tokens_ = std::move(*tokens);
  return std::nullopt;
}

void TokenFile::RefreshIfChanged() const {
  if (Look() == seen_) return;
  if (const auto problem = Refresh()) {
    options_.tell(problem->message + "; the tokens that were there before stay in force");
  }
}

// All are compared, wherever the right one is.
const TokenEntry* TokenFile::Find(const std::string& digest) const {
  const TokenEntry* found = nullptr;
  for (const TokenEntry& entry : tokens_) {
    if (SameSecret(digest, entry.digest)) found = &entry;
  }
  return found;
}

Caller TokenFile::Identify(std::string_view token) const {
  if (token.empty() || token.size() > kLongestToken) return {};
  const std::string digest = DigestOfToken(token);
  const std::chrono::sys_seconds now = options_.now();
  const std::lock_guard lock(mutex_);
  // A clock that was set back is no reason not to look.
  if (now >= looked_ + kBetweenLooks || now < looked_) {
    looked_ = now;
    RefreshIfChanged();
  }
  const TokenEntry* found = Find(digest);
  if (found == nullptr) {
    RefreshIfChanged();
    found = Find(digest);
  }
  if (found == nullptr || found->IsExpired(now)) return {};
  return {found->name, found->role};
}

}  // namespace weir
