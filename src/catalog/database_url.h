// Where the rules are kept, as an operator writes it: a file for SQLite, a URL for PostgreSQL.
#pragma once

#include <string>

#include "weir/result.h"

namespace weir::catalog {

enum class Engine { kSqlite, kPostgres };

struct DatabaseUrl {
  Engine engine = Engine::kSqlite;
  // What the database's library is given: for PostgreSQL, settings and perhaps a password.
  std::string connect;
  // For messages: names the database and holds no password.
  std::string shown;
};

// "FILE", "sqlite:FILE" or "postgresql://USER:PASSWORD@HOST:PORT/DATABASE?SETTING=VALUE". Settings
// that keep a dead server from holding us up are added unless the URL has them.
Result<DatabaseUrl> ParseDatabaseUrl(const std::string& url);

}  // namespace weir::catalog
