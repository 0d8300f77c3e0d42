// A connection to the database of rules that comes back by itself.
//
// The database's library (SOCI) throws; here that ends. A failure becomes an error that names the
// database, and the connection is dropped: the next call makes a new one, which brings the tables
// up to date first. So a server that was away is used again as soon as it is back.
//
// Thread safety: one thread at a time.
#pragma once

#include <libpq-fe.h>
#include <soci/session.h>

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "catalog/database_error.h"
#include "catalog/database_url.h"
#include "catalog/dialect.h"
#include "catalog/watchdog.h"
#include "weir/result.h"

namespace weir::catalog {

// Connects, with everything set that we rely on. Throws what SOCI throws.
std::unique_ptr<soci::session> Connect(const DatabaseUrl& url);

// The connection of libpq below a session with PostgreSQL.
PGconn* ConnectionOf(soci::session& session);

class Database {
 public:
  // How long a server may take to do what it is asked to, until it is given up.
  static constexpr std::chrono::seconds kPatience{30};

  explicit Database(DatabaseUrl url);

  [[nodiscard]] const DatabaseUrl& url() const { return url_; }
  [[nodiscard]] const Dialect& dialect() const { return DialectOf(url_.engine); }

  // What `work(soci::session&)` returns; it may throw what SOCI throws. `doing` completes "cannot
  // ...".
  template <typename Work>
  auto Run(std::string_view doing, Work work, std::chrono::milliseconds patience = kPatience)
      -> Result<std::invoke_result_t<Work, soci::session&>> {
    try {
      if (session_ == nullptr) Open();
      BeginWatch(patience);
      Result<std::invoke_result_t<Work, soci::session&>> result(work(*session_));
      EndWatch();
      return result;
    } catch (...) {
      return Fail(doing, std::current_exception());
    }
  }

 private:
  void Open();
  void BeginWatch(std::chrono::milliseconds patience);
  bool EndWatch();
  Error Fail(std::string_view doing, const std::exception_ptr& failure);

  DatabaseUrl url_;
  std::unique_ptr<soci::session> session_;
  std::unique_ptr<Watchdog> watchdog_;  // PostgreSQL
};

// A transaction that writes; undone unless it is committed.
class Transaction {
 public:
  Transaction(soci::session& session, const Dialect& dialect);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void Commit();

 private:
  soci::session& session_;
  bool open_ = true;
};

// Thrown by Commit() if the connection was lost before the answer came.
class OutcomeUnknown : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "the connection was lost before the server confirmed it; it may have been done or not: "
           "look at what is there now";
  }
};

}  // namespace weir::catalog
