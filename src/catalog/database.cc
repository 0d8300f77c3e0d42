#include "catalog/database.h"

#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <chrono>
#include <stdexcept>
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
  // libpq would write what the server says beside the errors to stderr.
  PQsetNoticeProcessor(
      ConnectionOf(session), [](void*, const char*) {}, nullptr);
  session << "SELECT set_config(name, wanted, false) FROM (VALUES "
             "('statement_timeout', '10s'), ('lock_timeout', '5s'), "
             "('idle_in_transaction_session_timeout', '30s')) AS limits (name, wanted) "
             "WHERE current_setting(name) = '0'";
}

}  // namespace

PGconn* ConnectionOf(soci::session& session) {
  return static_cast<soci::postgresql_session_backend*>(session.get_backend())->conn_;
}

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

Database::Database(DatabaseUrl url) : url_(std::move(url)) {
  if (url_.engine == Engine::kPostgres) watchdog_ = std::make_unique<Watchdog>();
}

void Database::Open() {
  session_ = Connect(url_);
  BeginWatch(kPatience);
  const std::optional<std::string> refused = Migrate(*session_, dialect());
  EndWatch();
  if (refused) throw std::runtime_error(*refused);
}

void Database::BeginWatch(std::chrono::milliseconds patience) {
  if (watchdog_ != nullptr) watchdog_->Begin(PQsocket(ConnectionOf(*session_)), patience);
}

bool Database::EndWatch() { return watchdog_ != nullptr && watchdog_->End(); }

Error Database::Fail(std::string_view doing, const std::exception_ptr& failure) {
  const bool given_up = EndWatch();  // before the socket is closed
  session_.reset();
  if (!given_up) return ExplainFailure(url_, doing, failure);
  return Error{"database " + url_.shown + ": cannot " + std::string(doing) +
               ": the server does not answer and was given up; a change may have been made or "
               "not: look at what is there when it answers again"};
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
