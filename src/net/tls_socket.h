// A socket as OpenSSL sees it (a BIO).
//
// OpenSSL's own would end the process by SIGPIPE when a peer has gone, and knows nothing of bytes
// that were read before the handshake began, behind a PROXY header.
#pragma once

#include <string>

#include "net/openssl.h"

namespace weir::net {

struct TlsSocket {
  int fd = -1;             // somebody else's
  std::string early = {};  // what was read from it before
  bool at_end = false;     // the peer sends no more

  // Makes `session` read and write here. It must not outlive this.
  void Serve(SSL& session);
};

}  // namespace weir::net
