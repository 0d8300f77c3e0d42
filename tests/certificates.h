// Certificates made for a test: an authority of its own, and what it vouches for.
#pragma once

#include <filesystem>
#include <string>

#include "net/openssl.h"

namespace weir {

// As PEM.
struct TestCertificate {
  std::string certificate;
  std::string key;
};

struct TestCertificateOptions {
  std::string common_name = "test";
  std::string alternatives = {};  // "DNS:localhost,IP:127.0.0.1"; empty: no SAN
  int days_from_now = 30;         // until which it is good; negative: it has expired
};

class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name = "test authority");

  [[nodiscard]] const std::string& certificate() const { return pem_; }
  [[nodiscard]] TestCertificate Issue(const TestCertificateOptions& options) const;
  // For a server on this host.
  [[nodiscard]] TestCertificate IssueForServer(const std::string& common_name = "server") const {
    return Issue({.common_name = common_name, .alternatives = "DNS:localhost,IP:127.0.0.1"});
  }

 private:
  net::openssl::Key key_;
  net::openssl::Certificate certificate_;
  std::string pem_;
};

// In one step, as whoever exchanges certificates should: readers find the old text or the new.
void WriteFile(const std::filesystem::path& path, const std::string& text);

}  // namespace weir
