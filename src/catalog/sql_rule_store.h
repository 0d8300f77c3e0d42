// The RuleStore over SQL: one for SQLite and PostgreSQL, which differ only in dialect.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/change_listener.h"
#include "catalog/database.h"
#include "catalog/rule_store.h"
#include "catalog/rule_writer.h"

namespace weir::catalog {

class SqlRuleStore final : public RuleStore {
 public:
  SqlRuleStore(DatabaseUrl url, std::unique_ptr<ChangeListener> listener)
      : database_(std::move(url)), listener_(std::move(listener)) {}

  Result<Revision> Latest() override;
  Result<std::vector<StoredRule>> List(std::optional<std::string_view> space) override;
  Result<Everything> ReadAll() override;
  Result<std::optional<StoredRule>> Get(std::string_view space, std::string_view name) override;
  Result<std::vector<Change>> History(std::string_view space, std::string_view name,
                                      int most) override;
  StoreResult<Revision> Apply(const std::vector<Edit>& edits, const Authorship& by) override;
  StoreResult<Revision> Rollback(std::string_view space, std::string_view name, Revision to,
                                 const Authorship& by) override;
  Result<bool> WaitForChange(std::chrono::milliseconds timeout) override;
  void Wake() override;

 private:
  // Runs `work(RuleWriter&)` in a transaction, which is committed unless there is a conflict or an
  // error.
  template <typename Work>
  StoreResult<Revision> Write(std::string_view doing, const Authorship& by, Work work);

  Database database_;
  std::unique_ptr<ChangeListener> listener_;
};

}  // namespace weir::catalog
