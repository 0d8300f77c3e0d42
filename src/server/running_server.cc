#include "server/running_server.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>
#include <variant>

#include "catalog/database_source.h"
#include "catalog/database_url.h"
#include "catalog/file_source.h"
#include "catalog/retriever.h"
#include "catalog/rule_store.h"
#include "frontend/handlers.h"
#include "limiter/ledger.h"
#include "net/endpoint.h"
#include "net/server.h"
#include "net/tls_watch.h"
#include "server/admin_server.h"
#include "server/example_rules.h"
#include "server/look_log.h"
#include "server/loop_cluster.h"
#include "server/tls_options.h"
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
  ConnectionSettings connections;
  std::optional<ClusterSettings> cluster;  // nothing: in none
  Clusters clusters;                       // of each loop; `server` has them
  AccessParts access;
  std::unique_ptr<Checker> checker;
  std::unique_ptr<catalog::Retriever> retriever;
  std::unique_ptr<net::TlsContext> tls;  // null: nothing is encrypted
  std::unique_ptr<net::TlsWatch> tls_watch;
  std::atomic<const net::Server*> counted{nullptr};  // `server`, for who reads while it starts
  std::unique_ptr<net::Server> server;
  // Where it listens; empty: not at all.
  std::string http_address;
  std::string resp_address;
  std::string grpc_address;
  std::string admin_address;
  std::unique_ptr<AdminServer> admin;  // null: not at all

  // The steps of a start, in their order.
  std::optional<Error> ReadOptions();
  std::optional<Error> OpenState();
  std::optional<Error> FetchRules(Log* log);
  std::optional<Error> Listen(Log* log);
  std::optional<Error> ListenNowhere();
};

namespace {

constexpr std::chrono::seconds kDrain{10};
constexpr std::chrono::seconds kReloadPatience{10};  // with a source of rules that is asked again
constexpr std::chrono::seconds kAdminPatience{2};  // of an admin call, for its rules to be in force

std::string DatabaseOf(const ServeOptions& options) {
  if (!options.database.empty()) return options.database;
  return (options.state == kStateInMemory ? "" : options.state + "/") + std::string("weir.db");
}

// Whether the first start would make it: a look at it would too, and a check must not.
bool IsStillToBeMade(const ServeOptions& options) {
  if (!options.rules.empty()) return false;
  const Result<catalog::DatabaseUrl> url = catalog::ParseDatabaseUrl(DatabaseOf(options));
  return url && url->engine == catalog::Engine::kSqlite && !std::filesystem::exists(url->shown);
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
    // With its Redis envoyproxy/ratelimit shares all its limits.
    const bool has_cluster = !options.cluster.redis.empty();
    return std::unique_ptr<catalog::RuleSource>(std::make_unique<catalog::FileSource>(
        options.rules, catalog::FileWatchOptions{},
        options.merge_domains ? catalog::SameSpace::kMerged : catalog::SameSpace::kRefused,
        has_cluster ? rule::Sharing::kStrict : rule::Sharing::kNone));
  }
  const std::string url = DatabaseOf(options);
  if (options.purpose == Purpose::kServe) {
    if (auto problem = AddExample(url)) return *problem;
  }
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
  std::function<net::TlsStatus()> tls;
  if (parts.tls) tls = [context = parts.tls.get()] { return context->status(); };
  std::function<ClusterCounts()> cluster;
  if (parts.cluster) {
    cluster = [&parts] {
      ClusterCounts all;
      // They are there from the first connection on to the last.
      if (parts.counted.load(std::memory_order_acquire) == nullptr) return all;
      for (const Cluster* one : parts.clusters) all += one->counts();
      return all;
    };
  }
  return {.checker = parts.checker.get(),
          .traffic = &parts.traffic,
          .connections = [&counted = parts.counted]() -> std::optional<net::Totals> {
            const net::Server* server = counted.load(std::memory_order_acquire);
            return server != nullptr ? std::optional(server->totals()) : std::nullopt;
          },
          .tls = std::move(tls),
          .cluster = std::move(cluster),
          .retriever = [retriever = parts.retriever.get()] { return retriever->status(); },
          .version = parts.options.version,
          .started = std::chrono::floor<milliseconds>(std::chrono::system_clock::now())};
}

