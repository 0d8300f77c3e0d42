#include "server/running_server.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>
#include <variant>

#include "catalog/database_source.h"
#include "catalog/file_source.h"
#include "catalog/retriever.h"
#include "catalog/rule_store.h"
#include "frontend/handlers.h"
#include "limiter/ledger.h"
#include "net/server.h"
#include "server/admin_server.h"
#include "server/example_rules.h"
#include "service/checker.h"
#include "service/rules_service.h"

namespace weir {

// In the order of their making: each may use those before it.
struct RunningServer::Parts {
  ServeOptions options;
  std::atomic<bool> ready{false};
  HttpOptions http;
  RespOptions resp;
  GrpcOptions grpc;
  Traffic traffic;
  MetricsSources metrics;
  std::unique_ptr<Checker> checker;
  std::unique_ptr<catalog::Retriever> retriever;
  std::atomic<const net::Server*> counted{nullptr};  // `server`, for who reads while it starts
  std::unique_ptr<net::Server> server;
  // Where it listens; empty: not at all.
  std::string http_address;
  std::string resp_address;
  std::string grpc_address;
  std::unique_ptr<AdminServer> admin;  // null: not at all
};

namespace {

constexpr std::string_view kMemory = "memory";
constexpr std::chrono::seconds kDrain{10};
constexpr std::chrono::seconds kPatience{2};  // of an admin call, for its rules to be in force

std::string DatabaseOf(const ServeOptions& options) {
  if (!options.database.empty()) return options.database;
  return (options.state == kMemory ? "" : options.state + "/") + std::string("weir.db");
}

// A database that was never used gets a few rules to try.
std::optional<Error> AddExample(const std::string& url) {
  Result<std::unique_ptr<catalog::RuleStore>> store = catalog::RuleStore::Open(url);
  if (!store) return store.error();
  const Result<catalog::Revision> latest = (*store)->Latest();
  if (!latest) return latest.error();
  if (*latest > 0) return std::nullopt;
  RulesService service(std::move(*store));
  const auto applied = service.Import({{"the example", std::string(kExampleRules)}},
                                      {"weir", "an example to begin with"});
  if (const auto* refused = std::get_if<Refused>(&applied)) return Error{refused->message};
  return std::nullopt;
}

Result<std::unique_ptr<catalog::RuleSource>> SourceOf(const ServeOptions& options) {
  if (!options.rules.empty()) {
    return std::unique_ptr<catalog::RuleSource>(std::make_unique<catalog::FileSource>(
        options.rules, catalog::FileWatchOptions{},
        options.merge_domains ? catalog::SameSpace::kMerged : catalog::SameSpace::kRefused));
  }
  const std::string url = DatabaseOf(options);
  if (auto problem = AddExample(url)) return *problem;
  Result<std::unique_ptr<catalog::DatabaseSource>> source = catalog::DatabaseSource::Of(url);
  if (!source) return source.error();
  return std::unique_ptr<catalog::RuleSource>(std::move(*source));
}

Result<HttpOptions> HttpOptionsOf(const ServeOptions& options, const std::atomic<bool>& ready) {
  HttpOptions http;
  http.space = options.space;
  http.ready = &ready;
  http.rate_limit = options.rate_limit;
  const std::optional<FieldStyle> style = FieldStyleOf(options.fields);
  if (!style) {
    return Error{"--fields: there is draft-10, draft-06, x-ratelimit and none, got '" +
                 options.fields + "'"};
  }
  http.fields = *style;
  Result<std::vector<rule::Network>> gateways = ReadNetworks("--gateway", options.clients.gateways);
  if (!gateways) return gateways.error();
  http.gateways = std::move(*gateways);
  Result<rule::ClientOptions> clients = Read(options.clients);
  if (!clients) return clients.error();
  http.clients = rule::ClientIdentifier(std::move(*clients));
  return http;
}

}  // namespace

// What `parts` has to tell, for the page of metrics.
MetricsSources RunningServer::MetricsOf(const Parts& parts) {
  using std::chrono::milliseconds;
  return {.checker = parts.checker.get(),
          .traffic = &parts.traffic,
          .connections = [&counted = parts.counted]() -> std::optional<net::Totals> {
            const net::Server* server = counted.load(std::memory_order_acquire);
            return server != nullptr ? std::optional(server->totals()) : std::nullopt;
          },
          .retriever = [retriever = parts.retriever.get()] { return retriever->status(); },
          .version = parts.options.version,
          .started = std::chrono::floor<milliseconds>(std::chrono::system_clock::now())};
}

// What `parts` has to tell those who administer it. Without tokens nobody may call.
AdminParts RunningServer::AdminOf(const Parts& parts) {
  AdminParts admin;
  admin.checker = parts.checker.get();
  admin.files = parts.options.rules;
  admin.look_now = [retriever = parts.retriever.get()] { return retriever->LookNow(kPatience); };
  admin.status = parts.metrics;
  admin.listeners = [&parts] {
    std::vector<std::pair<std::string, std::string>> listeners;
    if (!parts.http_address.empty()) listeners.emplace_back("http", parts.http_address);
    if (!parts.grpc_address.empty()) listeners.emplace_back("grpc", parts.grpc_address);
    if (!parts.resp_address.empty()) listeners.emplace_back("resp", parts.resp_address);
    return listeners;
  };
  return admin;
}

RunningServer::RunningServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
RunningServer::~RunningServer() = default;

Result<std::unique_ptr<RunningServer>> RunningServer::Start(const ServeOptions& options) {
  auto parts = std::make_unique<Parts>();
  parts->options = options;
  Result<HttpOptions> http = HttpOptionsOf(options, parts->ready);
  if (!http) return http.error();
  parts->http = std::move(*http);
  parts->http.traffic = &parts->traffic;
  parts->http.metrics = &parts->metrics;
  parts->resp.password = options.password;
  parts->grpc.ready = &parts->ready;
  parts->grpc.rate_limit = options.rate_limit;
  parts->resp.traffic = &parts->traffic;
  parts->grpc.traffic = &parts->traffic;
  const Result<ConnectionSettings> connections = Read(options.connections);
  if (!connections) return connections.error();

  Result<std::unique_ptr<Ledger>> ledger = Ledger::Open(
      {.max_keys = options.max_keys, .folder = options.state == kMemory ? "" : options.state});
  if (!ledger) return ledger.error();
  parts->checker = std::make_unique<Checker>(std::move(*ledger), CheckerOptions{});

  Result<std::unique_ptr<catalog::RuleSource>> source = SourceOf(options);
  if (!source) return source.error();
  parts->retriever = std::make_unique<catalog::Retriever>(
      std::move(*source), catalog::RetrieverOptions{},
      [checker = parts->checker.get()](std::vector<rule::RuleSet> sets,
                                       const std::string& version) {
        return checker->Publish(std::move(sets), version);
      });
  const catalog::RetrieverStatus status = parts->retriever->Start();
  if (status.state() != catalog::RetrieverStatus::State::kInForce) {
    return Error{"there are no rules to begin with: " + status.ToString()};
  }

  parts->metrics = MetricsOf(*parts);

  std::vector<net::ListenerOptions> listeners;
  if (!options.http.empty()) {
    listeners.push_back(
        {.address = options.http, .handlers = HttpHandlers(*parts->checker, parts->http)});
  }
  if (!options.resp.empty()) {
    listeners.push_back(
        {.address = options.resp, .handlers = RespHandlers(*parts->checker, parts->resp)});
  }
  if (!options.grpc.empty()) {
    listeners.push_back(
        {.address = options.grpc, .handlers = GrpcHandlers(*parts->checker, parts->grpc)});
  }
  for (net::ListenerOptions& listener : listeners) {
    listener.limits = connections->limits;
    listener.proxy_protocol = connections->proxy_protocol;
  }
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  Result<std::unique_ptr<net::Server>> server =
      net::Server::Start({.loops = options.threads != 0 ? options.threads : cores,
                          .admission = connections->admission},
                         std::move(listeners));
  if (!server) return server.error();
  parts->server = std::move(*server);
  auto endpoint = parts->server->endpoints().begin();
  if (!options.http.empty()) parts->http_address = (endpoint++)->ToString();
  if (!options.resp.empty()) parts->resp_address = (endpoint++)->ToString();
  if (!options.grpc.empty()) parts->grpc_address = (endpoint++)->ToString();
  parts->counted.store(parts->server.get(), std::memory_order_release);
  if (!options.admin.empty()) {
    Result<std::unique_ptr<AdminServer>> admin = AdminServer::Start(
        options.admin, options.rules.empty() ? DatabaseOf(options) : "", AdminOf(*parts));
    if (!admin) return admin.error();
    parts->admin = std::move(*admin);
  }
  parts->ready = true;
  return std::unique_ptr<RunningServer>(new RunningServer(std::move(parts)));
}

std::string RunningServer::http_address() const { return parts_->http_address; }
std::string RunningServer::resp_address() const { return parts_->resp_address; }
std::string RunningServer::grpc_address() const { return parts_->grpc_address; }
std::string RunningServer::admin_address() const {
  return parts_->admin != nullptr ? parts_->admin->address() : "";
}

std::string RunningServer::Banner() const {
  std::string text;
  if (!http_address().empty()) text += "HTTP   on " + http_address() + "\n";
  if (!grpc_address().empty()) text += "gRPC   on " + grpc_address() + "\n";
  if (!resp_address().empty()) text += "Redis  on " + resp_address() + "\n";
  if (!admin_address().empty()) text += "admin  on " + admin_address() + "\n";
  text += "rules  from " + parts_->retriever->status().source + "\n";
  text += parts_->options.state == kMemory ? "state  in memory: it ends with the process\n"
                                           : "state  in " + parts_->options.state + "\n";
  if (!http_address().empty()) {
    text += "\nTry it, four times:  curl -i http://" + http_address() + "/check/hello\n";
  }
  return text;
}

void RunningServer::Stop() {
  parts_->ready = false;
  parts_->server->Stop(kDrain);
  if (parts_->admin != nullptr) parts_->admin->Stop(kDrain);
}

}  // namespace weir
