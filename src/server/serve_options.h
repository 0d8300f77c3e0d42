// What `weir serve` can be told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "frontend/should_rate_limit.h"
#include "net/tls_settings.h"
#include "server/access_options.h"
#include "server/cluster_options.h"
#include "server/connection_options.h"
#include "server/identity_options.h"
#include "server/log_options.h"

namespace weir {

// Why a server is made.
enum class Purpose : std::uint8_t {
  kServe,
  kCheck,  // to see whether it could be: everything is read, nothing is written, nobody is listened
           // to
};

struct ServeOptions {
  std::string http = "127.0.0.1:8080";  // see net/endpoint.h; empty: not at all
  std::string resp = "127.0.0.1:6380";
  std::string grpc = "127.0.0.1:8081";
  std::string admin = "127.0.0.1:8082";
  std::string rules;                 // a file or a directory; empty: the database
  std::string database;              // empty: weir.db in the folder of the state
  std::string state = "weir-state";  // a folder; "memory": nothing survives the process
  std::uint64_t max_keys = 1'000'000;
  std::size_t threads = 0;  // 0: one per core
  std::string space = "default";
  std::string fields = "draft-10";
  std::string password;
  bool observe = true;               // counts for /metrics, and watches who asks most
  std::string version;               // of the program, to be told
  bool merge_domains = false;        // descriptors of one domain may be in several files
  RateLimitOptions rate_limit = {};  // how Envoy is answered
  AccessOptions access;
  IdentityOptions clients;
  ConnectionOptions connections;
  ClusterTold cluster;
  net::TlsOptions tls;
  LogOptions log;
  Purpose purpose = Purpose::kServe;
};

}  // namespace weir