// What `parts` has to tell those who administer it.
AdminParts RunningServer::AdminOf(const Parts& parts) {
  AdminParts admin;
  admin.checker = parts.checker.get();
  admin.access = parts.access.tokens.get();
  admin.audit = parts.access.audit.get();
  admin.files = parts.options.rules;
  admin.look_now = [retriever = parts.retriever.get()] {
    return retriever->LookNow(kAdminPatience);
  };
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

Result<std::unique_ptr<RunningServer>> RunningServer::Start(const ServeOptions& options, Log* log) {
  auto parts = std::make_unique<Parts>();
  parts->options = options;
  const bool is_check = options.purpose == Purpose::kCheck;
  if (auto problem = parts->ReadOptions()) return *problem;
  if (auto problem = parts->OpenState()) return *problem;
  if (auto problem = parts->FetchRules(log)) return *problem;
  parts->metrics = MetricsOf(*parts);
  if (auto problem = is_check ? parts->ListenNowhere() : parts->Listen(log)) return *problem;
  if (!is_check && !options.admin.empty()) {
    Result<std::unique_ptr<AdminServer>> admin =
        AdminServer::Start(options.admin, options.rules.empty() ? DatabaseOf(options) : "",
                           AdminOf(*parts), parts->tls.get());
    if (!admin) return admin.error();
    parts->admin = std::move(*admin);
    parts->admin_address = parts->admin->address();
  }
  parts->ready = !is_check;
  return std::unique_ptr<RunningServer>(new RunningServer(std::move(parts)));
}

std::optional<Error> RunningServer::Parts::ReadOptions() {
  Result<HttpOptions> read = HttpOptionsOf(options, ready);
  if (!read) return read.error();
  http = std::move(*read);
  http.metrics = &metrics;
  resp.password = options.password;
  grpc.ready = &ready;
  grpc.rate_limit = options.rate_limit;
  if (options.observe) http.traffic = resp.traffic = grpc.traffic = &traffic;
  Result<ConnectionSettings> settings = Read(options.connections);
  if (!settings) return settings.error();
  connections = *settings;
  Result<std::optional<ClusterSettings>> shared = Read(options.cluster);
  if (!shared) return shared.error();
  cluster = std::move(*shared);
  if (auto error = RefusePlainToOthers({"--admin", options.admin})) return error;
  Result<std::unique_ptr<net::TlsContext>> context =
      OpenTls(options.tls, {{"--http", options.http},
                            {"--resp", options.resp},
                            {"--grpc", options.grpc},
                            {"--admin", options.admin}});
  if (!context) return context.error();
  tls = std::move(*context);
  return std::nullopt;
}

// A check makes nothing: neither a folder, nor room for keys, nor a token.
std::optional<Error> RunningServer::Parts::OpenState() {
  const bool is_check = options.purpose == Purpose::kCheck;
  const bool is_kept = options.state != kStateInMemory && !is_check;
  Result<std::unique_ptr<Ledger>> ledger = Ledger::Open(
      {.max_keys = is_check ? 1 : options.max_keys, .folder = is_kept ? options.state : ""});
  if (!ledger) return ledger.error();
  checker = std::make_unique<Checker>(
      std::move(*ledger),
      CheckerOptions{
          .has_room = {}, .observe = options.observe, .has_cluster = cluster.has_value()});
  Result<AccessParts> opened = is_check ? CheckAccess(options.access, options.state)
                                        : OpenAccess(options.access, options.state);
  if (!opened) return opened.error();
  access = std::move(*opened);
  if (options.access.resp_auth) resp.access = access.tokens.get();
  return std::nullopt;
}

std::optional<Error> RunningServer::Parts::FetchRules(Log* log) {
  Result<std::unique_ptr<catalog::RuleSource>> source = SourceOf(options);
  if (!source) return source.error();
  retriever = std::make_unique<catalog::Retriever>(
      std::move(*source), catalog::RetrieverOptions{},
      [to = checker.get()](std::vector<rule::RuleSet> sets, const std::string& version) {
        return to->Publish(std::move(sets), version);
      },
      [log](const catalog::RetrieverStatus& before, const catalog::RetrieverStatus& after) {
        if (log != nullptr) LogLook(*log, before, after);
      });
  if (options.purpose == Purpose::kCheck && IsStillToBeMade(options)) return std::nullopt;
  const catalog::RetrieverStatus status = retriever->Start();
  if (status.state() == catalog::RetrieverStatus::State::kInForce) return std::nullopt;
  return Error{"there are no rules to begin with: " + status.ToString()};
}

std::optional<Error> RunningServer::Parts::Listen(Log* log) {
  std::vector<net::ListenerOptions> listeners;
  std::vector<std::string*> addresses;
  const auto add = [&](const std::string& address, net::HandlerFactory handlers,
                       std::string protocol, std::string& chosen) {
    if (address.empty()) return;
    listeners.push_back({.address = address,
                         .handlers = std::move(handlers),
                         .limits = connections.limits,
                         .proxy_protocol = connections.proxy_protocol,
                         .tls = tls.get(),
                         .protocol = std::move(protocol)});
    addresses.push_back(&chosen);
  };
  add(options.http, HttpHandlers(*checker, http, clusters), "http/1.1", http_address);
  add(options.resp, RespHandlers(*checker, resp, clusters), "", resp_address);
  add(options.grpc, GrpcHandlers(*checker, grpc, clusters), "h2", grpc_address);
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  net::ServerOptions loops{.loops = options.threads != 0 ? options.threads : cores,
                           .admission = connections.admission};
  if (cluster) {
    loops.companion = [this, log](net::Loop& loop) {
      auto companion = std::make_unique<LoopCluster>(loop, *cluster, log);
      clusters.push_back(&companion->cluster);
      return companion;
    };
  }
  Result<std::unique_ptr<net::Server>> started = net::Server::Start(loops, std::move(listeners));
  if (!started) return started.error();
  server = std::move(*started);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    *addresses[i] = server->endpoints()[i].ToString();
  }
  if (tls) {
    tls_watch = std::make_unique<net::TlsWatch>(
        *tls, std::chrono::seconds(2),
        [log](const net::TlsStatus& before, const net::TlsStatus& after) {
          if (log != nullptr) LogLook(*log, before, after);
        });
  }
  counted.store(server.get(), std::memory_order_release);
  return std::nullopt;
}

