// The program `weir`: reads the command line, hands over to the command.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "server/commands.h"

int main(int argc, char** argv) {
  CLI::App app("Weir decides, for each request, whether its client is within its limits.", "weir");
  app.require_subcommand(1);
  app.set_version_flag("--version", WEIR_VERSION);

  std::vector<std::string> files;
  CLI::App* trace = app.add_subcommand("trace", "Runs traces: what a limit does, by example");
  trace->add_option("FILE", files, "Trace files; docs/traces.md describes them")->required();
  CLI::App* demo = app.add_subcommand("demo", "Shows a client that asks too often");

  CLI11_PARSE(app, argc, argv);
  if (*trace) return weir::RunTraces(files, std::cout, std::cerr);
  if (*demo) return weir::RunDemo(std::cout);
  return 2;
}
