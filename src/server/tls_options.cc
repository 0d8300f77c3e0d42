#include "server/tls_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "net/endpoint.h"

namespace weir {
namespace {

bool IsTls(const Place& place) {
  const Result<net::Endpoint> endpoint = net::Endpoint::Parse(place.address);
  return endpoint && endpoint->tls;
}

// An option that would have no effect is a mistake, and one that nobody notices: connections that
// were meant to be encrypted are not.
std::optional<Error> Contradiction(const net::TlsOptions& options, const Place* encrypted) {
  if (options.certificate.empty() != options.key.empty()) {
    return Error{options.key.empty() ? "--tls-certificate: its key is missing; give --tls-key FILE"
                                     : "--tls-key: its certificate is missing; give "
                                       "--tls-certificate FILE"};
  }
  if (options.client_ca.empty() && !options.client_names.empty()) {
    return Error{"--tls-client-name: nobody is asked for a certificate; give --tls-client-ca FILE"};
  }
  if (options.certificate.empty() && !options.client_ca.empty()) {
    return Error{
        "--tls-client-ca: there is no TLS; give --tls-certificate FILE and --tls-key FILE"};
  }
  if (encrypted != nullptr && options.certificate.empty()) {
    return Error{encrypted->option + " " + encrypted->address +
                 ": there is no certificate; give --tls-certificate FILE and --tls-key FILE"};
  }
  if (encrypted == nullptr && !options.certificate.empty()) {
    return Error{"--tls-certificate: nothing listens with TLS; write --http tls:HOST:PORT"};
  }
  return std::nullopt;
}

}  // namespace

void AddTlsOptions(CLI::App& command, net::TlsOptions& options) {
  const std::string group = "TLS, for places to listen on that begin with tls:";
  command
      .add_option("--tls-certificate", options.certificate,
                  "A file (PEM): the certificate, then those that vouch for it; read again when it "
                  "changes")
      ->group(group);
  command.add_option("--tls-key", options.key, "A file (PEM): its key, without a password")
      ->group(group);
  command
      .add_option("--tls-client-ca", options.client_ca,
                  "A file (PEM): who vouches for clients, which must then have a certificate")
      ->group(group);
  command
      .add_option("--tls-client-name", options.client_names,
                  "Names that a client's certificate may have, e.g. gateway.example.com or "
                  "*.example.com; without it any")
      ->group(group);
}

Result<std::unique_ptr<net::TlsContext>> OpenTls(const net::TlsOptions& options,
                                                 const std::vector<Place>& places) {
  const auto encrypted = std::find_if(places.begin(), places.end(), IsTls);
  const Place* const first = encrypted == places.end() ? nullptr : &*encrypted;
  if (auto error = Contradiction(options, first)) return *std::move(error);
  if (first == nullptr) return std::unique_ptr<net::TlsContext>();
  return net::TlsContext::Open(options);
}

std::optional<Error> RefusePlainToOthers(const Place& place) {
  if (place.address.empty()) return std::nullopt;
  const Result<net::Endpoint> endpoint = net::Endpoint::Parse(place.address);
  if (!endpoint) return endpoint.error();
  if (endpoint->tls || endpoint->is_local()) return std::nullopt;
  return Error{place.option + " " + place.address +
               ": would be open to other hosts in plain text; write tls:" + place.address +
               " with --tls-certificate and --tls-key, or an address of this host such as "
               "127.0.0.1:" +
               std::to_string(endpoint->port)};
}

std::string BannerLine(std::string_view protocol, const std::string& address) {
  if (address.empty()) return "";
  std::string line(protocol);
  line.resize(7, ' ');
  line += "on " + address + "\n";
  const Result<net::Endpoint> endpoint = net::Endpoint::Parse(address);
  if (endpoint && !endpoint->tls && !endpoint->is_local()) {
    line +=
        "       in plain text, for other hosts too: for a network that you trust, or write tls:" +
        address + "\n";
  }
  return line;
}

std::string UrlOf(const std::string& address) {
  const Result<net::Endpoint> endpoint = net::Endpoint::Parse(address);
  if (!endpoint) return address;
  return (endpoint->tls ? "https://" : "http://") + endpoint->Authority();
}

}  // namespace weir
