// A certificate, its key, and what is asked of clients: read from files, checked, ready for use.
//
// TLS 1.2 and 1.3, ciphers with forward secrecy only, no renegotiation, no compression. Tickets are
// encrypted with a key that is made with the settings: what was agreed on under an old certificate,
// or with a client that is not allowed any more, is agreed on anew.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/openssl.h"
#include "net/tls_names.h"
#include "weir/result.h"

namespace weir::net {

// Where it is, as an operator says it. All files are PEM.
struct TlsOptions {
  std::string certificate = {};  // a file: ours, then those that vouch for it
  std::string key = {};          // a file: of ours, without a password
  std::string client_ca = {};    // a file: who vouches for clients; empty: they are not asked
  // Which of them are allowed (see AllowedNames); none: all that the CA vouches for.
  std::vector<std::string> client_names = {};
};

// The contents of the files.
struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string client_ca;

  // The error names the file.
  static Result<TlsFiles> Read(const TlsOptions& options);
  using Digest = std::array<unsigned char, 32>;
  [[nodiscard]] Digest Summary() const;
};

// Thread safety: does not change, so any.
class TlsSettings {
 public:
  using Time = std::chrono::sys_seconds;

  // Says what is wrong, with the name of the file.
  static Result<std::shared_ptr<const TlsSettings>> Make(const TlsOptions& options,
                                                         const TlsFiles& files);

  [[nodiscard]] SSL_CTX* context() const { return context_.get(); }
  [[nodiscard]] const AllowedNames& client_names() const { return client_names_; }
  [[nodiscard]] bool asks_clients() const { return asks_clients_; }
  [[nodiscard]] Time not_before() const { return not_before_; }
  [[nodiscard]] Time not_after() const { return not_after_; }
  // What is worth a warning: clients will not believe the certificate, or soon will not.
  [[nodiscard]] std::optional<std::string> Doubt(Time now) const;

 private:
  TlsSettings() = default;
  std::optional<Error> UseCertificate(const TlsOptions& options, const TlsFiles& files);
  std::optional<Error> UseKey(const TlsOptions& options, const TlsFiles& files);
  std::optional<Error> AskClients(const TlsOptions& options, const TlsFiles& files);

  openssl::Context context_;
  AllowedNames client_names_;
  bool asks_clients_ = false;
  Time not_before_;
  Time not_after_;
};

}  // namespace weir::net
