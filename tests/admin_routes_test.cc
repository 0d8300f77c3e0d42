// Every call of the admin API through HTTP: with each role, without one, with a stale ETag, with
// wrong input, on a server that reads files and on one whose database is away. The calls come from
// the table of routes, so a new one without an example here fails; and what is answered is held
// against the OpenAPI document, so that neither says more than the other.
#include "frontend/admin_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <map>
#include <set>
#include <string>

#include "service/token.h"
#include "tests/admin_harness.h"
#include "tests/json_schema.h"

namespace weir {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Kept = AdminHarness::Kept;

constexpr std::string_view kRules =
    "- {name: login, match: {path: /login}, by: [user], limit: 3/h, exceed: ban 1h,\n"
    "   overrides: [{when: {user: ann}, limit: 9/h, until: 2999-01-01}]}\n"
    "- {name: all, limit: 100/s}\n";

// What a call needs to be answered with 200, and with what only its own arguments can bring about.
struct Example {
  std::string path = {};
  std::string query = {};  // without a '?'
  std::string body = {};
  std::string tag_path = {};      // where the ETag is told; empty: by POST /v1/keys/lookup
  std::string missing_path = {};  // these three answer 404
  std::string missing_body = {};
  std::string missing_query = {};
  std::string unusable_path = {};  // these two answer 422
  std::string unusable_body = {};
};

const std::map<std::string, Example>& Examples() {
  static const std::string ann = R"("attributes":{"user":"ann"}})";
  static const std::string client = R"({"namespace":"shop","rule":"login",)" + ann;
  static const std::string stranger = R"({"namespace":"shop","rule":"nothing",)" + ann;
  static const std::string nobody = R"({"namespace":"shop","rule":"login"})";
  static const std::string limits = R"("limit":"5/s","for":"1h",)";
  static const std::map<std::string, Example> examples = {
      {"GET /healthz", {.path = "/healthz"}},
      {"GET /v1/openapi.json", {.path = "/v1/openapi.json"}},
      {"GET /v1/status", {.path = "/v1/status"}},
      {"GET /v1/counts/{namespace}",
       {.path = "/v1/counts/shop", .missing_path = "/v1/counts/nowhere"}},
      {"GET /v1/rules", {.path = "/v1/rules"}},
      {"GET /v1/rules/{namespace}",
       {.path = "/v1/rules/shop",
        .missing_path = "/v1/rules/nowhere",
        .unusable_path = "/v1/rules/newer"}},
      {"PUT /v1/rules/{namespace}",
       {.path = "/v1/rules/shop",
        .body = R"({"namespace":"shop","rules":[{"name":"all","limit":"7/s"}]})",
        .tag_path = "/v1/rules/shop"}},
      {"DELETE /v1/rules/{namespace}",
       {.path = "/v1/rules/shop",
        .tag_path = "/v1/rules/shop",
        .missing_path = "/v1/rules/nowhere"}},
      {"GET /v1/rules/{namespace}/{rule}",
       {.path = "/v1/rules/shop/login",
        .missing_path = "/v1/rules/shop/nothing",
        .unusable_path = "/v1/rules/newer/broken"}},
      {"PUT /v1/rules/{namespace}/{rule}",
       {.path = "/v1/rules/shop/all",
        .body = R"({"name":"all","limit":"7/s"})",
        .tag_path = "/v1/rules/shop/all"}},
      {"DELETE /v1/rules/{namespace}/{rule}",
       {.path = "/v1/rules/shop/all",
        .tag_path = "/v1/rules/shop/all",
        .missing_path = "/v1/rules/shop/nothing"}},
      {"GET /v1/history/{namespace}",
       {.path = "/v1/history/shop", .missing_path = "/v1/history/nowhere"}},
      {"GET /v1/history/{namespace}/{rule}",
       {.path = "/v1/history/shop/login", .missing_path = "/v1/history/shop/nothing"}},
      {"GET /v1/diff/{namespace}", {.path = "/v1/diff/shop", .missing_path = "/v1/diff/nowhere"}},
      {"GET /v1/diff/{namespace}/{rule}",
       {.path = "/v1/diff/shop/login", .missing_path = "/v1/diff/shop/nothing"}},
      {"POST /v1/rollback/{namespace}",
       {.path = "/v1/rollback/shop",
        .query = "to=1",
        .tag_path = "/v1/rules/shop",
        .missing_path = "/v1/rollback/nowhere"}},
      {"POST /v1/rollback/{namespace}/{rule}",
       {.path = "/v1/rollback/shop/login",
        .query = "to=1",
        .tag_path = "/v1/rules/shop/login",
        .missing_path = "/v1/rollback/shop/nothing"}},
      {"POST /v1/keys/lookup",
       {.path = "/v1/keys/lookup",
        .body = client,
        .missing_body = stranger,
        .unusable_body = nobody}},
      {"POST /v1/keys/reset",
       {.path = "/v1/keys/reset",
        .body = client,
        .missing_body = stranger,
        .unusable_body = nobody}},
      {"POST /v1/keys/override",
       {.path = "/v1/keys/override",
        .body = R"({"namespace":"shop","rule":"login",)" + limits + ann,
        .missing_body = R"({"namespace":"shop","rule":"nothing",)" + limits + ann}},
      {"POST /v1/keys/restore",
       {.path = "/v1/keys/restore", .body = client, .missing_body = stranger}},
      {"POST /v1/explain",
       {.path = "/v1/explain",
        .body = R"({"namespace":"shop","attributes":{"path":"/login","user":"ann"},"cost":2})",
        .missing_body = R"({"namespace":"nowhere"})"}},
      {"GET /v1/decisions", {.path = "/v1/decisions"}},
      {"GET /v1/top",
       {.path = "/v1/top",
        .query = "namespace=shop&rule=login",
        .missing_query = "namespace=shop&rule=nothing"}},
      {"GET /v1/audit", {.path = "/v1/audit"}},
  };
  return examples;
}

std::string NameOf(const AdminRoute& route) {
  return std::string(route.method) + " " + std::string(route.path);
}

std::string_view TokenFor(Role role) { return role == Role::kNone ? "" : NameOf(role); }

class AdminRoutesConcurrentTest : public testing::TestWithParam<AdminRoute> {
 protected:
  AdminRoutesConcurrentTest() : route_(GetParam()), server_(Kept::kDatabase, std::string(kRules)) {}

