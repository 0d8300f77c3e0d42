// A new database of rules for a test, of the kind asked for, and what must always be true of one.
#pragma once

#include <string>
#include <vector>

#include "catalog/database_url.h"
#include "catalog/rule_store.h"
#include "tests/temporary_file.h"

namespace weir::catalog {

class RuleDatabase {
 public:
  explicit RuleDatabase(Engine engine);

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.folder(); }
  [[nodiscard]] std::unique_ptr<RuleStore> Open() const;

 private:
  TemporaryFile folder_;
  std::string url_;
};

// What is wrong with a database, on lines of their own: the rules in force are not what follows
// from the history, revisions have gaps, or the file is damaged.
std::string WhatIsWrongWith(const std::string& url);

// The revision, or a failure of the test with what came instead.
Revision RevisionOf(const StoreResult<Revision>& result);
// What is not a revision, as text.
std::string MessageOf(const StoreResult<Revision>& result);

}  // namespace weir::catalog
