// The settings of TLS that are in use, which can be exchanged while connections come and go.
//
// A connection keeps the settings that it began with. Those that come later get the new ones. What
// cannot be used (half a file, a key of another certificate) leaves the old ones in use.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "net/tls_settings.h"
#include "weir/result.h"

namespace weir::net {

struct TlsStatus {
  TlsSettings::Time not_after;  // of the certificate in use
  std::uint64_t exchanged = 0;  // how often other settings came into use
  std::uint64_t failures = 0;   // looks in a row at which what was there could not be used
  std::string error = {};       // of the last look; empty: it was good
};

// Thread safety: any thread.
class TlsContext {
 public:
  // Reads the files, or says what is wrong.
  static Result<std::unique_ptr<TlsContext>> Open(TlsOptions options);

  // Looks at the files, and takes what is new. The error, if it cannot be used.
  //
  // Their contents are compared, not their times: whatever way they were exchanged, it is noticed.
  std::optional<Error> Reload();

  [[nodiscard]] std::shared_ptr<const TlsSettings> settings() const;
  [[nodiscard]] TlsStatus status() const;

 private:
  TlsContext(TlsOptions options, const TlsFiles& files,
             std::shared_ptr<const TlsSettings> settings);
  [[nodiscard]] std::optional<Error> Look();

  const TlsOptions options_;
  std::mutex looking_;                           // one look at a time
  TlsFiles::Digest in_use_;                      // guarded by looking_
  mutable std::mutex mutex_;                     // held for a moment: connections begin under it
  std::shared_ptr<const TlsSettings> settings_;  // guarded by mutex_
  TlsStatus status_;                             // guarded by mutex_
};

}  // namespace weir::net
