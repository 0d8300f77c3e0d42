// weir_load: asks a server as fast as it answers, or at a given rate, and prints one line of JSON.
//
//   weir_load --to 127.0.0.1:6380 --say weir.check --connections 50 --pipeline 16
//   weir_load --to 127.0.0.1:8080 --say http --rate 50000
#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench/load/load.h"

namespace weir::bench {
namespace {

int Main(int argc, char** argv) {
  LoadOptions options;
  std::string to;
  std::string say;
  std::string script;
  std::string popularity = "uniform";
  std::uint32_t clients = 100'000;
  CLI::App app("Load for a server, from one thread");
  app.add_option("--to", to, "HOST:PORT or unix:PATH")->required();
  app.add_option("--say", say, "incr, evalsha, cl.throttle, weir.check, http, grpc")->required();
  app.add_option("--script", script, "The digest of the script that evalsha names");
  app.add_option("--connections", options.connections)->capture_default_str();
  app.add_option("--pipeline", options.pipeline, "Requests at once on a connection, or streams")
      ->capture_default_str();
  app.add_option("--rate", options.rate, "Requests per second, due at their time; 0: all it can")
      ->capture_default_str();
  app.add_option("--warm-up", options.warm_up, "Seconds that do not count")->capture_default_str();
  app.add_option("--seconds", options.seconds, "Seconds that do")->capture_default_str();
  app.add_option("--clients", clients, "Different keys")->capture_default_str();
  app.add_option("--popularity", popularity)
      ->check(CLI::IsMember({"uniform", "zipf"}))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const std::optional<Dialect> dialect = DialectOf(say);
  const Result<net::Endpoint> server = net::Endpoint::Parse(to);
  if (!dialect || !server || options.connections == 0 || options.pipeline == 0 || clients == 0) {
    std::fprintf(stderr, "weir_load: %s; see weir_load --help\n",
                 !dialect  ? ("--say: there is no '" + say + "'").c_str()
                 : !server ? ("--to: " + server.error().message).c_str()
                           : "--connections, --pipeline and --clients must be at least 1");
    return 2;
  }
  options.server = *server;
  const Questions questions(
      MakeTraffic(clients, popularity == "zipf" ? Popularity::kZipf : Popularity::kUniform),
      *dialect, script);
  const Result<LoadResult> result = RunLoad(options, questions);
  if (!result) {
    std::fprintf(stderr, "weir_load: %s\n", result.error().message.c_str());
    return 1;
  }
  std::printf(
      "{\"say\": \"%s\", \"connections\": %zu, \"pipeline\": %zu, \"rate\": %.0f, \"seconds\": "
      "%.3f, "
      "\"answers\": %lu, \"per_second\": %.0f, \"refused\": %lu, \"failed\": %lu, \"total\": %lu, "
      "\"p50_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f}\n",
      say.c_str(), options.connections, options.pipeline, options.rate, result->seconds,
      result->answers, static_cast<double>(result->answers) / result->seconds, result->refused,
      result->failed, result->total, result->latency.Micros(0.5), result->latency.Micros(0.99),
      result->latency.Micros(0.999));
  return 0;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) { return weir::bench::Main(argc, argv); }
