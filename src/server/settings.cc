#include "server/settings.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "rule/closest.h"

namespace weir {
namespace {

using rule::Problems;
using Kind = Setting::Kind;
using Origin = Setting::Origin;

Kind KindOf(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return Kind::kFlag;
  return option.get_items_expected_max() > 1 ? Kind::kList : Kind::kValue;
}

// "10.0.0.0/8, ::1": without the blanks, and without what is empty.
std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> values;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view value = text.substr(0, comma);
    const std::size_t begin = value.find_first_not_of(" \t");
    if (begin != std::string_view::npos) {
      values.emplace_back(value.substr(begin, value.find_last_not_of(" \t") + 1 - begin));
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return values;
}

std::vector<std::string> DefaultsOf(const CLI::Option& option, Kind kind) {
  std::string text = option.get_default_str();
  if (kind == Kind::kFlag) return {text.empty() ? "false" : text};
  // CLI11 has 1 and 0 for what people call otherwise.
  if (option.get_type_name() == "BOOLEAN") text = text == "1" ? "true" : "false";
  if (kind == Kind::kValue) return {text};
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return SplitList(text);
}

// An option on its way to a setting.
struct Row {
  CLI::Option* option;
  Setting setting;
  std::optional<ConfigurationEntry> entry;  // what the file says, if that is what counts
};

class Completion {
 public:
  Completion(CLI::App& command, const ConfigurationFile& file,
             const std::map<std::string, std::string>& variables, Problems& problems)
      : file_(file), variables_(variables), problems_(problems) {
    for (CLI::Option* option : command.get_options()) {
      if (option->get_configurable() && !option->get_lnames().empty()) Add(*option);
    }
  }

  Settings Run() {
    RefuseUnknownNames();
    for (Row& row : rows_) Choose(row);
    for (Row& row : rows_) GiveWay(row);
    for (Row& row : rows_) Apply(row);
    Settings settings;
    for (Row& row : rows_) settings.push_back(std::move(row.setting));
    return settings;
  }

 private:
  void Add(CLI::Option& option) {
    Setting setting;
    setting.name = option.get_lnames().front();
    setting.kind = KindOf(option);
    setting.meaning = option.get_description();
    // CLI11 calls those without a group of their own so.
    if (option.get_group() != "Options") setting.group = option.get_group();
    setting.defaults = DefaultsOf(option, setting.kind);
    setting.values = setting.defaults;
    rows_.push_back({&option, std::move(setting), std::nullopt});
  }

  void RefuseUnknownNames() {
    std::vector<std::string_view> known;
    for (const Row& row : rows_) known.push_back(row.setting.name);
    for (const ConfigurationEntry& entry : file_.entries) {
      if (std::find(known.begin(), known.end(), entry.name) != known.end()) continue;
      problems_.push_back({file_.path, entry.name_place, "", "unknown name '" + entry.name + "'",
                           rule::Suggest(entry.name, known)});
    }
  }

  // Takes the values from the place that counts most.
  void Choose(Row& row) {
    Setting& setting = row.setting;
    if (row.option->count() > 0) {
      setting.origin = Origin::kCommandLine;
      setting.place = "--" + setting.name;
      // Counted, for flags: how often it was said.
      setting.values = setting.kind == Kind::kFlag
                           ? std::vector<std::string>{row.option->as<bool>() ? "true" : "false"}
                           : row.option->results();
      return;
    }
    const std::string variable = VariableOf(setting.name);
    if (const auto found = variables_.find(variable);
        found != variables_.end() && !found->second.empty()) {
      setting.origin = Origin::kVariable;
      setting.place = variable;
      setting.values = setting.kind == Kind::kList ? SplitList(found->second)
                                                   : std::vector<std::string>{found->second};
      return;
    }
    const auto entry =
        std::find_if(file_.entries.begin(), file_.entries.end(),
                     [&](const ConfigurationEntry& one) { return one.name == setting.name; });
    if (entry == file_.entries.end()) return;
    if (entry->is_list && setting.kind != Kind::kList) {
      problems_.push_back({file_.path, entry->place, "",
                           setting.name + ": expected one value, got a list", "write one of them"});
      return;
    }
    setting.origin = Origin::kFile;
    setting.place = file_.path + ":" + std::to_string(entry->place.line) + ":" +
                    std::to_string(entry->place.column);
    setting.values = entry->values;
    row.entry = *entry;
  }

