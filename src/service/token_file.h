// The tokens of a file (service/token.h), as who asks wants them: whose is this one?
//
// The file is read again when it has changed. Nobody waits for that in the background: whoever asks
// looks at the file, once a second, so that a token that was revoked is refused within a second;
// and before a token is called unknown, so that a new one is good at once. A file that was broken
// by hand changes nothing until it is mended; one that is gone has no tokens.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/access.h"
#include "service/token.h"
#include "weir/result.h"

namespace weir {

struct TokenFileOptions {
  std::string path;
  // What the time is.
  std::function<std::chrono::sys_seconds()> now = [] {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  };
  // Hears, once for each change, what is wrong with the file.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
};

class TokenFile final : public Access {
 public:
  // Fails if there is a file that makes no sense, or that others may write: to begin with nothing
  // would lock everybody out without a word.
  static Result<std::unique_ptr<TokenFile>> Open(TokenFileOptions options);

  // In a time that tells neither which token is nearest nor how near it is.
  [[nodiscard]] Caller Identify(std::string_view token) const override;

 private:
  // Which text the file has, without reading it.
  struct Identity {
    timespec changed{};
    off_t size = 0;
    ino_t inode = 0;
    bool exists = false;
    bool operator==(const Identity& other) const;
  };

  explicit TokenFile(TokenFileOptions options) : options_(std::move(options)) {}
  [[nodiscard]] Identity Look() const;
  std::optional<Error> Refresh() const;
  void RefreshIfChanged() const;
  [[nodiscard]] const TokenEntry* Find(const std::string& digest) const;

  TokenFileOptions options_;
  mutable std::mutex mutex_;  // of all below
  mutable std::vector<TokenEntry> tokens_;
  mutable Identity seen_;  // of the text that was last read, good or not
  mutable std::chrono::sys_seconds looked_{};
};

// What is in the file now; nothing if there is none.
Result<std::vector<TokenEntry>> LoadTokens(const std::string& path);

// Changes what is in the file: `edit` gets the tokens and says why it will not, if it will not. Of
// two who change it at once, one waits for the other.
std::optional<Error> EditTokens(
    const std::string& path,
    const std::function<std::optional<Error>(std::vector<TokenEntry>& tokens)>& edit);

}  // namespace weir
