// Changes rules within one transaction: their history and what is in force, always both.
//
// Throws what SOCI throws.
#pragma once

#include <soci/soci.h>

#include <optional>
#include <string>

#include "catalog/database.h"
#include "catalog/rule_store.h"

namespace weir::catalog {

class RuleWriter {
 public:
  // Begins, and keeps all other writers out until the end.
  RuleWriter(soci::session& session, const Dialect& dialect, const Authorship& by,
             std::chrono::sys_time<std::chrono::microseconds> now);
  RuleWriter(const RuleWriter&) = delete;
  RuleWriter& operator=(const RuleWriter&) = delete;

  // Of the last change to anything.
  [[nodiscard]] Revision latest() const { return latest_; }

  struct State {
    Revision revision = 0;
    Revision created = 0;             // of the change that made it: the rule's place in the order
    std::optional<std::string> text;  // nothing: deleted
  };
  // The last change of a rule up to `at`, or nothing if there was none.
  std::optional<State> StateAt(const std::string& space, const std::string& name, Revision at);
  std::optional<State> StateNow(const std::string& space, const std::string& name) {
    return StateAt(space, name, latest_);
  }

  // Makes the next revision. Without `created` the rule is made anew, at the end of the order.
  void Put(const std::string& space, const std::string& name, const std::string& text,
           std::optional<Revision> created);
  void Delete(const std::string& space, const std::string& name, Revision created);

  // Nothing is changed without it.
  void Commit();

 private:
  void AddChange();

  soci::session& session_;
  const Dialect& dialect_;
  Transaction transaction_;
  const Authorship& by_;
  long long time_us_;
  long long before_ = 0;  // the latest revision when it began
  long long latest_ = 0;

  // What the statements below are bound to.
  std::string space_;
  std::string name_;
  std::string text_;
  soci::indicator has_text_ = soci::i_null;
  long long at_ = 0;
  long long revision_ = 0;
  long long created_ = 0;
  soci::statement find_;
  soci::statement add_change_;
  soci::statement put_rule_;
  soci::statement delete_rule_;
};

}  // namespace weir::catalog
