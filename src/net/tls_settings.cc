#include "net/tls_settings.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>

#include "base/check.h"
#include "net/tls_stream.h"

namespace weir::net {
namespace {

// Those of TLS 1.2; those of 1.3 are all good.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr std::string_view kSessions = "weir";
constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::chrono::days kSoon{7};

Result<std::string> ReadFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad() || (file.gcount() == 0 && errno != 0)) {
    return Error{path + ": cannot be read: " + std::strerror(errno)};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestFile) return Error{path + ": is too large for certificates and keys"};
  return text;
}

// OpenSSL would ask at the terminal otherwise.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) { return 0; }

Result<std::vector<openssl::Certificate>> ReadCertificates(const std::string& path,
                                                           std::string_view text) {
  ERR_clear_error();
  const openssl::Bio bio = openssl::ReadFrom(text);
  std::vector<openssl::Certificate> all;
  while (X509* one = PEM_read_bio_X509(bio.get(), nullptr, NoPassword, nullptr)) {
    all.emplace_back(one);
  }
  // The end of the file is an error to OpenSSL, and the only one that is expected.
  const bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string reason = openssl::TakeError();
  if (!is_end) return Error{path + ": is damaged: " + reason};
  if (all.empty()) {
    return Error{path +
                 ": there is no certificate in it; it must hold -----BEGIN CERTIFICATE-----"};
  }
  return all;
}

TlsSettings::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  WEIR_CHECK(ASN1_TIME_to_tm(time, &parts) == 1);
  return TlsSettings::Time(std::chrono::seconds(timegm(&parts)));
}

std::string DayOf(TlsSettings::Time time) {
  const std::time_t seconds = time.time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts)};
}

openssl::Context MakeContext() {
  openssl::Context context(SSL_CTX_new(TLS_server_method()));
  WEIR_CHECK(context != nullptr);
  SSL_CTX* const all = context.get();
  SSL_CTX_set_min_proto_version(all, TLS1_2_VERSION);
  WEIR_CHECK(SSL_CTX_set_cipher_list(all, kCiphers) == 1);
  // Requests say themselves where they end: a client that hangs up without a goodbye, as many do,
  // takes nothing from us that could be taken for more than it is.
  SSL_CTX_set_options(
      all, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(all, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(all, 1);  // one read per record, not two
  // Sessions are in the tickets that clients keep: nothing here grows with them.
  SSL_CTX_set_session_cache_mode(all, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_session_id_context(all, reinterpret_cast<const unsigned char*>(kSessions.data()),
                                 kSessions.size());
  TlsStream::Prepare(all);
  return context;
}

}  // namespace

Result<TlsFiles> TlsFiles::Read(const TlsOptions& options) {
  TlsFiles files;
  for (const auto& [path, text] :
       {std::pair{&options.certificate, &files.certificate}, std::pair{&options.key, &files.key},
        std::pair{&options.client_ca, &files.client_ca}}) {
    if (path->empty()) continue;
    Result<std::string> read = ReadFile(*path);
    if (!read) return read.error();
    *text = std::move(*read);
  }
  return files;
}

TlsFiles::Digest TlsFiles::Summary() const {
  std::string all;
  for (const std::string* text : {&certificate, &key, &client_ca}) {
    all += std::to_string(text->size()) + ":" + *text;
  }
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(all.data()), all.size(), digest.data());
  return digest;
}

Result<std::shared_ptr<const TlsSettings>> TlsSettings::Make(const TlsOptions& options,
                                                             const TlsFiles& files) {
  const std::shared_ptr<TlsSettings> settings(new TlsSettings);
  settings->context_ = MakeContext();
  if (auto error = settings->UseCertificate(options, files)) return *std::move(error);
  if (auto error = settings->UseKey(options, files)) return *std::move(error);
  if (auto error = settings->AskClients(options, files)) return *std::move(error);
  return std::shared_ptr<const TlsSettings>(settings);
}

std::optional<Error> TlsSettings::UseCertificate(const TlsOptions& options, const TlsFiles& files) {
  auto chain = ReadCertificates(options.certificate, files.certificate);
  if (!chain) return chain.error();
  X509* const ours = chain->front().get();
  not_before_ = TimeOf(X509_get0_notBefore(ours));
  not_after_ = TimeOf(X509_get0_notAfter(ours));
  bool is_used = SSL_CTX_use_certificate(context_.get(), ours) == 1;
  for (auto other = chain->begin() + 1; other != chain->end() && is_used; ++other) {
    is_used = SSL_CTX_add1_chain_cert(context_.get(), other->get()) == 1;
  }
  if (is_used) return std::nullopt;
  return Error{options.certificate + ": cannot be used: " + openssl::TakeError()};
}

std::optional<Error> TlsSettings::UseKey(const TlsOptions& options, const TlsFiles& files) {
  ERR_clear_error();
  const openssl::Bio bio = openssl::ReadFrom(files.key);
  const openssl::Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
  if (!key) {
    return Error{options.key + ": there is no key in it that can be read: " + openssl::TakeError() +
                 "; it must hold -----BEGIN PRIVATE KEY-----, without a password"};
  }
  if (SSL_CTX_use_PrivateKey(context_.get(), key.get()) != 1 ||
      SSL_CTX_check_private_key(context_.get()) != 1) {
    ERR_clear_error();
    return Error{options.key + ": is not the key of " + options.certificate +
                 "; the two must be made together"};
  }
  return std::nullopt;
}

std::optional<Error> TlsSettings::AskClients(const TlsOptions& options, const TlsFiles& files) {
  Result<AllowedNames> names = AllowedNames::Make(options.client_names);
  if (!names) return names.error();
  client_names_ = std::move(*names);
  asks_clients_ = !options.client_ca.empty();
  if (!asks_clients_) return std::nullopt;
  const auto authorities = ReadCertificates(options.client_ca, files.client_ca);
  if (!authorities) return authorities.error();
  for (const openssl::Certificate& one : *authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), one.get()) != 1 ||
        SSL_CTX_add_client_CA(context_.get(), one.get()) != 1) {
      return Error{options.client_ca + ": cannot be used: " + openssl::TakeError()};
    }
  }
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     TlsStream::JudgeClient);
  return std::nullopt;
}

std::optional<std::string> TlsSettings::Doubt(Time now) const {
  if (now >= not_after_)
    return "the certificate has expired: it was good until " + DayOf(not_after_);
  if (now < not_before_) return "the certificate is not good before " + DayOf(not_before_);
  if (now >= not_after_ - kSoon) return "the certificate expires soon, " + DayOf(not_after_);
  return std::nullopt;
}

}  // namespace weir::net
