// The socket as OpenSSL sees it (a BIO).
//
// OpenSSL's own would end the process by SIGPIPE when a peer has gone, and knows nothing of bytes
// that were read before the handshake began, behind a PROXY header.
#pragma once

#include "net/openssl.h"

namespace weir::net {

class TlsStream;

struct TlsSocket {
  // Of `stream`, which outlives it. The caller owns it.
  static BIO* Of(TlsStream& stream);

 private:
  static const BIO_METHOD* Method();
  static int Read(BIO* bio, char* buffer, int size);
  static int Write(BIO* bio, const char* bytes, int size);
  static long Control(BIO* bio, int command, long number,
                      void* pointer);  // NOLINT(google-runtime-int)
};

}  // namespace weir::net
