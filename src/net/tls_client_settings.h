// What a client of TLS asks of a server, and shows to it: for who waits (tls_client.h) and for who
// does not (tls_client_stream.h).
//
// TLS 1.2 and 1.3, no renegotiation, no compression. Nobody is believed whose certificate is not
// good for the name that was to be reached.
#pragma once

#include <chrono>
#include <string>

#include "net/openssl.h"
#include "weir/result.h"

namespace weir::net {

struct TlsClientOptions {
  std::string ca = {};           // a file (PEM): who vouches for the server; empty: the system's
  std::string server_name = {};  // that its certificate must have; empty: the host that is asked
  std::string certificate = {};  // files (PEM) of our own, for a server that asks; empty: none
  std::string key = {};
  std::string protocol = "http/1.1";                            // ALPN; empty: not said
  std::chrono::milliseconds timeout{std::chrono::seconds(10)};  // of each step
};

// Reads the files. The error names the one that cannot be used.
Result<openssl::Context> MakeClientContext(const TlsClientOptions& options);

// Says to `session` whose certificate is to be believed: the server's of that name, or address.
void ExpectServer(SSL& session, const std::string& name);

// Why the server is not believed, after a handshake that failed; empty if that was not the reason.
std::string WhyNotBelieved(const SSL& session);

}  // namespace weir::net
