#include "server/serve_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <ostream>
#include <vector>

#include "server/ratelimit_environment.h"
#include "server/serve_loop.h"
#include "server/settings_output.h"
#include "server/tls_options.h"

namespace weir {

ServeCommand::ServeCommand(CLI::App& app, const std::string& version)
    : command_(
          app.add_subcommand("serve", "Answers gateways and clients: HTTP, gRPC, Redis protocol")) {
  options_.version = version;
  command_
      ->add_option(
          "--http", options_.http,
          "Where to listen for HTTP: HOST:PORT, tls:HOST:PORT, unix:PATH, or '' for not at "
          "all")
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
  command_->add_option("--password", options_.password, "What Redis clients must say (AUTH)");
  command_
      ->add_option("--observe", options_.observe,
                   "Count what rules say, and who asks most; false saves a few per cent")
      ->capture_default_str();
  AddAccessOptions(*command_, options_.access);
  AddIdentityOptions(*command_, options_.clients);
  AddConnectionOptions(*command_, options_.connections);
  AddClusterOptions(*command_, options_.cluster);
  AddLogOptions(*command_, options_.log);
  AddTlsOptions(*command_, options_.tls);
  command_->add_flag("--ratelimit-environment", ratelimit_environment_,
                     "Take the place of envoyproxy/ratelimit: read its environment variables");
  const std::string group = "Configuration";
  command_
      ->add_option("--config", config_,
                   "A file of YAML that says the rest: the names of options without --, and values")
      ->configurable(false)
      ->group(group);
  command_
      ->add_flag("--check", is_check_,
                 "Read everything, say what is wrong or would be served, and listen nowhere")
      ->configurable(false)
      ->group(group);
  command_->add_flag("--print-config", is_print_, "Print what is in force, and who said so")
      ->configurable(false)
      ->group(group);
  command_->footer(
      "Each option is also a variable, WEIR_MAX_KEYS for --max-keys, and a line of the file\n"
      "that --config (WEIR_CONFIG) names: max-keys: 2000000. The command line counts most, then\n"
      "the variable, then the file.");
}

bool ServeCommand::is_asked() const { return command_->parsed(); }

Settings ServeCommand::Reference() {
  rule::Problems none;
  return Complete(*command_, {}, {}, none);
}

Result<ServeTold> ServeCommand::Told(const std::map<std::string, std::string>& variables) {
  if (const auto named = variables.find("WEIR_CONFIG");
      config_.empty() && named != variables.end()) {
    config_ = named->second;
  }
  rule::Problems problems;
  const ConfigurationFile file =
      config_.empty() ? ConfigurationFile{} : ReadConfigurationFile(config_, problems);
  ServeTold told;
  told.settings = Complete(*command_, file, variables, problems);
  if (!problems.empty()) {
    std::string text;
    for (const rule::Problem& problem : problems) {
      text += (text.empty() ? "" : "\n") + problem.ToString();
    }
    return Error{text};
  }
  options_.purpose = is_check_ ? Purpose::kCheck : Purpose::kServe;
  told.options = options_;
  if (!ratelimit_environment_) return told;

  Result<RatelimitEnvironment> read = ReadRatelimitEnvironment(variables, options_);
  if (!read) return read.error();
  // What was said to Weir itself counts more.
  const auto is_given = [&](const char* name) { return command_->get_option(name)->count() > 0; };
  if (is_given("--http")) read->options.http = options_.http;
  if (is_given("--grpc")) read->options.grpc = options_.grpc;
  if (is_given("--rules") || is_given("--database")) read->options.rules = options_.rules;
  told.options = std::move(read->options);
  told.notes = std::move(read->notes);
  const ClusterTold& cluster = told.options.cluster;
  const std::map<std::string, std::vector<std::string>> now = {
      {"http", {told.options.http}},   {"grpc", {told.options.grpc}},
      {"rules", {told.options.rules}}, {"redis", cluster.redis},
      {"redis-kind", {cluster.kind}},  {"redis-master", {cluster.master}}};
  for (Setting& setting : told.settings) {
    const auto found = now.find(setting.name);
    if (found == now.end() || setting.values == found->second) continue;
    setting.values = found->second;
    setting.place = "--ratelimit-environment";
  }
  return told;
}

Result<ServeTold> ServeCommand::ReadAgain(std::vector<std::string> arguments,
                                          const std::string& version) {
  CLI::App app;
  ServeCommand command(app, version);
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return Error{error.what()};
  }
  return command.Told(EnvironmentVariables());
}

int ServeCommand::Run(const std::vector<std::string>& arguments, Streams io) {
  const Result<ServeTold> told = Told(EnvironmentVariables());
  if (!told) {
    io.err << "weir serve: " << told.error().message << "\n";
    return kUnreadable;
  }
  if (is_print_) {
    PrintSettings(told->settings, io.out);
    return kDone;
  }
  return is_check_ ? CheckServer(*told, io)
                   : Serve(
                         *told, [&] { return ReadAgain(arguments, options_.version); }, io);
}

}  // namespace weir