  void SetUp() override {
    const auto found = Examples().find(NameOf(route_));
    ASSERT_TRUE(found != Examples().end()) << "a call without an example: give it one above";
    example_ = found->second;
    document_.Parse(server_.Ask("", {.target = "/v1/openapi.json"}).body.c_str());
    ASSERT_FALSE(document_.HasParseError());
    const std::string path(route_.path);
    ASSERT_TRUE(document_["paths"].HasMember(path.c_str()));
    std::string method(route_.method);
    for (char& c : method) c = ToLower(c);
    operation_ = &document_["paths"][path.c_str()][method.c_str()];
  }

  [[nodiscard]] bool edits() const { return route_.nature == AdminNature::kEdits; }
  [[nodiscard]] bool takes_dry_run() const {
    return std::any_of(route_.query.begin(), route_.query.end(),
                       [](const AdminParameter& one) { return one.name == "dry_run"; });
  }
  // The call that works, but for `query`, which is added to it.
  [[nodiscard]] HttpAsk Good(const std::string& query = "") const {
    HttpAsk ask{
        .method = std::string(route_.method), .target = example_.path, .body = example_.body};
    if (!ask.body.empty()) ask.fields.emplace_back("Content-Type", "application/json");
    const std::string both =
        example_.query + (example_.query.empty() || query.empty() ? "" : "&") + query;
    if (!both.empty()) ask.target += "?" + both;
    return ask;
  }
  // The same as somebody who may, from what is in force.
  [[nodiscard]] HttpAsk Current(const std::string& query = "") {
    HttpAsk ask = Good(query);
    if (edits()) ask.fields.emplace_back("If-Match", Tag());
    return ask;
  }
  std::string Tag() {
    HttpAsk ask{.target = example_.tag_path};
    if (example_.tag_path.empty()) {
      ask = {.method = "POST",
             .target = "/v1/keys/lookup",
             .fields = {{"Content-Type", "application/json"}},
             .body = R"({"namespace":"shop","rule":"login","attributes":{"user":"ann"}})"};
    }
    return server_.Ask("viewer", ask).fields["etag"];
  }
  // Notes the status, and holds the body against what the document says of it.
  HttpAnswer Hold(HttpAnswer answer) {
    seen_.insert(answer.status);
    const std::string status = std::to_string(answer.status);
    if (!(*operation_)["responses"].HasMember(status.c_str())) {
      ADD_FAILURE() << status << " is not documented: " << answer.body;
      return answer;
    }
    const auto& content = (*operation_)["responses"][status.c_str()]["content"];
    const std::string type = answer.fields["content-type"];
    if (!content.HasMember(type.c_str())) {
      ADD_FAILURE() << status << " as " << type << " is not documented";
      return answer;
    }
    if (type.find("json") == std::string::npos) return answer;
    rapidjson::Document body;
    body.Parse(answer.body.c_str());
    EXPECT_FALSE(body.HasParseError()) << answer.body;
    if (body.HasParseError()) return answer;
    EXPECT_THAT(JsonSchema(document_).Check(content[type.c_str()]["schema"], body), IsEmpty())
        << answer.body;
    if (answer.status == 200) return answer;
    EXPECT_EQ(body["status"].GetInt(), answer.status);
    EXPECT_GT(body["detail"].GetStringLength(), 10U) << "says nothing that helps";
    return answer;
  }
  HttpAnswer Ask(std::string_view token, const HttpAsk& ask) {
    return Hold(server_.Ask(token, ask));
  }
  HttpAnswer AskOf(Kept kept, HttpAsk ask) {
    AdminHarness other(kept, std::string(kRules));
    return Hold(other.Ask("admin", std::move(ask)));
  }
  int StatusOf(std::string_view token, const HttpAsk& ask) { return Ask(token, ask).status; }

