// Where rules are kept: a relational database, SQLite or PostgreSQL.
//
// A rule is kept as text (the YAML of one rule); the store does not read it. What it adds is
// memory: every change keeps who made it, when, why and the whole text, nothing is ever
// overwritten, and an edit that was made from an older version than the one in force fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weir/result.h"

namespace weir::catalog {

// Counts all changes of a database, from 1: also the version of a rule, which is that of its last
// change. So versions only grow, also over a rule that was deleted and made again.
using Revision = std::int64_t;

struct StoredRule {
  std::string space;  // the namespace
  std::string name;
  Revision revision = 0;  // of its last change
  std::string text;

  bool operator==(const StoredRule&) const = default;
};

struct Change {
  Revision revision = 0;
  std::string space;
  std::string name;
  std::optional<std::string> text;  // nothing: deleted
  std::string author;
  std::string comment;
  std::chrono::sys_time<std::chrono::microseconds> time;
};

// One step of an edit: put a rule, or delete it.
struct Edit {
  std::string space;
  std::string name;
  std::optional<std::string> text;  // nothing: delete
  // The revision that the edit was made from: 0, there was no such rule. Nothing: whatever is
  // there.
  std::optional<Revision> made_from;
};

struct Authorship {
  std::string author;
  std::string comment;
};

// The rule that an edit wanted to change is not what the edit was made from.
struct Conflict {
  std::string space;
  std::string name;
  Revision made_from = 0;
  Revision in_force = 0;  // 0: there is no such rule (any more)

  // "shop/login was changed: the edit was made from revision 4, and 7 is in force; ..."
  [[nodiscard]] std::string ToString() const;
};

// Conflicts and failures (the database cannot be reached, the disk is full) are told apart.
template <typename T>
using StoreResult = std::variant<T, Conflict, Error>;

// Thread safety: one thread at a time.
class RuleStore {
 public:
  // A file name or "sqlite:FILE" (made if it is not there), or "postgresql://...". Brings the
  // database up to date (migrations) before it returns; several may do so at once.
  static Result<std::unique_ptr<RuleStore>> Open(const std::string& url);
  virtual ~RuleStore() = default;

  // Of the last change to anything; 0 if there was none. Cheap: asked every other second.
  virtual Result<Revision> Latest() = 0;
  // All rules, or those of one namespace, ordered by namespace and then as they were first made.
  virtual Result<std::vector<StoredRule>> List(std::optional<std::string_view> space) = 0;
  // Everything, and the revision it is of, as of one moment.
  struct Everything {
    Revision revision = 0;
    std::vector<StoredRule> rules;
  };
  virtual Result<Everything> ReadAll() = 0;
  virtual Result<std::optional<StoredRule>> Get(std::string_view space, std::string_view name) = 0;
  // The changes of a rule, or of a namespace if `name` is empty; the youngest first, at most
  // `most`.
  virtual Result<std::vector<Change>> History(std::string_view space, std::string_view name,
                                              int most) = 0;
  // Makes all edits, one after the other, or none, in one transaction. An edit that would leave a
  // rule as it is makes no revision. Returns the revision of the last edit's rule: what the next
  // edit of it is made from (or of its deletion).
  virtual StoreResult<Revision> Apply(const std::vector<Edit>& edits, const Authorship& by) = 0;
  // Puts a namespace, or one rule of it if `name` is not empty, back as it was at `to`, also to its
  // place in the order: these are changes like any other. Returns the latest revision.
  virtual StoreResult<Revision> Rollback(std::string_view space, std::string_view name, Revision to,
                                         const Authorship& by) = 0;
  // Waits for a notification of PostgreSQL, at most `timeout`; with SQLite, as long as that. True:
  // something may have changed. False: nothing was heard, and Latest() tells. Returns at once, with
  // an error, if the connection is lost; the next call makes a new one.
  virtual Result<bool> WaitForChange(std::chrono::milliseconds timeout) = 0;
  // Ends a WaitForChange() of another thread, or else the next one. The one thing another thread
  // may call.
  virtual void Wake() = 0;
};

}  // namespace weir::catalog
