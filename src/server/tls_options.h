// What `weir serve` is told about TLS, and what it makes of the places to listen on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/tls_context.h"
#include "weir/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

void AddTlsOptions(CLI::App& command, net::TlsOptions& options);

// A place to listen on, as an option says it: {"--http", "tls:[::]:8443"}. Empty: not at all.
struct Place {
  std::string option;
  std::string address;
};

// For those of `places` that begin with `tls:`; null if none does. Says which option is missing, or
// what is wrong with a file.
Result<std::unique_ptr<net::TlsContext>> OpenTls(const net::TlsOptions& options,
                                                 const std::vector<Place>& places);

// Whoever can read the bytes of an admin interface can take it over: it is served in plain text to
// this host only. The error, if `place` is anything else.
std::optional<Error> RefusePlainToOthers(const Place& place);

// The line of the banner for where `protocol` is listened on; it warns where others than this host
// can listen in.
std::string BannerLine(std::string_view protocol, const std::string& address);

// "https://127.0.0.1:8443" of "tls:127.0.0.1:8443".
std::string UrlOf(const std::string& address);

}  // namespace weir
