#include "net/tls_client_settings.h"

#include <openssl/err.h>

#include "base/check.h"
#include "rule/address.h"

namespace weir::net {

Result<openssl::Context> MakeClientContext(const TlsClientOptions& options) {
  openssl::Context context(SSL_CTX_new(TLS_client_method()));
  WEIR_CHECK(context != nullptr);
  SSL_CTX* const all = context.get();
  SSL_CTX_set_min_proto_version(all, TLS1_2_VERSION);
  SSL_CTX_set_options(all, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_verify(all, SSL_VERIFY_PEER, nullptr);
  ERR_clear_error();
  const int believes = options.ca.empty() ? SSL_CTX_set_default_verify_paths(all)
                                          : SSL_CTX_load_verify_file(all, options.ca.c_str());
  if (believes != 1) {
    return Error{options.ca + ": there are no certificates in it: " + openssl::TakeError()};
  }
  if (options.certificate.empty()) return context;
  if (SSL_CTX_use_certificate_chain_file(all, options.certificate.c_str()) != 1) {
    return Error{options.certificate + ": cannot be used: " + openssl::TakeError()};
  }
  if (SSL_CTX_use_PrivateKey_file(all, options.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Error{options.key + ": is not the key of " + options.certificate + ": " +
                 openssl::TakeError()};
  }
  return context;
}

void ExpectServer(SSL& session, const std::string& name) {
  X509_VERIFY_PARAM* const verified = SSL_get0_param(&session);
  if (rule::Address::Parse(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(verified, name.c_str());
  } else {
    SSL_set_tlsext_host_name(&session, name.c_str());
    X509_VERIFY_PARAM_set1_host(verified, name.c_str(), 0);
  }
}

std::string WhyNotBelieved(const SSL& session) {
  const auto verdict = SSL_get_verify_result(&session);
  if (verdict == X509_V_OK) return "";
  return std::string("its certificate is not believed: ") + X509_verify_cert_error_string(verdict);
}

}  // namespace weir::net
