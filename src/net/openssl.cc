#include "net/openssl.h"

#include <openssl/err.h>

#include "base/check.h"

namespace weir::net::openssl {

std::string TakeError() {
  const unsigned long error = ERR_get_error();  // NOLINT(google-runtime-int): as OpenSSL has it
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "OpenSSL does not say why";
}

Bio ReadFrom(std::string_view text) {
  Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  WEIR_CHECK(bio != nullptr);
  return bio;
}

}  // namespace weir::net::openssl
