// Owners of OpenSSL's objects, and its errors as text.
//
// OpenSSL keeps errors in a queue per thread, where they stay until somebody takes them: who asks
// it for something clears the queue first, or the error of one connection is taken for another's.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/freed_by.h"

namespace weir::net::openssl {

using Bio = std::unique_ptr<BIO, FreedBy<BIO_free>>;
using Certificate = std::unique_ptr<X509, FreedBy<X509_free>>;
using Context = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
using Key = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, FreedBy<GENERAL_NAMES_free>>;
using Session = std::unique_ptr<SSL, FreedBy<SSL_free>>;

// The reason of the oldest error of this thread, and none is left after it.
std::string TakeError();

// To read `text`, which outlives it.
Bio ReadFrom(std::string_view text);

}  // namespace weir::net::openssl
