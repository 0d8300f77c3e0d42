#include "catalog/database.h"

#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <chrono>
#include <thread>

#include "catalog/migrations.h"

namespace weir::catalog {
namespace {

// A write-ahead log lets others read while one writes. To change over to it needs the file alone,
// and SQLite does not wait for that by itself.
void UseWriteAheadLog(soci::session& session) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (;;) {
    try {
      std::string mode;
      session << "PRAGMA journal_mode = WAL", soci::into(mode);
      return;
    } catch (const soci::sqlite3_soci_error& error) {
      const bool busy = (error.result() & 0xff) == SQLITE_BUSY;
      if (!busy || std::chrono::steady_clock::now() > give_up) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

void SetUpSqlite(soci::session& session) {
  int milliseconds = 0;
  session << "PRAGMA busy_timeout = 5000", soci::into(milliseconds);
  UseWriteAheadLog(session);
  session << "PRAGMA synchronous = FULL";  // what is committed survives a power failure
  session << "PRAGMA foreign_keys = ON";
}

// Limits of time, for a server that is busy or stuck; those that the URL or the administrator has
// set stay.
void SetUpPostgres(soci::session& session) {
  session << "SELECT set_config(name, wanted, false) FROM (VALUES "
             "('statement_timeout', '10s'), ('lock_timeout', '5s'), "
             "('idle_in_transaction_session_timeout', '30s')) AS limits (name, wanted) "
             "WHERE current_setting(name) = '0'";
  session << "SET client_min_messages = warning";
}

}  // namespace

std::unique_ptr<soci::session> Connect(const DatabaseUrl& url) {
  if (url.engine == Engine::kSqlite) {
    auto session = std::make_unique<soci::session>(soci::sqlite3, url.connect);
    SetUpSqlite(*session);
    return session;
  }
  auto session = std::make_unique<soci::session>(soci::postgresql, url.connect);
  SetUpPostgres(*session);
  return session;
}

std::optional<Error> Database::Open() {
  std::unique_ptr<soci::session> session = Connect(url_);
  if (const std::optional<std::string> refused = Migrate(*session, dialect())) {
    return Error{"database " + url_.shown + ": " + *refused};
  }
  session_ = std::move(session);
  return std::nullopt;
}

Transaction::Transaction(soci::session& session, const Dialect& dialect) : session_(session) {
  session_ << dialect.begin;
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    session_.rollback();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // It is undone all the same: SQLite has done so already, or the connection is lost.
  }
}

void Transaction::Commit() {
  try {
    session_.commit();
  } catch (const soci::postgresql_soci_error& error) {
    const bool lost = error.sqlstate().starts_with("08") || error.sqlstate().starts_with("57P");
    if (lost) throw OutcomeUnknown();
    throw;
  }
  open_ = false;
}

}  // namespace weir::catalog
