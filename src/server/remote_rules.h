// The rules of a running server, over its admin API: as RulesService (service/rules_service.h) has
// them of a database, so that `weir rules` says the same about both.
//
// What differs: the author is whoever the token belongs to, and an import of several namespaces is
// one change for each. It is tried dry first, all of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/rule_files.h"
#include "catalog/rule_store.h"
#include "server/api_client.h"
#include "server/json_value.h"
#include "service/rules_service.h"

namespace weir {

// What a change did or would do, as the API tells it.
Applied AppliedOf(const JsonValue& change);
// Why not: kFailed if the server lets us do nothing at all.
Refused RefusedOf(const wire::HttpAnswer& answer);

class RemoteRules {
 public:
  explicit RemoteRules(ApiClient client) : client_(std::move(client)) {}

  ServiceResult<std::vector<catalog::StoredRule>> List(std::optional<std::string_view> space);
  ServiceResult<catalog::StoredRule> Get(const std::string& space, const std::string& name);
  ServiceResult<std::vector<catalog::Change>> History(const std::string& space,
                                                      const std::string& name, int most);
  ServiceResult<Applied> Put(const std::string& space, const catalog::RuleFile& file,
                             std::optional<catalog::Revision> made_from,
                             const catalog::Authorship& by, Intent intent);
  ServiceResult<Applied> Delete(const std::string& space, const std::string& name,
                                std::optional<catalog::Revision> made_from,
                                const catalog::Authorship& by, Intent intent);
  ServiceResult<Applied> Rollback(const std::string& space, const std::string& name,
                                  catalog::Revision to, const catalog::Authorship& by,
                                  Intent intent);
  ServiceResult<Applied> Import(const std::vector<catalog::RuleFile>& files,
                                const catalog::Authorship& by, Intent intent);
  ServiceResult<std::string> Export(const std::string& space);

 private:
  ServiceResult<wire::HttpAnswer> Ask(const ApiCall& call);
  ServiceResult<JsonValue> AskJson(const ApiCall& call);
  ServiceResult<Applied> MakeChange(ApiCall call,
                                    const std::vector<std::pair<std::string, std::string>>& query,
                                    const catalog::Authorship& by, Intent intent);
  // What a change says it was made from. Without a revision: whatever is there, or nothing.
  ServiceResult<std::pair<std::string, std::string>> Precondition(
      const std::string& path, std::optional<catalog::Revision> made_from);
  ServiceResult<std::vector<std::string>> Namespaces();

  ApiClient client_;
};

}  // namespace weir
