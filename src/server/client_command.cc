#include "server/client_command.h"

#include <CLI/CLI.hpp>

#include "server/client_keys.h"

namespace weir {
namespace {

constexpr char kExitCodes[] =
    "Exit codes: 0 done, 1 the server says no or knows no such thing, 2 the question makes no "
    "sense,\n3 the server cannot be reached, or does not let us. docs/commands.md shows a session.";

}  // namespace

ClientCommand::ClientCommand(CLI::App& app) {
  Add(app, "status", "How it stands with a running server; 1 if its rules are not in force",
      ShowStatus);
  CLI::App* explain = Add(app, "explain",
                          "Why a request would pass at a running server or not, which counts "
                          "nothing; 1 if not",
                          ExplainNow);
  explain->add_option("NAMESPACE", question_.place, "The namespace")->required();
  explain
      ->add_option("-r,--request", question_.request,
                   "The request: 'path=/login method=POST ip=10.1.2.3 user=\"Ann Lee\"'")
      ->required();
  explain->add_option("--cost", question_.cost, "What it costs; else what its rules say");
  AddKeys(app);
  CLI::App* top = Add(app, "top", "Who asks most, or is refused most", ShowTop);
  top->add_option("NAMESPACE/RULE", question_.place, "Of this rule")->required();
  top->add_option("--by", question_.by, "consumed or denied")
      ->check(CLI::IsMember({"consumed", "denied"}))
      ->capture_default_str();
  CLI::App* decisions = Add(app, "decisions", "The last decisions, and why", ShowDecisions);
  decisions->add_option("NAMESPACE[/RULE]", question_.place, "Only those");
  CLI::Option* allowed =
      decisions->add_flag("--allowed", question_.allowed, "Only what was let pass");
  decisions->add_flag("--denied", question_.denied, "Only what was refused")->excludes(allowed);
  CLI::App* audit = Add(app, "audit", "Who changed what, the last first", ShowAudit);
  for (CLI::App* command : {top, decisions, audit}) AddMost(*command);
}

CLI::App* ClientCommand::Add(CLI::App& app, const char* name, const char* description,
                             int (*command)(const ClientQuestion&, Streams)) {
  CLI::App* added = app.add_subcommand(name, description);
  added->footer(kExitCodes);
  AddClientOptions(*added, question_.client);
  added->callback([this, command] {
    chosen_ = [this, command](Streams io) { return command(question_, io); };
  });
  return added;
}

void ClientCommand::AddKeys(CLI::App& app) {
  CLI::App* keys = app.add_subcommand("keys", "What a client has left, and to change that");
  keys->require_subcommand(1);
  CLI::App* look = Add(*keys, "look", "What a client has left under a rule", LookAtKey);
  CLI::App* reset =
      Add(*keys, "reset", "Forgets what a client has used, and lifts its bans", ResetKey);
  CLI::App* override_key =
      Add(*keys, "override", "Gives a client another limit for a while: a change of the rule",
          OverrideKey);
  CLI::App* restore = Add(*keys, "restore", "Ends an override before its time", RestoreKey);
  for (CLI::App* command : {look, reset, override_key, restore}) {
    command->add_option("NAMESPACE/RULE", question_.place, "The rule")->required();
    command
        ->add_option("NAME=VALUE", question_.attributes,
                     "What the rule knows the client by: "
                     "ip=10.1.2.3")
        ->required();
  }
  override_key
      ->add_option("--limit", question_.limits,
                   "Instead: '100/s', 'unlimited'; several for several")
      ->required()
      ->expected(1)
      ->take_all();
  CLI::Option* lasts = override_key->add_option("--for", question_.lasts, "How long: 1h, 7d");
  override_key->add_option("--until", question_.until, "Until when: 2027-01-31T12:00:00Z")
      ->excludes(lasts);
  for (CLI::App* command : {override_key, restore}) {
    command->add_option("-m,--comment", question_.comment, "Why, for the history");
  }
  for (CLI::App* command : {reset, override_key, restore}) {
    command->add_flag("--dry-run", question_.dry_run, "Say what would change, and change nothing");
  }
}

void ClientCommand::AddMost(CLI::App& command) {
  command.add_option("-n,--most", question_.most, "At most so many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

}  // namespace weir
