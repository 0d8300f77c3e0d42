// The commands about the rules that are kept: in a database, or by a running server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/rule_store.h"
#include "server/client_options.h"
#include "server/streams.h"

namespace weir {

struct StoredRulesOptions {
  std::string database = "weir.db";
  bool is_remote = false;  // ask the server of `client` instead
  ClientOptions client = {};
  std::string place;               // NAMESPACE or NAMESPACE/NAME
  std::vector<std::string> files;  // paths, or "-"
  std::optional<catalog::Revision> from;
  catalog::Revision to = 0;
  int most = 50;
  catalog::Authorship by;
  bool dry_run = false;
  bool json = false;
};

// Each returns the exit code.
int ListStoredRules(const StoredRulesOptions& options, Streams io);
int GetStoredRule(const StoredRulesOptions& options, Streams io);
int ShowHistory(const StoredRulesOptions& options, Streams io);
int ExportNamespace(const StoredRulesOptions& options, Streams io);
int PutRule(const StoredRulesOptions& options, Streams io);
int DeleteRule(const StoredRulesOptions& options, Streams io);
int RollBack(const StoredRulesOptions& options, Streams io);
int ImportFiles(const StoredRulesOptions& options, Streams io);

}  // namespace weir
