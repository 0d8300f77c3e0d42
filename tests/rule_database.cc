#include "tests/rule_database.h"

#include <gtest/gtest.h>
#include <soci/soci.h>

#include "catalog/database.h"
#include "tests/postgres.h"

namespace weir::catalog {

RuleDatabase::RuleDatabase(Engine engine)
    : url_(engine == Engine::kSqlite ? "sqlite:" + (folder() / "rules.db").string()
                                     : Postgres::Shared().NewDatabase()) {}

std::unique_ptr<RuleStore> RuleDatabase::Open() const {
  Result<std::unique_ptr<RuleStore>> store = RuleStore::Open(url_);
  EXPECT_TRUE(store.ok()) << store.error().message;
  return std::move(store).value();
}

std::string WhatIsWrongWith(const std::string& url) {
  const Result<DatabaseUrl> parsed = ParseDatabaseUrl(url);
  const std::unique_ptr<soci::session> session = Connect(*parsed);
  std::string wrong;
  if (parsed->engine == Engine::kSqlite) {
    std::string found;
    *session << "PRAGMA integrity_check", soci::into(found);
    if (found != "ok") wrong += found + "\n";
  }
  long long latest = 0;
  long long changes = 0;
  long long last = 0;
  *session << "SELECT latest FROM weir_revision", soci::into(latest);
  *session << "SELECT count(*), coalesce(max(revision), 0) FROM weir_changes", soci::into(changes),
      soci::into(last);
  if (latest != changes || latest != last) {
    wrong += "revision " + std::to_string(latest) + ", " + std::to_string(changes) +
             " changes up to " + std::to_string(last) + "\n";
  }
  // Both differences, so that neither has what the other has not.
  const std::string follows =
      "SELECT space, name, revision, created, text FROM weir_changes AS c WHERE text IS NOT NULL "
      "AND revision = (SELECT max(revision) FROM weir_changes AS d "
      "WHERE d.space = c.space AND d.name = c.name)";
  const std::string in_force = "SELECT space, name, revision, created, text FROM weir_rules";
  for (const std::string& difference :
       {follows + " EXCEPT " + in_force, in_force + " EXCEPT " + follows}) {
    long long rules = 0;
    *session << "SELECT count(*) FROM (" << difference << ") AS difference", soci::into(rules);
    if (rules != 0) wrong += std::to_string(rules) + " rules are not as the history says\n";
  }
  return wrong;
}

Revision RevisionOf(const StoreResult<Revision>& result) {
  EXPECT_TRUE(std::holds_alternative<Revision>(result)) << MessageOf(result);
  return std::holds_alternative<Revision>(result) ? std::get<Revision>(result) : -1;
}

std::string MessageOf(const StoreResult<Revision>& result) {
  if (const auto* conflict = std::get_if<Conflict>(&result)) return conflict->ToString();
  if (const auto* error = std::get_if<Error>(&result)) return error->message;
  return "";
}

}  // namespace weir::catalog
