// A connection to the database of rules that comes back by itself.
//
// The database's library (SOCI) throws; here that ends. A failure becomes an error that names the
// database, and the connection is dropped: the next call makes a new one, which brings the tables
// up to date first. So a server that was away is used again as soon as it is back.
//
// Thread safety: one thread at a time.
#pragma once

#include <soci/session.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "catalog/database_error.h"
#include "catalog/database_url.h"
#include "catalog/dialect.h"
#include "weir/result.h"

namespace weir::catalog {

// Connects, with everything set that we rely on. Throws what SOCI throws.
std::unique_ptr<soci::session> Connect(const DatabaseUrl& url);

class Database {
 public:
  explicit Database(DatabaseUrl url) : url_(std::move(url)) {}

  [[nodiscard]] const DatabaseUrl& url() const { return url_; }
  [[nodiscard]] const Dialect& dialect() const { return DialectOf(url_.engine); }

  // What `work(soci::session&)` returns; it may throw what SOCI throws. `doing` completes "cannot
  // ...".
  template <typename Work>
  auto Run(std::string_view doing, Work work)
      -> Result<std::invoke_result_t<Work, soci::session&>> {
    try {
      if (session_ == nullptr) {
        if (std::optional<Error> refused = Open()) return *std::move(refused);
      }
      return work(*session_);
    } catch (...) {
      session_.reset();
      return ExplainFailure(url_, doing, std::current_exception());
    }
  }

 private:
  std::optional<Error> Open();

  DatabaseUrl url_;
  std::unique_ptr<soci::session> session_;
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
