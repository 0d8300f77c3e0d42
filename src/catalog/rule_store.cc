#include "catalog/rule_store.h"

#include "catalog/change_listener.h"
#include "catalog/database_url.h"
#include "catalog/sql_rule_store.h"

namespace weir::catalog {

std::string Conflict::ToString() const {
  const std::string rule = space + "/" + name;
  if (made_from == 0) {
    return "there is a rule " + rule + " already, of revision " + std::to_string(in_force) +
           ", and the edit was to make a new one (from revision 0); choose another name, or edit "
           "that one";
  }
  const std::string from = "the edit was made from revision " + std::to_string(made_from);
  if (in_force == 0) {
    return rule + " was deleted: " + from +
           ", and none is in force (revision 0); make it anew if it is still wanted";
  }
  return rule + " was changed: " + from + ", and " + std::to_string(in_force) +
         " is in force; read that one and make the edit again";
}

Result<std::unique_ptr<RuleStore>> RuleStore::Open(const std::string& url) {
  Result<DatabaseUrl> parsed = ParseDatabaseUrl(url);
  if (!parsed) return parsed.error();
  Result<std::unique_ptr<ChangeListener>> listener = ChangeListener::Make(*parsed);
  if (!listener) return listener.error();
  auto store = std::make_unique<SqlRuleStore>(std::move(*parsed), std::move(*listener));
  if (const Result<Revision> latest = store->Latest(); !latest) return latest.error();
  return std::unique_ptr<RuleStore>(std::move(store));
}

}  // namespace weir::catalog
