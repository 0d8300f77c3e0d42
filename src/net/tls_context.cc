#include "net/tls_context.h"

#include <utility>

namespace weir::net {

Result<std::unique_ptr<TlsContext>> TlsContext::Open(TlsOptions options) {
  const Result<TlsFiles> files = TlsFiles::Read(options);
  if (!files) return files.error();
  Result<std::shared_ptr<const TlsSettings>> settings = TlsSettings::Make(options, *files);
  if (!settings) return settings.error();
  return std::unique_ptr<TlsContext>(
      new TlsContext(std::move(options), *files, std::move(*settings)));
}

TlsContext::TlsContext(TlsOptions options, const TlsFiles& files,
                       std::shared_ptr<const TlsSettings> settings)
    : options_(std::move(options)),
      in_use_(files.Summary()),
      settings_(std::move(settings)),
      status_{.not_after = settings_->not_after()} {}

std::optional<Error> TlsContext::Reload() {
  const std::lock_guard one_at_a_time(looking_);
  std::optional<Error> error = Look();
  const std::lock_guard lock(mutex_);
  status_.failures = error ? status_.failures + 1 : 0;
  status_.error = error ? error->message : "";
  return error;
}

std::optional<Error> TlsContext::Look() {
  const Result<TlsFiles> files = TlsFiles::Read(options_);
  if (!files) return files.error();
  const TlsFiles::Digest found = files->Summary();
  if (found == in_use_) return std::nullopt;
  Result<std::shared_ptr<const TlsSettings>> settings = TlsSettings::Make(options_, *files);
  if (!settings) return settings.error();
  in_use_ = found;
  const std::lock_guard lock(mutex_);
  status_.not_after = (*settings)->not_after();
  ++status_.exchanged;
  settings_ = std::move(*settings);
  return std::nullopt;
}

std::shared_ptr<const TlsSettings> TlsContext::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

TlsStatus TlsContext::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace weir::net