// What Purpose::kCheck comes to: a server that has all but its sockets.
std::optional<Error> RunningServer::Parts::ListenNowhere() {
  for (const auto& [option, address] : {std::pair{"--http", options.http},
                                        {"--resp", options.resp},
                                        {"--grpc", options.grpc},
                                        {"--admin", options.admin}}) {
    if (address.empty()) continue;
    const Result<net::Endpoint> endpoint = net::Endpoint::Parse(address);
    if (!endpoint) return Error{option + (": " + endpoint.error().message)};
  }
  http_address = options.http;
  resp_address = options.resp;
  grpc_address = options.grpc;
  admin_address = options.admin;
  return std::nullopt;
}

std::string RunningServer::http_address() const { return parts_->http_address; }
std::string RunningServer::resp_address() const { return parts_->resp_address; }
std::string RunningServer::grpc_address() const { return parts_->grpc_address; }
std::string RunningServer::admin_address() const { return parts_->admin_address; }

std::string RunningServer::Banner() const {
  std::string text;
  text += BannerLine("HTTP", http_address());
  text += BannerLine("gRPC", grpc_address());
  text += BannerLine("Redis", resp_address());
  text += BannerLine("admin", admin_address());
  if (parts_->tls) {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const std::optional<std::string> doubt = parts_->tls->settings()->Doubt(now);
    if (doubt) text += "TLS    " + *doubt + "\n";
  }
  text += "rules  from " + parts_->retriever->status().source;
  text += rules_version().empty() ? ", which is still to be made, with an example\n" : "\n";
  text += parts_->options.state == kStateInMemory ? "state  in memory: it ends with the process\n"
                                                  : "state  in " + parts_->options.state + "\n";
  if (parts_->cluster) {
    text += "shared over Redis at";
    for (const net::Endpoint& endpoint : parts_->cluster->redis.endpoints) {
      text += " " + endpoint.ToString();
    }
    text += "\n";
  }
  text += parts_->access.banner;
  if (!http_address().empty() && parts_->server != nullptr) {
    text += "\nTry it, four times:  curl -i " + UrlOf(http_address()) + "/check/hello\n";
  }
  return text;
}

std::string RunningServer::rules_version() const { return parts_->retriever->status().version; }

std::vector<std::string> RunningServer::Reload() {
  std::vector<std::string> problems;
  if (parts_->tls) {
    if (auto problem = parts_->tls->Reload()) problems.push_back(problem->message);
  }
  if (Result<rule::ClientOptions> clients = Read(parts_->options.clients)) {
    parts_->http.clients.Replace(std::move(*clients));
  } else {
    problems.push_back(clients.error().message);
  }
  const catalog::RetrieverStatus status = parts_->retriever->LookNow(kReloadPatience);
  if (status.state() != catalog::RetrieverStatus::State::kInForce) {
    problems.push_back(status.ToString());
  }
  return problems;
}

Nanos RunningServer::drain_delay() const { return parts_->connections.drain_delay; }

void RunningServer::TurnAway() {
  parts_->ready = false;
  parts_->server->TellNews();
}

void RunningServer::Stop() {
  TurnAway();
  parts_->server->Stop(kDrain);
  if (parts_->admin != nullptr) parts_->admin->Stop(kDrain);
}

}  // namespace weir
