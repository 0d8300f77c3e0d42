#include "catalog/migrations.h"

#include <soci/soci.h>

#include <array>
#include <vector>

#include "catalog/database.h"

namespace weir::catalog {
namespace {

using Statements = std::vector<std::string>;

// Rules and their history.
//
// weir_changes is only ever added to. weir_rules holds what follows from it, the last change of
// each rule unless that deleted it, so that reading them does not take longer with every change.
// `created` is the revision of the change that made the rule: it gives the order. weir_revision has
// one row, which every writer locks first: so revisions have no gaps and become visible in order.
Statements RulesAndHistory(const Dialect& dialect) {
  const std::string text = dialect.text;
  return {
      "CREATE TABLE weir_revision (latest BIGINT NOT NULL)",
      "INSERT INTO weir_revision (latest) VALUES (0)",
      "CREATE TABLE weir_changes ("
      "revision BIGINT NOT NULL PRIMARY KEY, "
      "space " +
          text +
          " NOT NULL, "
          "name " +
          text +
          " NOT NULL, "
          "text " +
          text +
          ", "
          "created BIGINT NOT NULL, "
          "author " +
          text +
          " NOT NULL, "
          "comment " +
          text +
          " NOT NULL, "
          "time_us BIGINT NOT NULL)",
      "CREATE INDEX weir_changes_of_rule ON weir_changes (space, name, revision)",
      "CREATE INDEX weir_changes_of_space ON weir_changes (space, revision)",
      "CREATE TABLE weir_rules ("
      "space " +
          text +
          " NOT NULL, "
          "name " +
          text +
          " NOT NULL, "
          "revision BIGINT NOT NULL REFERENCES weir_changes (revision), "
          "created BIGINT NOT NULL, "
          "text " +
          text +
          " NOT NULL, "
          "PRIMARY KEY (space, name))",
  };
}

// In order; a step that was released never changes, what is to be different comes as a new step.
constexpr std::array<Statements (*)(const Dialect&), 1> kSteps = {RulesAndHistory};

// The number of the last step that was made.
int SchemaOf(soci::session& session, const Dialect& dialect) {
  int tables = 0;
  session << dialect.count_schema_tables, soci::into(tables);
  if (tables == 0) return 0;
  int number = 0;
  session << "SELECT coalesce(max(number), 0) FROM weir_schema", soci::into(number);
  return number;
}

void Make(soci::session& session, const Dialect& dialect, int number) {
  if (number == 1) session << "CREATE TABLE weir_schema (number INTEGER NOT NULL PRIMARY KEY)";
  for (const std::string& statement : kSteps[static_cast<std::size_t>(number) - 1](dialect)) {
    session << statement;
  }
  session << "INSERT INTO weir_schema (number) VALUES (:number)", soci::use(number);
}

}  // namespace

int LatestSchema() { return static_cast<int>(kSteps.size()); }

std::optional<std::string> Migrate(soci::session& session, const Dialect& dialect) {
  // Looks before it locks: whoever only reads and changes rules needs no right to make tables.
  int schema = SchemaOf(session, dialect);
  while (schema < LatestSchema()) {
    Transaction transaction(session, dialect);
    if (*dialect.lock_schema != '\0') session << dialect.lock_schema;
    schema = SchemaOf(session, dialect);  // another server may have been faster
    if (schema >= LatestSchema()) break;
    Make(session, dialect, schema + 1);
    transaction.Commit();
    ++schema;
  }
  if (schema == LatestSchema()) return std::nullopt;
  return "it is newer than this program (its tables are of version " + std::to_string(schema) +
         ", this program knows " + std::to_string(LatestSchema()) +
         "); run the program that made it, or a newer one";
}

}  // namespace weir::catalog
