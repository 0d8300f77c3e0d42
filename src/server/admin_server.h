// The admin API of a running server: a listener and a loop of its own, so that a call that waits
// for the database keeps no decision waiting.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "frontend/admin_call.h"
#include "net/server.h"
#include "service/rules_service.h"
#include "weir/result.h"

namespace weir {

class AdminServer {
 public:
  // `database`: where rules are kept; empty: in files, which `parts` names. All that `parts` points
  // to must outlive it, as must `tls`, which an address that begins with `tls:` needs.
  static Result<std::unique_ptr<AdminServer>> Start(const std::string& address,
                                                    const std::string& database, AdminParts parts,
                                                    const net::TlsContext* tls);

  [[nodiscard]] std::string address() const { return server_->endpoints().front().ToString(); }
  void Stop(Nanos drain) { server_->Stop(drain); }

 private:
  explicit AdminServer(AdminParts parts) : parts_(std::move(parts)) {}

  AdminParts parts_;
  std::unique_ptr<RulesService> rules_;
  std::atomic<const net::Server*> listening_{nullptr};  // `server_`, once it is there
  std::unique_ptr<net::Server> server_;                 // last: its thread uses what is above
};

}  // namespace weir
