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
  // Calls are answered before we know where we listen, so this may be asked for meanwhile.
  admin->parts_.listeners = [others = std::move(admin->parts_.listeners), self = admin.get()] {
    auto listeners = others ? others() : std::vector<std::pair<std::string, std::string>>();
    const net::Server* server = self->listening_.load(std::memory_order_acquire);
    if (server != nullptr) listeners.emplace_back("admin", server->endpoints().front().ToString());
    return listeners;
  };
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
  admin->listening_.store(admin->server_.get(), std::memory_order_release);
  return admin;
}

}  // namespace weir
