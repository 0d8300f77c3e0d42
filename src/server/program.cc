#include "server/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "server/commands.h"
#include "server/rules_command.h"
#include "server/serve_command.h"
#include "server/sim_command.h"

namespace weir {

int RunProgram(std::vector<std::string> arguments, const std::string& version, Streams io) {
  CLI::App app("Weir decides, for each request, whether its client is within its limits.", "weir");
  app.require_subcommand(1);
  app.set_version_flag("--version", version);

  std::vector<std::string> traces;
  CLI::App* trace = app.add_subcommand("trace", "Runs traces: what a limit does, by example");
  trace->add_option("FILE", traces, "Trace files; docs/traces.md describes them")->required();
  CLI::App* demo = app.add_subcommand("demo", "Shows a client that asks too often");
  const ServeCommand serve(app, version);
  const SimCommand sim(app);
  RulesCommand rules(app);

  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, io.out, io.err) == 0 ? kDone : kUnreadable;
  }
  if (*trace) return RunTraces(traces, io.out, io.err);
  if (*demo) return RunDemo(io.out);
  if (serve.is_asked()) return serve.Run(io);
  if (sim.is_asked()) return sim.Run(io);
  return rules.Run(io);
}

}  // namespace weir