  void AskWithEachRole() {
    for (const Role role : {Role::kViewer, Role::kEditor, Role::kAdmin}) {
      const HttpAsk ask = takes_dry_run() ? Current("dry_run=true") : Current();
      EXPECT_EQ(StatusOf(TokenFor(role), ask), role >= route_.least ? 200 : 403);
    }
    const HttpAnswer without = Ask("", Current());
    const HttpAnswer wrong = Ask("nonsense", Current());
    if (route_.least == Role::kNone) {
      EXPECT_EQ(without.status, 200);
      return;
    }
    EXPECT_EQ(without.status, 401);
    EXPECT_THAT(without.fields.at("www-authenticate"), HasSubstr("Bearer"));
    EXPECT_EQ(wrong.status, 401);
    EXPECT_THAT(wrong.fields.at("www-authenticate"), HasSubstr("invalid_token"));
  }

  void AskWrongly() {
    EXPECT_EQ(StatusOf("admin", Current("dryrun=true")), 400);
    EXPECT_EQ(StatusOf("admin", Current("%zz=1")), 400);
    HttpAsk patch = Good();
    patch.method = "PATCH";
    const HttpAnswer answer = server_.Ask("admin", patch);  // of no operation
    EXPECT_EQ(answer.status, 405);
    EXPECT_THAT(answer.fields.at("allow"), HasSubstr(std::string(route_.method)));
    for (const AdminParameter& parameter : route_.query) {
      if (parameter.type == AdminParameter::Type::kText) continue;
      HttpAsk ask = Current();
      ask.target = example_.path + "?" + std::string(parameter.name) + "=-1";
      EXPECT_EQ(StatusOf("admin", ask), 400) << parameter.name;
    }
    if (route_.answer == AdminAnswer::kRules) {
      HttpAsk ask = Good();
      ask.fields.emplace_back("Accept", "image/png");
      EXPECT_EQ(StatusOf("admin", ask), 406);
      ask.fields.back().second = "application/yaml";
      EXPECT_EQ(Ask("admin", ask).fields["content-type"], "application/yaml");
    }
    if (route_.body != AdminBody::kNone) AskWithWrongBodies();
  }

