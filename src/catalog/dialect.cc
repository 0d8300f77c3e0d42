#include "catalog/dialect.h"

namespace weir::catalog {
namespace {

constexpr Dialect kSqlite = {
    // At once, not at the first write: a transaction that has read cannot begin to write when
    // another one has written meanwhile.
    .begin = "BEGIN IMMEDIATE",
    .lock_row = "",
    .lock_schema = "",
    .count_schema_tables = "SELECT count(*) FROM sqlite_master WHERE name = 'weir_schema'",
    .text = "TEXT",
    .notify = "",
};

constexpr Dialect kPostgres = {
    .begin = "BEGIN",
    .lock_row = " FOR UPDATE",
    // The number is "weirrule" in ASCII: others that use the database have other numbers.
    .lock_schema = "SELECT pg_advisory_xact_lock(8603398603428686949)",
    .count_schema_tables = "SELECT count(*) FROM pg_class WHERE oid = to_regclass('weir_schema')",
    .text = "TEXT COLLATE \"C\"",
    .notify = "NOTIFY weir_rules",
};

}  // namespace

const Dialect& DialectOf(Engine engine) { return engine == Engine::kSqlite ? kSqlite : kPostgres; }

}  // namespace weir::catalog
