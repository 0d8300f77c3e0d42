// Rules from a database.
//
// Each look asks for the last revision, which is cheap, and reads everything if it is another one.
// The database may be away, from the start or later: it is then opened again by the next look.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "catalog/rule_source.h"
#include "catalog/rule_store.h"
#include "catalog/stored_rules.h"
#include "weir/result.h"

namespace weir::catalog {

// Rules are all or nothing: if one cannot be read (a newer version of Weir wrote it), the earlier
// ones all stay in force, and the problem names it as NAMESPACE/NAME@REVISION.
class DatabaseSource final : public RuleSource {
 public:
  // How the database is had.
  struct Access {
    std::string what;  // "the database rules.db", without any password: for people
    std::function<Result<std::unique_ptr<RuleStore>>()> open;
    // Which file it is by now, in the words of the system; an error if it is gone. A connection to
    // a file that was deleted goes on as if nothing had happened. Empty: there is no file.
    std::function<Result<std::string>()> file;
  };

  // `url` as in RuleStore::Open(). An error if it is none; a database that is away is no error.
  static Result<std::unique_ptr<DatabaseSource>> Of(const std::string& url);
  explicit DatabaseSource(Access access) : access_(std::move(access)) {}

  Retrieved Look() override;
  void Wait(std::chrono::milliseconds timeout) override;
  void Wake() override;
  [[nodiscard]] std::string Describe() const override { return access_.what; }

 private:
  // What the last look saw, of use or not.
  struct Seen {
    Revision revision = 0;
    std::string digest;
  };

  Result<bool> Connect();
  void SetStore(std::unique_ptr<RuleStore> store);
  Retrieved Away(const Error& error);
  Retrieved Read();

  const Access access_;
  StoredRuleReader reader_;
  std::optional<Seen> seen_;
  // Whether `seen_` is of the connection we have. The revision of another one may be that of
  // another database: one that was restored, or made anew.
  bool is_of_this_ = false;
  std::string file_;  // that the connection is to
  bool has_wait_failed_ = false;

  std::mutex mutex_;
  std::condition_variable woken_;
  std::unique_ptr<RuleStore> store_;  // changed by the thread that looks, under mutex_; null: away
  bool is_woken_ = false;             // guarded by mutex_
};

}  // namespace weir::catalog
