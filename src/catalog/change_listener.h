// Waits for changes that others make to the database.
//
// PostgreSQL tells: a connection of its own listens, and whoever changes rules notifies in the same
// transaction. SQLite has no such thing: there, time passes, and the caller looks for itself.
//
// Thread safety: one thread at a time, but for Wake().
#pragma once

#include <soci/session.h>

#include <chrono>
#include <memory>

#include "catalog/database_url.h"
#include "weir/result.h"

namespace weir::catalog {

class ChangeListener {
 public:
  static Result<std::unique_ptr<ChangeListener>> Make(DatabaseUrl url);
  ~ChangeListener();
  ChangeListener(const ChangeListener&) = delete;
  ChangeListener& operator=(const ChangeListener&) = delete;

  // True: something may have changed, because a notification came or because nobody listened until
  // now. False: the time is over, or Wake() was called. An error: the connection was lost; the next
  // call makes a new one.
  Result<bool> Wait(std::chrono::milliseconds timeout);

  // Ends a Wait() that goes on in another thread, or else the next one.
  void Wake();

 private:
  ChangeListener(DatabaseUrl url, int wake) : url_(std::move(url)), wake_(wake) {}
  bool Listen();
  bool WaitUntil(std::chrono::steady_clock::time_point deadline);

  DatabaseUrl url_;
  int wake_;                                  // an eventfd
  std::unique_ptr<soci::session> listening_;  // PostgreSQL: after LISTEN
};

}  // namespace weir::catalog