  // Of two that exclude each other one remains: whoever says --rules does not want the database of
  // the file. Said in the same place they are a mistake, which CLI11 has found on the command line.
  // To say the default is to say nothing.
  void GiveWay(Row& row) {
    Setting& setting = row.setting;
    if (setting.origin == Origin::kDefault || setting.origin == Origin::kCommandLine) return;
    if (setting.values == setting.defaults) return;
    const std::set<CLI::Option*> excluded = row.option->get_excludes();
    for (const Row& other : rows_) {
      if (!excluded.contains(other.option) || other.setting.origin < setting.origin) continue;
      if (other.setting.values == other.setting.defaults) continue;
      if (other.setting.origin == setting.origin) {
        if (&other < &row) continue;  // it was said already
        Refuse(row, setting.name + " and " + other.setting.name + " exclude each other",
               "take one of them away");
      } else {
        setting.values = setting.defaults;
        setting.origin = Origin::kDefault;
        setting.place.clear();
        return;
      }
    }
  }

  void Apply(Row& row) {
    const Setting& setting = row.setting;
    if (setting.origin == Origin::kDefault || setting.origin == Origin::kCommandLine) return;
    if (setting.values.empty()) {
      // CLI11 empties the list, and then complains that a list should have something in it.
      static_cast<void>(row.option->get_callback()({}));
      return;
    }
    try {
      for (const std::string& value : setting.values) row.option->add_result(value);
      row.option->run_callback();
    } catch (const CLI::ParseError& error) {
      std::string what = error.what();
      const std::string flag = "--" + setting.name + ": ";
      if (what.starts_with(flag)) what.erase(0, flag.size());
      Refuse(row, setting.origin == Origin::kFile ? setting.name + ": " + what : what,
             "weir serve --help says what it may be");
    }
  }

  void Refuse(const Row& row, const std::string& what, const std::string& remedy) {
    if (row.entry) {
      problems_.push_back({file_.path, row.entry->place, "", what, remedy});
    } else {
      problems_.push_back({row.setting.place, {}, "", what, remedy});
    }
  }

  const ConfigurationFile& file_;
  const std::map<std::string, std::string>& variables_;
  Problems& problems_;
  std::vector<Row> rows_;
};

const Setting* Find(const Settings& settings, std::string_view name) {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const Setting& one) { return one.name == name; });
  return found == settings.end() ? nullptr : &*found;
}

}  // namespace

std::string VariableOf(std::string_view name) {
  std::string variable = "WEIR_";
  for (const char letter : name) {
    const bool is_lower = letter >= 'a' && letter <= 'z';
    variable += letter == '-' ? '_' : is_lower ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return variable;
}

Settings Complete(CLI::App& command, const ConfigurationFile& file,
                  const std::map<std::string, std::string>& variables, Problems& problems) {
  return Completion(command, file, variables, problems).Run();
}

std::string Locate(const Settings& settings, const std::string& message) {
  const std::size_t colon = message.find(": ");
  if (!message.starts_with("--") || colon == std::string::npos) return message;
  const Setting* setting = Find(settings, std::string_view(message).substr(2, colon - 2));
  if (setting == nullptr || setting->origin == Origin::kCommandLine || setting->place.empty()) {
    return message;
  }
  const bool is_variable = setting->origin == Origin::kVariable;
  return setting->place + (is_variable ? message.substr(colon) : ": " + message.substr(2));
}

std::vector<std::string> Changed(const Settings& before, const Settings& after) {
  std::vector<std::string> names;
  for (const Setting& now : after) {
    const Setting* then = Find(before, now.name);
    if (then != nullptr && then->values != now.values) names.push_back(now.name);
  }
  return names;
}

}  // namespace weir