  void AskWithWrongBodies() {
    for (const std::string& body :
         {std::string("{"), std::string("[]"), std::string("{\"\xff\":1}"), std::string("{} {}"),
          std::string(100'000, '['), std::string(R"({"a":1,"a":2})")}) {
      HttpAsk ask = Current();
      ask.body = body;
      EXPECT_THAT(StatusOf("admin", ask), testing::AnyOf(400, 422)) << body.substr(0, 20);
    }
    HttpAsk ask = Current();
    ask.fields.front().second = "application/x-www-form-urlencoded";
    EXPECT_EQ(StatusOf("admin", ask), 415);
    EXPECT_EQ(Hold(server_.AskOnce(std::string(route_.method) + " " + example_.path +
                                   " HTTP/1.1\r\nHost: weir\r\nContent-Length: 5000000\r\n\r\n"))
                  .status,
              413);
  }

  void AskWithoutKnowing() {
    HttpAsk stale = Good();
    EXPECT_EQ(StatusOf("admin", stale), 428);
    stale.fields.emplace_back("If-Match", "\"999999\"");
    const HttpAnswer answer = Ask("admin", stale);
    EXPECT_EQ(answer.status, 412);
    EXPECT_EQ(answer.fields.at("etag"), Tag()) << "the one that is in force";
    stale.fields.back() = {"If-None-Match", "*"};
    EXPECT_EQ(StatusOf("admin", stale), 412);
    stale.fields.back() = {"If-Match", "7"};
    EXPECT_EQ(StatusOf("admin", stale), 400);
    EXPECT_EQ(StatusOf("admin", Current("comment=" + std::string(5000, 'x'))), 422);
  }

  void AskForWhatIsNotThere() {
    const auto ask_with = [&](const std::string& path, const std::string& body) {
      HttpAsk ask = Good(edits() ? "dry_run=true" : "");
      if (!path.empty()) ask.target.replace(0, example_.path.size(), path);
      if (!body.empty()) ask.body = body;
      return StatusOf("admin", ask);
    };
    if (!example_.missing_query.empty()) {
      EXPECT_EQ(StatusOf("admin", {.target = example_.path + "?" + example_.missing_query}), 404);
    }
    if (!example_.missing_path.empty() || !example_.missing_body.empty()) {
      EXPECT_EQ(ask_with(example_.missing_path, example_.missing_body), 404);
    }
    if (example_.unusable_path.empty() && example_.unusable_body.empty()) return;
    // As a newer version might have written it.
    const auto applied =
        server_.OpenStore()->Apply({{"newer", "broken", "name: [", std::nullopt}}, {"newer", ""});
    ASSERT_TRUE(std::holds_alternative<catalog::Revision>(applied));
    EXPECT_EQ(ask_with(example_.unusable_path, example_.unusable_body), 422);
  }

  void AskOthers() {
    HttpAsk any = Good();
    if (edits()) any.fields.emplace_back("If-Match", "\"1\"");
    const bool uses_store = edits() || route_.nature == AdminNature::kReadsStore ||
                            route_.nature == AdminNature::kReadsHistory;
    const bool needs_store = edits() || route_.nature == AdminNature::kReadsHistory;
    EXPECT_EQ(AskOf(Kept::kAway, any).status, uses_store ? 503 : 200);
    EXPECT_EQ(AskOf(Kept::kFiles, any).status, needs_store ? 409 : 200);
    server_.audit().is_full = true;
    const bool is_recorded = edits() || route_.nature == AdminNature::kResets;
    EXPECT_EQ(StatusOf("admin", Current()), is_recorded ? 503 : 200);
    server_.audit().is_full = false;
  }

  AdminRoute route_;
  AdminHarness server_;
  Example example_;
  rapidjson::Document document_;
  const rapidjson::Value* operation_ = nullptr;
  std::set<int> seen_;
};

TEST_P(AdminRoutesConcurrentTest, AnswersWhatIsDocumentedAndNothingElse) {
  AskWithEachRole();
  AskWrongly();
  if (edits()) AskWithoutKnowing();
  AskOthers();
  EXPECT_EQ(StatusOf(TokenFor(route_.least), Current()), 200) << "for real, at last";
  AskForWhatIsNotThere();
  std::set<int> documented;
  for (const auto& response : (*operation_)["responses"].GetObject()) {
    documented.insert(std::stoi(response.name.GetString()));
  }
  EXPECT_THAT(seen_, ElementsAreArray(documented)) << "documented, and never answered";
}

INSTANTIATE_TEST_SUITE_P(Calls, AdminRoutesConcurrentTest,
                         testing::ValuesIn(AdminRoutes().begin(), AdminRoutes().end()),
                         [](const testing::TestParamInfo<AdminRoute>& route) {
                           std::string name = NameOf(route.param);
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z'); },
                               '_');
                           return name;
                         });

TEST(AdminRoutesTest, EveryExampleIsOfACallThatExists) {
  std::set<std::string> routes;
  for (const AdminRoute& route : AdminRoutes()) routes.insert(NameOf(route));
  for (const auto& [name, example] : Examples()) EXPECT_TRUE(routes.contains(name)) << name;
  EXPECT_EQ(routes.size(), AdminRoutes().size()) << "a call is there twice";
}

}  // namespace
}  // namespace weir
