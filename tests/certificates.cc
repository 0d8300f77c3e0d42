#include "tests/certificates.h"

#include <openssl/pem.h>
#include <openssl/rand.h>

#include <fstream>

#include "base/check.h"
#include "base/freed_by.h"

namespace weir {
namespace {

using net::openssl::Bio;
using net::openssl::Certificate;
using net::openssl::Key;

std::string TextOf(BIO* bio) {
  char* text = nullptr;
  const auto size = BIO_get_mem_data(bio, &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string PemOf(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  WEIR_CHECK(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return TextOf(bio.get());
}

std::string PemOf(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  WEIR_CHECK(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return TextOf(bio.get());
}

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, FreedBy<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  WEIR_CHECK(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1);
}

Certificate Unsigned(const std::string& name, EVP_PKEY* key, int days_from_now) {
  Certificate certificate(X509_new());
  X509* const all = certificate.get();
  X509_set_version(all, 2);
  unsigned char serial[8];
  WEIR_CHECK(RAND_bytes(serial, sizeof serial) == 1);
  std::uint64_t number = 0;
  for (const unsigned char byte : serial) number = (number << 8) | byte;
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(all), number >> 1);
  X509_time_adj_ex(X509_getm_notBefore(all), -365, 0, nullptr);
  X509_time_adj_ex(X509_getm_notAfter(all), days_from_now, 0, nullptr);
  X509_set_pubkey(all, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(all), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

}  // namespace

TestAuthority::TestAuthority(const std::string& name)
    : key_(EVP_EC_gen("P-256")), certificate_(Unsigned(name, key_.get(), 30)) {
  X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
  AddExtension(certificate_.get(), certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate_.get(), certificate_.get(), NID_subject_key_identifier, "hash");
  WEIR_CHECK(X509_sign(certificate_.get(), key_.get(), EVP_sha256()) > 0);
  pem_ = PemOf(certificate_.get());
}

TestCertificate TestAuthority::Issue(const TestCertificateOptions& options) const {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = Unsigned(options.common_name, key.get(), options.days_from_now);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  if (!options.alternatives.empty()) {
    AddExtension(certificate.get(), certificate_.get(), NID_subject_alt_name, options.alternatives);
  }
  WEIR_CHECK(X509_sign(certificate.get(), key_.get(), EVP_sha256()) > 0);
  return {.certificate = PemOf(certificate.get()), .key = PemOf(key.get())};
}

void WriteFile(const std::filesystem::path& path, const std::string& text) {
  const std::string fresh = path.string() + ".new";
  std::ofstream(fresh) << text;
  std::filesystem::rename(fresh, path);
}

}  // namespace weir
