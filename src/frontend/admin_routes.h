// Every call of the admin API, in one table: what is asked for, by whom, with what, and who
// answers.
//
// From it are made the routing (404, and 405 with Allow), who may call (401, 403), what may be sent
// (400, 415) and the OpenAPI document. So these cannot disagree, and a call that is not in the
// table does not exist.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/admin_call.h"

namespace weir {

// A parameter of the query.
struct AdminParameter {
  enum class Type : std::uint8_t { kText, kCount, kFlag };
  std::string_view name = {};
  Type type = Type::kText;
  std::string_view description = {};
};

// What a call takes in its body, and how it is answered.
enum class AdminBody : std::uint8_t { kNone, kJson, kRules };    // kRules: JSON or YAML
enum class AdminAnswer : std::uint8_t { kText, kJson, kRules };  // kRules: as the client wants it

// What a call does, from which its other answers follow.
enum class AdminNature : std::uint8_t {
  kReads,         // what is in memory
  kReadsStore,    // what is kept: 503 if that cannot be reached
  kReadsHistory,  // what only a database has: 409 on a server that reads files
  kResets,        // changes what is counted: it must be recorded
  kEdits,  // changes what is kept: it names what it was made from (412, 428), and is checked (422)
};

struct AdminRoute {
  std::string_view method = {};
  std::string_view path = {};  // "/v1/rules/{namespace}"
  Role least = Role::kNone;
  AdminNature nature = AdminNature::kReads;
  std::string_view summary = {};
  std::span<const AdminParameter> query = {};
  AdminBody body = AdminBody::kNone;
  std::string_view body_schema = {};  // names of frontend/openapi_schemas.h; empty: none
  AdminAnswer answer = AdminAnswer::kJson;
  std::string_view answer_schema = {};
  // Beyond those that follow from the above.
  std::span<const std::uint16_t> statuses = {};
  AdminHandler handler = nullptr;
};

std::span<const AdminRoute> AdminRoutes();

// All statuses that a call may be answered with, in ascending order.
std::vector<std::uint16_t> StatusesOf(const AdminRoute& route);

}  // namespace weir
