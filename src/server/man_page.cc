#include "server/man_page.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace weir {
namespace {

// As roff wants text: no letter of it is a command.
std::string Escaped(std::string_view text) {
  std::string escaped;
  bool begins_line = true;
  for (const char letter : text) {
    if (begins_line && (letter == '.' || letter == '\'')) escaped += "\\&";
    begins_line = letter == '\n';
    if (letter == '\\') {
      escaped += "\\e";
    } else if (letter == '-') {
      escaped += "\\-";  // what can be copied to a command line, not a hyphen
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

std::string Bold(std::string_view text) { return "\\fB" + Escaped(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + Escaped(text) + "\\fR"; }

std::string Value(const CommandOption& option) {
  return Italic(option.value) + (option.is_list ? "..." : "");
}

void AppendOption(const CommandOption& option, std::string& page) {
  page += ".TP\n";
  for (std::size_t i = 0; i < option.names.size(); ++i) {
    page += (i == 0 ? "" : ", ") + Bold(option.names[i]);
  }
  if (!option.value.empty()) page += " " + Value(option);
  page += "\n" + Escaped(option.meaning);
  if (!option.by_default.empty()) page += " (by default " + Escaped(option.by_default) + ")";
  page += "\n";
}

// "weir rules check FILE... [OPTIONS]"
std::string Synopsis(const Command& command) {
  std::string text = Bold(command.path);
  for (const CommandOption& argument : command.arguments) {
    text += " " + Italic(argument.names.front()) + (argument.is_list ? "..." : "");
  }
  if (!command.commands.empty()) text += " " + Italic("COMMAND");
  return text + " [" + Italic("OPTIONS") + "]";
}

// Those of a group together, whatever came between them; first those of none.
void AppendOptions(const std::vector<CommandOption>& options, std::string& page) {
  std::vector<std::string> groups = {""};
  for (const CommandOption& option : options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  for (const std::string& group : groups) {
    if (!group.empty()) page += ".PP\n" + Bold(group) + "\n";
    for (const CommandOption& option : options) {
      // Every command has --help; once is enough.
      if (option.group == group && option.names.back() != "--help") AppendOption(option, page);
    }
  }
}

void AppendCommand(const Command& command, const std::string& inherited, std::string& page) {
  page += ".SS " + Escaped(command.path) + "\n" + Synopsis(command) + "\n.PP\n" +
          Escaped(command.meaning) + "\n";
  for (const CommandOption& argument : command.arguments) {
    page += ".TP\n" + Italic(argument.names.front()) + "\n" + Escaped(argument.meaning) + "\n";
  }
  AppendOptions(command.options, page);
  // A command has the footer of the one above it unless it has its own.
  if (command.footer != inherited) page += ".PP\n" + Escaped(command.footer) + "\n";
  for (const Command& below : command.commands) AppendCommand(below, command.footer, page);
}

constexpr std::string_view kRest = R"(.SH ENVIRONMENT
.TP
\fBWEIR_...\fR
Every option of \fBweir serve\fR: \fBWEIR_MAX_KEYS\fR is \fB\-\-max\-keys\fR. Lists have commas.
.TP
\fBWEIR_CONFIG\fR
The configuration file of \fBweir serve\fR.
.TP
\fBWEIR_DATABASE\fR
The database of rules, for \fBweir rules\fR too.
.SH FILES
.TP
\fI/etc/weir/weir.yaml\fR
The configuration of the packaged server.
.TP
\fI/etc/weir/rules.yaml\fR
Its rules.
.TP
\fI/var/lib/weir\fR
What it has counted.
.SH SIGNALS
.TP
\fBSIGHUP\fR
The server reads configuration, rules and keys again. What cannot be read leaves what was in force.
.TP
\fBSIGTERM\fR
The server ends: it is not ready any more, answers everything for another \fB\-\-drain\-delay\fR, and
then what is under way.
.TP
\fBSIGINT\fR
The same without the delay.
.SH EXIT STATUS
.TP
\fB0\fR
done
.TP
\fB1\fR
what was given is wrong: a rule, a trace
.TP
\fB2\fR
a file cannot be read or written, or the command line or configuration makes no sense
.TP
\fB3\fR
conflict: a rule was changed since the edit was made from it
.TP
\fB4\fR
there is no such rule or namespace
.TP
\fB5\fR
the database failed
)";

}  // namespace

std::string ManPage(const Command& root, const std::string& version) {
  std::string page = ".TH WEIR 1 \"\" \"weir " + Escaped(version) + "\" \"Weir\"\n.SH NAME\n" +
                     "weir \\- an exact rate limiter at memory speed\n.SH SYNOPSIS\n" +
                     Synopsis(root) + "\n.SH DESCRIPTION\n" + Escaped(root.meaning) + "\n";
  page += ".SH OPTIONS\n";
  page += ".TP\n" + Bold("--help") + "\nOf every command: what it takes\n";
  AppendOptions(root.options, page);
  page += ".SH COMMANDS\n";
  for (const Command& command : root.commands) AppendCommand(command, root.footer, page);
  return page.append(kRest);
}

}  // namespace weir
