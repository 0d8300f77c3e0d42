// A server's certificate in files that are gone when the test is over.
#pragma once

#include <memory>
#include <string>

#include "net/tls_context.h"
#include "tests/certificates.h"
#include "tests/temporary_file.h"

namespace weir {

class TlsFilesOfTest {
 public:
  explicit TlsFilesOfTest(const std::string& server = "server") {
    WriteFile(ca(), authority_.certificate());
    Exchange(server);
  }

  // Another certificate with another key, of the same authority, by that name.
  void Exchange(const std::string& server) { Write(authority_.IssueForServer(server)); }
  void Write(const TestCertificate& certificate) {
    WriteFile(this->certificate(), certificate.certificate);
    WriteFile(key(), certificate.key);
  }
  // Of a client; its files are NAME.crt and NAME.key.
  void IssueClient(const std::string& name, const TestCertificateOptions& options) {
    const TestCertificate client = authority_.Issue(options);
    WriteFile(path(name + ".crt"), client.certificate);
    WriteFile(path(name + ".key"), client.key);
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.folder() / name).string();
  }
  [[nodiscard]] std::string ca() const { return path("ca.crt"); }
  [[nodiscard]] std::string certificate() const { return path("server.crt"); }
  [[nodiscard]] std::string key() const { return path("server.key"); }
  [[nodiscard]] net::TlsOptions options() const {
    return {.certificate = certificate(), .key = key()};
  }
  [[nodiscard]] const TestAuthority& authority() const { return authority_; }

 private:
  TemporaryFile folder_;
  TestAuthority authority_;
};

}  // namespace weir
