// Failures that a test cannot bring about for real: what their codes are made into.
#include "catalog/database_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/sqlite3/soci-sqlite3.h>

namespace weir::catalog {
namespace {

using testing::HasSubstr;

const DatabaseUrl kSqlite{Engine::kSqlite, "", "/rules.db"};
const DatabaseUrl kPostgres{Engine::kPostgres, "", "postgresql://weir@db/rules"};

std::string Explain(const DatabaseUrl& database, const auto& failure) {
  return ExplainFailure(database, "change rules", std::make_exception_ptr(failure)).message;
}

TEST(DatabaseErrorTest, NamesTheDatabaseWhatWasTriedTheCauseAndTheRemedy) {
  EXPECT_EQ(
      Explain(kSqlite, soci::sqlite3_soci_error("loadOne: database or disk is full", SQLITE_FULL)),
      "database /rules.db: cannot change rules: the disk is full; nothing was changed: free some "
      "space and try again (database or disk is full)");
}

TEST(DatabaseErrorTest, TellsThePrimaryCodeInAnExtendedOne) {
  EXPECT_THAT(Explain(kSqlite, soci::sqlite3_soci_error("x", SQLITE_READONLY_DIRECTORY)),
              HasSubstr("read-only"));
  EXPECT_THAT(Explain(kSqlite, soci::sqlite3_soci_error("x", SQLITE_CORRUPT_INDEX)),
              HasSubstr("restore a backup"));
}

TEST(DatabaseErrorTest, ReadsTheStatesOfPostgres) {
  const auto explain = [](const char* state) {
    return Explain(kPostgres, soci::postgresql_soci_error("ERROR:\n  it says", state));
  };
  EXPECT_EQ(explain("53100"),
            "database postgresql://weir@db/rules: cannot change rules: the disk of the server is "
            "full; nothing was changed: free some space there (ERROR: it says)");
  EXPECT_THAT(explain("25006"), HasSubstr("name the primary server"));
  EXPECT_THAT(explain("42501"), HasSubstr("grant this user"));
  EXPECT_THAT(explain("08006"), HasSubstr("the connection is lost"));
  EXPECT_THAT(explain("22012"), HasSubstr("the server refused (ERROR: it says)"));
}

}  // namespace
}  // namespace weir::catalog
