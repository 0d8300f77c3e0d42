#include "server/rules_command.h"

#include "server/local_user.h"

namespace weir {
namespace {

constexpr char kExitCodes[] =
    "Exit codes: 0 done, 1 the input is wrong, 2 it cannot be read (or the command line makes no "
    "sense),\n3 conflict, 4 not found, 5 the database or the server failed. docs/commands.md shows "
    "a session.";

constexpr char kPlace[] = "NAMESPACE/NAME";
constexpr char kPlaceOrSpace[] = "NAMESPACE[/NAME]";

}  // namespace

RulesCommand::RulesCommand(CLI::App& app) {
  CLI::App* rules = app.add_subcommand("rules", "Checks, explains and keeps rules");
  rules->require_subcommand(1);
  rules->footer(kExitCodes);
  AddFileCommands(*rules);
  AddReaders(*rules);
  AddEditors(*rules);
}

void RulesCommand::AddFileCommands(CLI::App& rules) {
  const auto add = [&](const char* name, const char* description,
                       int (*command)(const RuleFileOptions&, Streams)) {
    CLI::App* added = rules.add_subcommand(name, description);
    added->footer(kExitCodes);
    added->callback(
        [this, command] { chosen_ = [this, command](Streams io) { return command(file_, io); }; });
    return added;
  };
  CLI::App* check =
      add("check", "Says what is wrong with files of rules, ours or Envoy's", CheckRuleFiles);
  check->add_option("FILE", file_.files, "Files or directories; - is the standard input")
      ->required();

  CLI::App* explain =
      add("explain", "Says which rules of a file apply to a request, and why the others do not",
          ExplainRuleFile);
  explain->add_option("FILE", file_.files, "A file or directory; - is the standard input")
      ->required()
      ->expected(1);
  explain
      ->add_option(
          "-r,--request", file_.requests,
          "A request: 'path=/login method=POST ip=10.1.2.3 user=\"Ann Lee\"'. May be given "
          "several times, for several requests")
      ->required()
      ->expected(1)
      ->take_all();
  explain->add_flag("--json", file_.json, "Print JSON");

  CLI::App* convert =
      add("convert", "Writes Envoy's configuration as rules of ours", ConvertRuleFile);
  convert->add_option("FILE", file_.files, "Envoy's file; - is the standard input")
      ->required()
      ->expected(1);
  convert->add_option("--to", file_.to, "Where to write them; the standard output if left out");
}

CLI::App* RulesCommand::AddStored(CLI::App& rules, const char* name, const char* description,
                                  int (*command)(const StoredRulesOptions&, Streams)) {
  CLI::App* added = rules.add_subcommand(name, description);
  added->footer(kExitCodes);
  added
      ->add_option("--database", stored_.database,
                   "Where rules are kept: a file for SQLite, or postgresql://USER@HOST/DATABASE")
      ->envname("WEIR_DATABASE")
      ->type_name("URL")
      ->default_str("weir.db");
  CLI::Option* server =
      added
          ->add_option("--server", stored_.client.server,
                       "Ask a running server instead: its --admin, HOST:PORT, tls:HOST:PORT or "
                       "unix:PATH")
          ->type_name("ADDRESS");
  AddTokenOptions(*added, stored_.client);
  added->callback([this, command, server] {
    stored_.is_remote = server->count() > 0;
    chosen_ = [this, command](Streams io) { return command(stored_, io); };
  });
  return added;
}

void RulesCommand::AddReaders(CLI::App& rules) {
  CLI::App* list = AddStored(rules, "list", "Lists the rules that are kept", ListStoredRules);
  list->add_option("NAMESPACE", stored_.place, "Only those of this namespace");
  CLI::App* get = AddStored(rules, "get", "Prints a rule as it is kept; --json with its revision",
                            GetStoredRule);
  get->add_option(kPlace, stored_.place, "The rule")->required();
  CLI::App* history =
      AddStored(rules, "history", "Who changed what, when and why; the last first", ShowHistory);
  history->add_option(kPlaceOrSpace, stored_.place, "The rule, or all of a namespace")->required();
  history->add_option("-n,--most", stored_.most, "At most so many changes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI::App* exported = AddStored(
      rules, "export", "Prints a namespace as a file, which import takes", ExportNamespace);
  exported->add_option("NAMESPACE", stored_.place, "The namespace")->required();
  for (CLI::App* command : {list, get, history}) {
    command->add_flag("--json", stored_.json, "Print JSON");
  }
}

void RulesCommand::AddEditors(CLI::App& rules) {
  CLI::App* put = AddStored(rules, "put", "Creates or changes one rule", PutRule);
  put->add_option("NAMESPACE", stored_.place, "The namespace of the rule")->required();
  put->add_option("FILE", stored_.files, "The YAML of the rule (name: ...); - is standard input")
      ->required()
      ->expected(1);
  CLI::App* remove = AddStored(rules, "delete", "Deletes a rule; its history stays", DeleteRule);
  remove->add_option(kPlace, stored_.place, "The rule")->required();
  for (CLI::App* command : {put, remove}) {
    command
        ->add_option("--from", stored_.from,
                     "The revision that the edit was made from, 0 for a new rule: fails if another "
                     "is in force. Left out: whatever is there")
        ->type_name("REVISION")
        ->check(CLI::NonNegativeNumber);
  }
  CLI::App* rollback = AddStored(
      rules, "rollback", "Puts a rule or a namespace back as it was at a revision", RollBack);
  rollback->add_option(kPlaceOrSpace, stored_.place, "The rule, or all of a namespace")->required();
  rollback->add_option("--to", stored_.to, "The revision to go back to")
      ->type_name("REVISION")
      ->required();
  CLI::App* import = AddStored(
      rules, "import", "Makes namespaces what files say, ours or Envoy's: all of it or nothing",
      ImportFiles);
  import->add_option("FILE", stored_.files, "Files or directories; - is the standard input")
      ->required();
  for (CLI::App* command : {put, remove, rollback, import}) AddAuthorship(*command);
}

void RulesCommand::AddAuthorship(CLI::App& command) {
  stored_.by.author = LocalUser();
  command.add_flag("--dry-run", stored_.dry_run, "Say what would change, and change nothing");
  command.add_option("-m,--comment", stored_.by.comment, "Why, for the history");
  command.add_option("--author", stored_.by.author, "Who, for the history")->capture_default_str();
  command.add_flag("--json", stored_.json, "Print the outcome as JSON");
}

}  // namespace weir
