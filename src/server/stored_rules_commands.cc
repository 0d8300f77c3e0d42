#include "server/stored_rules_commands.h"

#include <filesystem>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>

#include "catalog/database_url.h"
#include "rule/rule_file.h"
#include "rule/utf8.h"
#include "server/client_commands.h"
#include "server/remote_rules.h"
#include "server/rule_input.h"
#include "server/stored_rules_output.h"
#include "service/rules_service.h"

namespace weir {
namespace {

enum class IfMissing : unsigned char { kMake, kRefuse };

// The store makes a file that is not there. Whoever only looks does not want one.
Result<std::unique_ptr<catalog::RuleStore>> Open(const std::string& url, IfMissing if_missing) {
  const Result<catalog::DatabaseUrl> parsed = catalog::ParseDatabaseUrl(url);
  if (!parsed) return parsed.error();
  std::error_code ignored;
  if (if_missing == IfMissing::kRefuse && parsed->engine == catalog::Engine::kSqlite &&
      !std::filesystem::exists(parsed->shown, ignored)) {
    return Error{parsed->shown +
                 ": there is no such database; the first import or put makes it, and --database "
                 "names another"};
  }
  return catalog::RuleStore::Open(url);
}

// Opens the database, or finds the server, does something with it and prints what comes of it.
template <typename Ask, typename Print>
int WithService(const StoredRulesOptions& options, Streams io, Ask ask, Print print,
                IfMissing if_missing = IfMissing::kRefuse) {
  const auto fail = [&](const Error& error) {
    return PrintRefused({Refused::Why::kFailed, error.message, {}}, options.json, io);
  };
  const auto tell = [&](auto& service) -> int {
    const auto result = ask(service);
    if (const auto* refused = std::get_if<Refused>(&result)) {
      return PrintRefused(*refused, options.json, io);
    }
    print(std::get<0>(result));
    return kDone;
  };
  if (options.is_remote) {
    Result<ApiClient> client = ClientOf(options.client);
    if (!client) return fail(client.error());
    RemoteRules service(std::move(*client));
    return tell(service);
  }
  Result<std::unique_ptr<catalog::RuleStore>> store = Open(options.database, if_missing);
  if (!store) return fail(store.error());
  RulesService service(std::move(*store));
  return tell(service);
}

template <typename Edit>
int WithEdit(const StoredRulesOptions& options, Streams io, Edit edit) {
  const Intent intent = options.dry_run ? Intent::kDryRun : Intent::kForReal;
  return WithService(
      options, io, [&](auto& service) { return edit(service, intent); },
      [&](const Applied& applied) {
        for (const rule::Problem& doubt : applied.doubts) {
          io.err << "note: " << doubt.ToString() << "\n";
        }
        options.json ? PrintJson(applied, intent, io.out) : PrintText(applied, intent, io.out);
      },
      intent == Intent::kDryRun ? IfMissing::kRefuse : IfMissing::kMake);
}

// A rule was asked for, and not a whole namespace.
bool NamesRule(const StoredRulesOptions& options, Streams io) {
  const RulePlace place = SplitPlace(options.place);
  if (!place.space.empty() && !place.name.empty()) return true;
  io.err << "'" << rule::Shown(options.place) << "' names no rule; write NAMESPACE/NAME\n";
  return false;
}

}  // namespace

int ListStoredRules(const StoredRulesOptions& options, Streams io) {
  std::optional<std::string_view> space;
  if (!options.place.empty()) space = options.place;
  return WithService(
      options, io, [&](auto& service) { return service.List(space); },
      [&](const std::vector<catalog::StoredRule>& rules) {
        options.json ? PrintJson(rules, io.out) : PrintText(rules, io.out);
      });
}

int GetStoredRule(const StoredRulesOptions& options, Streams io) {
  if (!NamesRule(options, io)) return kUnreadable;
  const RulePlace place = SplitPlace(options.place);
  return WithService(
      options, io, [&](auto& service) { return service.Get(place.space, place.name); },
      [&](const catalog::StoredRule& rule) {
        if (options.json) {
          PrintJson(rule, io.out);
        } else {
          io.out << rule.text << (rule.text.ends_with('\n') ? "" : "\n");
        }
      });
}

int ShowHistory(const StoredRulesOptions& options, Streams io) {
  const RulePlace place = SplitPlace(options.place);
  return WithService(
      options, io,
      [&](auto& service) { return service.History(place.space, place.name, options.most); },
      [&](const std::vector<catalog::Change>& changes) {
        options.json ? PrintJson(changes, io.out) : PrintText(changes, io.out);
      });
}

int ExportNamespace(const StoredRulesOptions& options, Streams io) {
  return WithService(
      options, io, [&](auto& service) { return service.Export(options.place); },
      [&](const std::string& text) { io.out << text; });
}

int PutRule(const StoredRulesOptions& options, Streams io) {
  std::vector<catalog::RuleFile> files;
  if (!ReadInput(options.files.front(), io.in, io.err, files)) return kUnreadable;
  if (files.size() != 1) {
    io.err << options.files.front() << " is a directory; put one rule at a time, or import it\n";
    return kUnreadable;
  }
  const catalog::RuleFile& file = files.front();
  const int code = WithEdit(options, io, [&](auto& service, Intent intent) {
    return service.Put(options.place, file, options.from, options.by, intent);
  });
  rule::Problems ignored;
  if (code == kWrong && rule::ReadRules(file.text, file.name, ignored)) {
    io.err << file.name << " holds a whole namespace; weir rules import takes that\n";
  }
  return code;
}

int DeleteRule(const StoredRulesOptions& options, Streams io) {
  if (!NamesRule(options, io)) return kUnreadable;
  const RulePlace place = SplitPlace(options.place);
  return WithEdit(options, io, [&](auto& service, Intent intent) {
    return service.Delete(place.space, place.name, options.from, options.by, intent);
  });
}

int RollBack(const StoredRulesOptions& options, Streams io) {
  const RulePlace place = SplitPlace(options.place);
  return WithEdit(options, io, [&](auto& service, Intent intent) {
    return service.Rollback(place.space, place.name, options.to, options.by, intent);
  });
}

int ImportFiles(const StoredRulesOptions& options, Streams io) {
  std::vector<catalog::RuleFile> files;
  for (const std::string& path : options.files) {
    if (!ReadInput(path, io.in, io.err, files)) return kUnreadable;
  }
  return WithEdit(options, io, [&](auto& service, Intent intent) {
    return service.Import(files, options.by, intent);
  });
}

}  // namespace weir
