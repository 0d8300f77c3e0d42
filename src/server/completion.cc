#include "server/completion.h"

#include <string_view>

namespace weir {
namespace {

// In single quotes, in which Bourne's shells know no escape.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
  return quoted + "'";
}

std::string FishQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "'";
}

// 'weir serve'|'weir rules': every place but the first.
std::string Places(const Command& root) {
  std::string places;
  for (const Command* command : Flatten(root)) {
    if (command == &root) continue;
    places += (places.empty() ? "" : "|") + Quoted(command->path);
  }
  return places;
}

// 'weir serve --http'|...: behind these, a value is due.
std::string ValuePlaces(const Command& root) {
  std::string places;
  for (const Command* command : Flatten(root)) {
    for (const CommandOption& option : command->options) {
      if (option.value.empty()) continue;
      for (const std::string& name : option.names) {
        places += (places.empty() ? "" : "|") + Quoted(command->path + " " + name);
      }
    }
  }
  return places;
}

std::string BashWords(const Command& command) {
  std::string words;
  const auto add = [&](const std::string& word) { words += (words.empty() ? "" : " ") + word; };
  for (const Command& below : command.commands) add(below.name);
  for (const CommandOption& option : command.options) {
    for (const std::string& name : option.names) add(name);
  }
  return words;
}

std::string Replaced(std::string text, std::string_view from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

// "name:meaning" for zsh's _describe: the first colon ends the name.
std::string ZshEntries(const Command& command, bool is_options) {
  std::string entries;
  const auto add = [&](const std::string& name, const std::string& meaning) {
    entries += " " + Quoted(name + ":" + meaning);
  };
  if (!is_options) {
    for (const Command& below : command.commands) add(below.name, below.meaning);
    return entries;
  }
  for (const CommandOption& option : command.options) {
    for (const std::string& name : option.names) add(name, option.meaning);
  }
  return entries;
}

}  // namespace

std::string BashCompletion(const Command& root) {
  std::string cases;
  for (const Command* command : Flatten(root)) {
    cases += "    " + Quoted(command->path) + ") words=" + Quoted(BashWords(*command)) + " ;;\n";
  }
  std::string script = R"(# Completion of weir for bash, made by `weir completion bash`.
_weir() {
  local at=weir words='' current=${COMP_WORDS[COMP_CWORD]} i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${COMP_WORDS[i]}" in
      @PLACES@) at="$at ${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  # Behind an option with a value, the completion of files goes on.
  case "$at ${COMP_WORDS[COMP_CWORD - 1]}" in
    @VALUES@) return ;;
  esac
  case "$at" in
@CASES@  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _weir weir
)";
  script = Replaced(std::move(script), "@PLACES@", Places(root));
  script = Replaced(std::move(script), "@VALUES@", ValuePlaces(root));
  return Replaced(std::move(script), "@CASES@", cases);
}

std::string ZshCompletion(const Command& root) {
  std::string cases;
  for (const Command* command : Flatten(root)) {
    cases += "    (" + Quoted(command->path) + ")\n      commands=(" + ZshEntries(*command, false) +
             " )\n      options=(" + ZshEntries(*command, true) + " ) ;;\n";
  }
  std::string script = R"(#compdef weir
# Completion of weir for zsh, made by `weir completion zsh`.
_weir() {
  local at=weir i
  local -a commands options
  for ((i = 2; i < CURRENT; i++)); do
    case "$at ${words[i]}" in
      (@PLACES@) at="$at ${words[i]}" ;;
    esac
  done
  case "$at ${words[CURRENT-1]}" in
    (@VALUES@) _files; return ;;
  esac
  case "$at" in
@CASES@  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    _describe option options
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}
_weir "$@"
)";
  script = Replaced(std::move(script), "@PLACES@", Places(root));
  script = Replaced(std::move(script), "@VALUES@", ValuePlaces(root));
  return Replaced(std::move(script), "@CASES@", cases);
}

std::string FishCompletion(const Command& root) {
  std::string places;
  std::string lines;
  for (const Command* command : Flatten(root)) {
    if (command != &root) places += " " + FishQuoted(command->path);
    const std::string here =
        "complete -c weir -n " + FishQuoted("test (__weir_at) = \"" + command->path + "\"");
    // Where a command is due, a file is not.
    if (!command->commands.empty()) lines += here + " -f\n";
    for (const Command& below : command->commands) {
      lines += here + " -a " + below.name + " -d " + FishQuoted(below.meaning) + "\n";
    }
    for (const CommandOption& option : command->options) {
      lines += here;
      for (const std::string& name : option.names) {
        lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      lines += (option.value.empty() ? "" : " -r") + (" -d " + FishQuoted(option.meaning)) + "\n";
    }
  }
  return "# Completion of weir for fish, made by `weir completion fish`.\n"
         "function __weir_at\n"
         "  set -l at weir\n"
         "  for word in (commandline -opc)[2..]\n"
         "    switch \"$at $word\"\n"
         "      case" +
         places +
         "\n"
         "        set at \"$at $word\"\n"
         "    end\n"
         "  end\n"
         "  echo $at\n"
         "end\n" +
         lines;
}

}  // namespace weir
