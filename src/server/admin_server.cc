#include "server/admin_server.h"

#include <utility>
#include <vector>

#include "catalog/rule_store.h"
#include "frontend/admin_session.h"

namespace weir {

Result<std::unique_ptr<AdminServer>> AdminServer::Start(const std::string& address,
                                                        const std::string& database,
                                                        AdminParts parts,
                                                        const net::TlsContext* tls) {
  std::unique_ptr<AdminServer> admin(new AdminServer(std::move(parts)));
  if (!database.empty()) {
    Result<std::unique_ptr<catalog::RuleStore>> store = catalog::RuleStore::Open(database);
    if (!store) return store.error();
    admin->rules_ = std::make_unique<RulesService>(std::move(*store));
    admin->parts_.rules = admin->rules_.get();
  }
  std::vector<net::ListenerOptions> listeners(1);
  listeners[0].address = address;
  listeners[0].handlers = AdminHandlers(admin->parts_);
  listeners[0].tls = tls;
  listeners[0].protocol = "http/1.1";
  // A few operators, not the world; each may keep one call's answer in memory.
  constexpr std::size_t kMostConnections = 256;
  Result<std::unique_ptr<net::Server>> server = net::Server::Start(
      {.loops = 1, .admission = {kMostConnections, kMostConnections}}, std::move(listeners));
  if (!server) return server.error();
  admin->server_ = std::move(*server);
  return admin;
}

}  // namespace weir
