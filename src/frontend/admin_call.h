// What a call of the admin API is made of: who asks for what, and what is answered. No HTTP, no
// sockets: frontend/admin_api.h makes these from a request.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/retriever_status.h"
#include "frontend/media_type.h"
#include "frontend/metrics_page.h"
#include "service/access.h"
#include "service/audit.h"
#include "service/checker.h"
#include "service/rules_service.h"

namespace weir {

// Where answers come from. All of it must outlive the API.
struct AdminParts {
  Checker* checker = nullptr;      // must be there
  const Access* access = nullptr;  // null: nobody has a token
  Audit* audit = nullptr;          // null: nothing is recorded
  // Null if rules are read from files, which then are at `files`. Used by one thread at a time.
  RulesService* rules = nullptr;
  std::string files = {};
  // Has new rules put in force, waits a little and says how it stands. Null: nobody fetches rules.
  std::function<catalog::RetrieverStatus()> look_now = {};
  MetricsSources status = {};  // version, start, connections, retriever
  // "http" and "127.0.0.1:8080", of all places it listens on.
  std::function<std::vector<std::pair<std::string, std::string>>()> listeners = {};
};

// What the caller knows of what it wants to change (RFC 9110, 13.1).
struct Precondition {
  enum class Kind : std::uint8_t {
    kNone,      // nothing was said
    kRevision,  // If-Match: "7"
    kExists,    // If-Match: *
    kIsNew,     // If-None-Match: *
  };
  Kind kind = Kind::kNone;
  catalog::Revision revision = 0;
};

struct AdminCall {
  std::vector<std::string> path;                           // the values of {...}, in their order
  std::vector<std::pair<std::string, std::string>> query;  // only what the route knows
  Media sent = Media::kJson;                               // the body's
  Media wanted = Media::kJson;
  Precondition precondition;
  std::string_view body;
  Caller caller;
  Instant now;

  [[nodiscard]] std::optional<std::string_view> Query(std::string_view name) const {
    for (const auto& [given, value] : query) {
      if (given == name) return value;
    }
    return std::nullopt;
  }
};

struct AdminReply {
  std::uint16_t status = 200;
  std::string_view content_type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string_view, std::string>> fields = {};  // of the header
};

using AdminHandler = AdminReply (*)(const AdminParts& parts, const AdminCall& call);

}  // namespace weir
