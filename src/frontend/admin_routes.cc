#include "frontend/admin_routes.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "frontend/admin_explain.h"
#include "frontend/admin_history.h"
#include "frontend/admin_keys.h"
#include "frontend/admin_rules.h"
#include "frontend/admin_status.h"
#include "frontend/admin_watch.h"
#include "frontend/openapi.h"

namespace weir {
namespace {

using Answer = AdminAnswer;
using Body = AdminBody;
using Nature = AdminNature;
using Type = AdminParameter::Type;

constexpr AdminParameter kLimit{"limit", Type::kCount, "How many to tell, from 1 to 1000; 100"};
constexpr AdminParameter kDryRun{"dry_run", Type::kFlag,
                                 "Tells what would change, changes nothing"};
constexpr AdminParameter kComment{"comment", Type::kText, "Why, for the history"};

constexpr std::array kNamespacePage = {
    kLimit, AdminParameter{"after", Type::kText, "The `next` of the page before"}};
constexpr std::array kCountPage = {
    kLimit, AdminParameter{"after", Type::kCount, "The `next` of the page before"}};
constexpr std::array kHistoryPage = {
    kLimit, AdminParameter{"before", Type::kCount, "The `next` of the page before"}};
constexpr std::array kAuditPage = {kLimit};
constexpr std::array kRevisions = {
    AdminParameter{"from", Type::kCount, "The earlier revision; 0, before there was anything"},
    AdminParameter{"to", Type::kCount, "The later one; now"}};
constexpr std::array kChange = {kDryRun, kComment};
constexpr std::array kRollBack = {
    AdminParameter{"to", Type::kCount, "The revision to go back to; required"}, kDryRun, kComment};
constexpr std::array kReset = {kDryRun};
constexpr std::array kDecisions = {
    AdminParameter{"namespace", Type::kText, "Only of this one"},
    AdminParameter{"rule", Type::kText, "Only where this one had a say"},
    AdminParameter{"allowed", Type::kFlag, "Only those that passed, or only those that did not"},
    kLimit};
constexpr std::array kTop = {AdminParameter{"namespace", Type::kText, "Required"},
                             AdminParameter{"rule", Type::kText, "Required"},
                             AdminParameter{"by", Type::kText, "consumed, or denied; consumed"},
                             kLimit};

constexpr std::array<std::uint16_t, 1> kNotFound = {404};
constexpr std::array<std::uint16_t, 2> kEither = {404, 422};

constexpr std::array kRoutes = {
    AdminRoute{.method = "GET",
               .path = "/healthz",
               .summary = "Says ok while the process lives",
               .answer = Answer::kText,
               .handler = GetHealth},
    AdminRoute{.method = "GET",
               .path = "/v1/openapi.json",
               .summary = "This description",
               .answer_schema = "Anything",
               .handler = GetOpenApi},
    AdminRoute{.method = "GET",
               .path = "/v1/status",
               .least = Role::kViewer,
               .summary = "How it stands with every part of the server",
               .answer_schema = "Status",
               .handler = GetStatus},
    AdminRoute{.method = "GET",
               .path = "/v1/counts/{namespace}",
               .least = Role::kViewer,
               .summary = "What the rules of a namespace have said so far",
               .query = kCountPage,
               .answer_schema = "Counts",
               .statuses = kNotFound,
               .handler = GetCounts},
    AdminRoute{.method = "GET",
               .path = "/v1/rules",
               .least = Role::kViewer,
               .summary = "The namespaces that have rules in force",
               .query = kNamespacePage,
               .answer_schema = "Namespaces",
               .handler = ListNamespaces},
    AdminRoute{.method = "GET",
               .path = "/v1/rules/{namespace}",
               .least = Role::kViewer,
               .nature = Nature::kReadsStore,
               .summary = "The rules of a namespace, as a file has them",
               .answer = Answer::kRules,
               .answer_schema = "Rules",
               .statuses = kEither,
               .handler = GetNamespace},
    AdminRoute{.method = "PUT",
               .path = "/v1/rules/{namespace}",
               .least = Role::kEditor,
               .nature = Nature::kEdits,
               .summary = "Makes a namespace what the body says: creates, updates, deletes",
               .query = kChange,
               .body = Body::kRules,
               .body_schema = "Rules",
               .answer_schema = "Change",
               .handler = PutNamespace},
    AdminRoute{.method = "DELETE",
               .path = "/v1/rules/{namespace}",
               .least = Role::kEditor,
               .nature = Nature::kEdits,
               .summary = "Deletes all rules of a namespace; its history stays",
               .query = kChange,
               .answer_schema = "Change",
               .statuses = kNotFound,
               .handler = DeleteNamespace},
    AdminRoute{.method = "GET",
               .path = "/v1/rules/{namespace}/{rule}",
               .least = Role::kViewer,
               .nature = Nature::kReadsStore,
               .summary = "One rule",
               .answer = Answer::kRules,
               .answer_schema = "Rule",
               .statuses = kEither,
               .handler = GetOneRule},
    AdminRoute{.method = "PUT",
               .path = "/v1/rules/{namespace}/{rule}",
               .least = Role::kEditor,
               .nature = Nature::kEdits,
               .summary = "Creates or updates one rule",
               .query = kChange,
               .body = Body::kRules,
               .body_schema = "Rule",
               .answer_schema = "Change",
               .handler = PutOneRule},
    AdminRoute{.method = "DELETE",
               .path = "/v1/rules/{namespace}/{rule}",
               .least = Role::kEditor,
               .nature = Nature::kEdits,
               .summary = "Deletes one rule; its history stays",
               .query = kChange,
               .answer_schema = "Change",
               .statuses = kNotFound,
               .handler = DeleteOneRule},
    AdminRoute{.method = "GET",
               .path = "/v1/history/{namespace}",
               .least = Role::kViewer,
               .nature = Nature::kReadsHistory,
               .summary = "The changes of a namespace, the youngest first",
               .query = kHistoryPage,
               .answer_schema = "History",
               .statuses = kNotFound,
               .handler = GetHistory},
    AdminRoute{.method = "GET",
               .path = "/v1/history/{namespace}/{rule}",
               .least = Role::kViewer,
               .nature = Nature::kReadsHistory,
               .summary = "The changes of one rule, the youngest first",
               .query = kHistoryPage,
               .answer_schema = "History",
               .statuses = kNotFound,
               .handler = GetHistory},
    AdminRoute{.method = "GET",
               .path = "/v1/diff/{namespace}",
               .least = Role::kViewer,
               .nature = Nature::kReadsHistory,
               .summary = "What changed in a namespace from one revision to another",
               .query = kRevisions,
               .answer_schema = "Differences",
               .statuses = kNotFound,
               .handler = GetDiff},
    AdminRoute{.method = "GET",
               .path = "/v1/diff/{namespace}/{rule}",
               .least = Role::kViewer,
               .nature = Nature::kReadsHistory,
               .summary = "What changed in one rule from one revision to another",
               .query = kRevisions,
               .answer_schema = "Differences",
               .statuses = kNotFound,
               .handler = GetDiff},
    AdminRoute{.method = "POST",
               .path = "/v1/rollback/{namespace}",
               .least = Role::kEditor,
               .nature = Nature::kEdits,
               .summary = "Puts a namespace back as it was at a revision",
               .query = kRollBack,
               .answer_schema = "Change",
               .statuses = kNotFound,
               .handler = RollBackRules},
    AdminRoute{.method = "POST",
               .path = "/v1/rollback/{namespace}/{rule}",
               .least = Role::kEditor,
               .nature = Nature::kEdits,
               .summary = "Puts one rule back as it was at a revision",
               .query = kRollBack,
               .answer_schema = "Change",
               .statuses = kNotFound,
               .handler = RollBackRules},
    AdminRoute{.method = "POST",
               .path = "/v1/keys/lookup",
               .least = Role::kViewer,
               .summary = "What a client has left under a rule",
               .body = Body::kJson,
               .body_schema = "Client",
               .answer_schema = "Keys",
               .statuses = kEither,
               .handler = LookUpClient},
    AdminRoute{
        .method = "POST",
        .path = "/v1/keys/reset",
        .least = Role::kEditor,
        .nature = Nature::kResets,
        .summary = "Forgets what a client has used, and lifts its bans; tells what was there",
        .query = kReset,
        .body = Body::kJson,
        .body_schema = "Client",
        .answer_schema = "Keys",
        .statuses = kEither,
        .handler = ResetClient},
    AdminRoute{.method = "POST",
               .path = "/v1/keys/override",
               .least = Role::kEditor,
               .nature = Nature::kEdits,
               .summary = "Gives a client another limit for a while",
               .query = kChange,
               .body = Body::kJson,
               .body_schema = "Override",
               .answer_schema = "Change",
               .statuses = kNotFound,
               .handler = OverrideClient},
    AdminRoute{.method = "POST",
               .path = "/v1/keys/restore",
               .least = Role::kEditor,
               .nature = Nature::kEdits,
               .summary = "Ends the override of a client before its time",
               .query = kChange,
               .body = Body::kJson,
               .body_schema = "Client",
               .answer_schema = "Change",
               .statuses = kNotFound,
               .handler = RestoreClient},
    AdminRoute{.method = "POST",
               .path = "/v1/explain",
               .least = Role::kViewer,
               .summary = "Why a request would pass or not; nothing is counted",
               .body = Body::kJson,
               .body_schema = "Request",
               .answer_schema = "Explanation",
               .statuses = kNotFound,
               .handler = ExplainCall},
    AdminRoute{.method = "GET",
               .path = "/v1/decisions",
               .least = Role::kViewer,
               .summary = "The last decisions, the youngest first, each with its reasons",
               .query = kDecisions,
               .answer_schema = "Decisions",
               .handler = GetDecisions},
    AdminRoute{.method = "GET",
               .path = "/v1/top",
               .least = Role::kViewer,
               .summary = "Who consumes most under a rule, or is refused most",
               .query = kTop,
               .answer_schema = "Top",
               .statuses = kNotFound,
               .handler = GetTop},
    AdminRoute{.method = "GET",
               .path = "/v1/audit",
               .least = Role::kAdmin,
               .summary = "Who changed what, the youngest first",
               .query = kAuditPage,
               .answer_schema = "AuditTrail",
               .handler = GetAudit},
};

}  // namespace

std::span<const AdminRoute> AdminRoutes() { return kRoutes; }

std::vector<std::uint16_t> StatusesOf(const AdminRoute& route) {
  std::vector<std::uint16_t> statuses = {200, 400};
  const auto add = [&statuses](std::initializer_list<std::uint16_t> more) {
    statuses.insert(statuses.end(), more);
  };
  if (route.least > Role::kNone) add({401});
  if (route.least > Role::kViewer) add({403});  // everybody with a token may look
  if (route.answer == Answer::kRules) add({406});
  if (route.body != Body::kNone) add({413, 415});
  switch (route.nature) {
    case Nature::kReads:
      break;
    case Nature::kReadsHistory:
      add({409, 503});
      break;
    case Nature::kReadsStore:
    case Nature::kResets:
      add({503});
      break;
    case Nature::kEdits:
      add({409, 412, 422, 428, 503});
      break;
  }
  statuses.insert(statuses.end(), route.statuses.begin(), route.statuses.end());
  std::sort(statuses.begin(), statuses.end());
  return statuses;
}

}  // namespace weir
