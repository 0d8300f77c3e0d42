#include "server/settings_output.h"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <string>

#include "rule/json.h"

namespace weir {
namespace {

using Kind = Setting::Kind;

constexpr std::string_view kMask = "********";

bool IsSecret(std::string_view name) {
  return name.ends_with("password") || name.ends_with("secret");
}

// postgresql://user:password@host/name without the password.
std::string WithoutPassword(const std::string& value) {
  const std::size_t scheme = value.find("://");
  const std::size_t at = value.find('@');
  if (scheme == std::string::npos || at == std::string::npos) return value;
  const std::size_t colon = value.find(':', scheme + 3);
  if (colon == std::string::npos || colon > at) return value;
  return value.substr(0, colon + 1) + std::string(kMask) + value.substr(value.rfind('@'));
}

// Whether YAML reads it as it is. A colon is safe within a value, but not within brackets.
bool IsPlain(std::string_view text, std::string_view also) {
  const auto is_plain = [&](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("_./-=").find(letter) != std::string_view::npos ||
           also.find(letter) != std::string_view::npos;
  };
  const auto is_edge = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '/' || letter == '.';
  };
  return !text.empty() && text != "null" && is_edge(text.front()) && is_edge(text.back()) &&
         std::all_of(text.begin(), text.end(), is_plain);
}

std::string Yaml(const std::string& text, std::string_view also = "") {
  return IsPlain(text, also) ? text : rule::JsonString(text);
}

// As the file has it: a value, a list in brackets, true or false.
std::string ValueText(Kind kind, const std::vector<std::string>& values) {
  if (kind != Kind::kList) return Yaml(values.empty() ? "" : values.front(), ":");
  std::string text = "[";
  for (const std::string& value : values) text += (text.size() > 1 ? ", " : "") + Yaml(value);
  return text + "]";
}

std::vector<std::string> Shown(const Setting& setting) {
  std::vector<std::string> values = setting.values;
  for (std::string& value : values) {
    value = IsSecret(setting.name) && !value.empty() ? std::string(kMask) : WithoutPassword(value);
  }
  return values;
}

// For a cell of a table.
std::string Cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, "\\");
  }
  return text;
}

std::string GroupTitle(const std::string& group) { return group.empty() ? "Serving" : group; }

constexpr std::string_view kIntroduction = R"(# Configuration

Every option of `weir serve` can be said in three places: on the command line, in the environment, and
in a file. What is said earlier in this list counts more; what nobody says is the default.

| where | for example |
|---|---|
| command line | `weir serve --max-keys 2000000 --gateway 10.0.0.0/8 127.0.0.1` |
| environment | `WEIR_MAX_KEYS=2000000`, `WEIR_GATEWAY=10.0.0.0/8,127.0.0.1` |
| file, which `--config FILE` or `WEIR_CONFIG` names | `max-keys: 2000000`, `gateway: [10.0.0.0/8, 127.0.0.1]` |

- The file is YAML: a name and its value on each line. A name that does not exist is an error, with its
  line and the name it was probably meant to be.
- A variable that is empty counts as not set. The values of a list have commas between them.
- Of two options that exclude each other, `rules` and `database`, the one said in the place that counts
  more is taken.
- Paths are relative to the folder in which the server was started.

`weir serve --check` reads all of it, and the rules, keys and certificates that it names, listens
nowhere, and says what is wrong (exit code 2) or what would be served. `weir serve --print-config`
prints what is in force and who said so, with passwords masked.

A running server reads all of it again on `SIGHUP`: [operating](operating.md#reload).

This page is made from the options themselves: `make configuration-page`.
)";

}  // namespace

void PrintSettings(const Settings& settings, std::ostream& out) {
  constexpr std::size_t kColumn = 40;  // where comments begin, unless a value is longer
  for (const Setting& setting : settings) {
    const std::string line = setting.name + ": " + ValueText(setting.kind, Shown(setting));
    out << line << std::string(line.size() + 2 <= kColumn ? kColumn - line.size() : 2, ' ') << "# "
        << (setting.place.empty() ? "by default" : setting.place) << "\n";
  }
}

void PrintReference(const Settings& settings, std::ostream& out) {
  out << kIntroduction;
  std::vector<std::string> groups;
  for (const Setting& setting : settings) {
    if (std::find(groups.begin(), groups.end(), setting.group) == groups.end()) {
      groups.push_back(setting.group);
    }
  }
  for (const std::string& group : groups) {
    out << "\n## " << GroupTitle(group) << "\n\n"
        << "| name, as an option `--...` | variable | by default | means |\n|---|---|---|---|\n";
    for (const Setting& setting : settings) {
      if (setting.group != group) continue;
      const bool has_default = !setting.defaults.empty() && !setting.defaults.front().empty();
      out << "| `" << setting.name << "`" << (setting.kind == Kind::kList ? ", a list" : "")
          << " | `" << VariableOf(setting.name) << "` | "
          << (has_default ? "`" + Cell(ValueText(setting.kind, setting.defaults)) + "`" : "")
          << " | " << Cell(setting.meaning) << " |\n";
    }
  }
}

}  // namespace weir
