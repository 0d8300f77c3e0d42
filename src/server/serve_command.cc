#include "server/serve_command.h"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "server/ratelimit_environment.h"
#include "server/running_server.h"

namespace weir {

ServeCommand::ServeCommand(CLI::App& app, const std::string& version)
    : command_(
          app.add_subcommand("serve", "Answers gateways and clients: HTTP, gRPC, Redis protocol")) {
  options_.version = version;
  command_
      ->add_option("--http", options_.http,
                   "Where to listen for HTTP: HOST:PORT, unix:PATH, or '' for not at all")
      ->capture_default_str();
  command_->add_option("--grpc", options_.grpc, "Where to listen for gRPC, as Envoy speaks it")
      ->capture_default_str();
  command_->add_option("--resp", options_.resp, "Where to listen for the Redis protocol")
      ->capture_default_str();
  command_->add_option("--admin", options_.admin, "Where to listen for the admin API (HTTP)")
      ->capture_default_str();
  auto* rules = command_->add_option("--rules", options_.rules,
                                     "A file or directory of rules, ours or Envoy's; watched");
  command_
      ->add_option(
          "--database", options_.database,
          "Where rules are kept: a file of SQLite, or postgresql://...; by default weir.db "
          "in the folder of the state, with an example at first")
      ->envname("WEIR_DATABASE")
      ->excludes(rules);
  command_
      ->add_option("--state", options_.state, "The folder that keeps what was counted, or 'memory'")
      ->capture_default_str();
  command_->add_option("--max-keys", options_.max_keys, "Keys to have room for")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  command_->add_option("--threads", options_.threads, "0: one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command_->add_option("--namespace", options_.space, "Of requests to /check that name none")
      ->capture_default_str();
  command_
      ->add_option("--fields", options_.fields,
                   "Header fields of answers: draft-10, draft-06, x-ratelimit, none")
      ->capture_default_str();
  command_->add_option("--password", options_.password, "What Redis clients must say (AUTH)")
      ->envname("WEIR_PASSWORD");
  AddAccessOptions(*command_, options_.access);
  AddIdentityOptions(*command_, options_.clients);
  AddConnectionOptions(*command_, options_.connections);
  command_->add_flag("--ratelimit-environment", ratelimit_environment_,
                     "Take the place of envoyproxy/ratelimit: read its environment variables");
}

Result<ServeOptions> ServeCommand::Options(Streams io) const {
  if (!ratelimit_environment_) return options_;
  Result<RatelimitEnvironment> read = ReadRatelimitEnvironment(EnvironmentVariables(), options_);
  if (!read) return read.error();
  for (const std::string& note : read->notes) io.out << note << "\n";
  // What the command line says counts more.
  const auto is_given = [&](const char* name) { return command_->get_option(name)->count() > 0; };
  if (is_given("--http")) read->options.http = options_.http;
  if (is_given("--grpc")) read->options.grpc = options_.grpc;
  if (is_given("--rules") || is_given("--database")) read->options.rules = options_.rules;
  return read->options;
}

bool ServeCommand::is_asked() const { return command_->parsed(); }

int ServeCommand::Run(Streams io) const {
  // Blocked before any thread is made, so that all of them leave these signals to sigwait().
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  RaiseDescriptorLimit();
  const Result<ServeOptions> options = Options(io);
  if (!options) {
    io.err << "weir serve: " << options.error().message << "\n";
    return kUnreadable;
  }
  const Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(*options);
  if (!server) {
    io.err << "weir serve: " << server.error().message << "\n";
    return kUnreadable;
  }
  io.out << (*server)->Banner() << std::flush;
  int signal = 0;
  sigwait(&ends, &signal);
  io.out << "\nends: requests under way are answered\n" << std::flush;
  (*server)->Stop();
  return kDone;
}

}  // namespace weir
