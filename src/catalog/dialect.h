// The differences between SQLite and PostgreSQL, all in one place: everything else is written once,
// in the SQL that both know.
#pragma once

#include "catalog/database_url.h"

namespace weir::catalog {

// Pieces of SQL.
struct Dialect {
  // Begins a transaction that writes.
  const char* begin;
  // After a SELECT of one row: no other writer gets past it until the transaction ends.
  const char* lock_row;
  // Within a transaction: no other server migrates until it ends. A query, or nothing to do.
  const char* lock_schema;
  // Counts the tables named weir_schema: 0 or 1.
  const char* count_schema_tables;
  // The type of text that is compared byte by byte.
  const char* text;
  // Tells those who wait, once the transaction is committed. Or nothing.
  const char* notify;
};

// The channel of `notify`.
inline constexpr char kChannel[] = "weir_rules";

const Dialect& DialectOf(Engine engine);

}  // namespace weir::catalog
