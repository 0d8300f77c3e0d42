// The admin API at work: what an operator does with it, through HTTP on real sockets. (Each call by
// itself, with every role and every mistake, is in admin_routes_test.cc.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <string>

#include "server/running_server.h"
#include "tests/admin_harness.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Kept = AdminHarness::Kept;

constexpr std::string_view kRules =
    "- {name: login, match: {path: /login}, by: [user], limit: 3/h, exceed: ban 1h}\n"
    "- {name: all/of, limit: 100/s}\n";

rapidjson::Document Parsed(const std::string& json) {
  rapidjson::Document document;
  document.Parse(json.c_str());
  EXPECT_FALSE(document.HasParseError()) << json;
  return document;
}

class AdminConcurrentTest : public testing::Test {
 protected:
  HttpAnswer Get(const std::string& target, const std::string& accept = "") {
    HttpAsk ask{.target = target};
    if (!accept.empty()) ask.fields.emplace_back("Accept", accept);
    return server_.Ask("viewer", ask);
  }
  HttpAnswer Put(const std::string& target, const std::string& tag, const std::string& body,
                 const std::string& type = "application/yaml") {
    return server_.Ask("editor", {.method = "PUT",
                                  .target = target,
                                  .fields = {{tag == "*" ? "If-None-Match" : "If-Match", tag},
                                             {"Content-Type", type}},
                                  .body = body});
  }
  HttpAnswer Post(const std::string& target, const std::string& body, const std::string& tag = "") {
    HttpAsk ask{.method = "POST", .target = target, .body = body};
    if (!body.empty()) ask.fields.emplace_back("Content-Type", "application/json");
    if (!tag.empty()) ask.fields.emplace_back("If-Match", tag);
    return server_.Ask("editor", ask);
  }
  bool Allows(const std::string& user) {
    const std::vector<rule::Attribute> attributes = {{"path", "/login"}, {"user", user}};
    CheckReply reply;
    server_.checker().Check({"shop", attributes}, server_.checker().Now(), reply);
    return reply.allowed();
  }

  AdminHarness server_{Kept::kDatabase, std::string(kRules)};
};

const std::string kAnn = R"("namespace":"shop","rule":"login","attributes":{"user":"ann"})";

TEST_F(AdminConcurrentTest, ARuleThatWasPutIsInForceWhenTheAnswerComes) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Allows("ann"));
  EXPECT_FALSE(Allows("ann"));
  const HttpAnswer before = Get("/v1/rules/shop/login");
  const HttpAnswer put = Put("/v1/rules/shop/login", before.fields.at("etag"),
                             "name: login\nlimit: blocked\nmatch: {path: /login}\n");
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_TRUE(Parsed(put.body)["in_force"].GetBool());
  EXPECT_FALSE(Allows("bob"));
  EXPECT_EQ(Get("/v1/rules/shop/login").fields.at("etag"), put.fields.at("etag"));
  EXPECT_NE(put.fields.at("etag"), before.fields.at("etag"));
}

TEST_F(AdminConcurrentTest, OfTwoWhoEditTheSameRuleTheSecondIsToldAndChangesNothing) {
  const std::string tag = Get("/v1/rules/shop/login").fields.at("etag");
  EXPECT_EQ(Put("/v1/rules/shop/login", tag, "{name: login, limit: 4/h}").status, 200);
  const HttpAnswer late = Put("/v1/rules/shop/login", tag, "{name: login, limit: 5/h}");
  EXPECT_EQ(late.status, 412);
  EXPECT_EQ(late.fields.at("etag"), Get("/v1/rules/shop/login").fields.at("etag"));
  EXPECT_THAT(Get("/v1/rules/shop/login", "application/yaml").body, HasSubstr("4/h"));
}

TEST_F(AdminConcurrentTest, ANamespaceCanBeReadInOneFormAndWrittenInTheOther) {
  const HttpAnswer yaml = Get("/v1/rules/shop", "application/yaml");
  EXPECT_THAT(yaml.body, StartsWith("namespace: shop\nrules:\n  - name: login\n"));
  const HttpAnswer json = Get("/v1/rules/shop");
  const HttpAnswer same =
      Put("/v1/rules/shop", json.fields.at("etag"), json.body, "application/json");
  ASSERT_EQ(same.status, 200) << same.body;
  EXPECT_THAT(Parsed(same.body)["differences"].GetArray().Size(), 0U) << "it is what it was";
  const HttpAnswer made =
      Put("/v1/rules/other", "*",
          "{\"namespace\":\"other\",\"rules\":[{\"name\":\"a\",\"limit\":\"1/s\","
          "\"message\":\"\\ud83d\\ude00\"}]}",
          "application/json");
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_THAT(Get("/v1/rules/other", "application/yaml").body, HasSubstr("\xF0\x9F\x98\x80"));
}

TEST_F(AdminConcurrentTest, ANameWithASlashIsWrittenAsPercent2F) {
  EXPECT_EQ(Get("/v1/rules/shop/all%2Fof").status, 200);
  EXPECT_EQ(Get("/v1/rules/shop/all/of").status, 404);
}

TEST_F(AdminConcurrentTest, WrongRulesAreToldAllThatIsWrongWithThem) {
  const std::string tag = Get("/v1/rules/shop").fields.at("etag");
  const HttpAnswer wrong =
      Put("/v1/rules/shop", tag,
          "namespace: shop\nrules:\n- {name: a, limit: 0/s}\n- {name: b, limt: 1/s, limit: 1/s}\n");
  EXPECT_EQ(wrong.status, 422);
  const rapidjson::Document problems = Parsed(wrong.body);
  ASSERT_EQ(problems["problems"].Size(), 2U) << wrong.body;
  EXPECT_EQ(problems["problems"][1]["line"].GetInt(), 4);
  EXPECT_THAT(problems["problems"][1]["remedy"].GetString(), HasSubstr("limit"));
  EXPECT_EQ(Put("/v1/rules/shop", tag, "namespace: other\nrules: []\n").status, 422);
  EXPECT_EQ(Put("/v1/rules/shop/login", tag, "{name: other, limit: 1/s}").status, 422);
}

TEST_F(AdminConcurrentTest, ADryRunTellsTheDifferencesAndChangesNothing) {
  const HttpAnswer dry =
      server_.Ask("editor", {.method = "DELETE", .target = "/v1/rules/shop?dry_run=true"});
  ASSERT_EQ(dry.status, 200) << dry.body;
  const rapidjson::Document told = Parsed(dry.body);
  EXPECT_TRUE(told["dry_run"].GetBool());
  EXPECT_EQ(told["differences"].Size(), 2U);
  EXPECT_EQ(Parsed(Get("/v1/rules/shop").body)["rules"].Size(), 2U);
  EXPECT_THAT(server_.audit().Latest(10), IsEmpty());
}

TEST_F(AdminConcurrentTest, WhatWasDeletedComesBackByARollBack) {
  const std::string tag = Get("/v1/rules/shop").fields.at("etag");
  EXPECT_EQ(server_
                .Ask("editor", {.method = "DELETE",
                                .target = "/v1/rules/shop?comment=spring+cleaning",
                                .fields = {{"If-Match", tag}}})
                .status,
            200);
  EXPECT_TRUE(Allows("ann") && Allows("ann") && Allows("ann") && Allows("ann"));
  const rapidjson::Document history = Parsed(Get("/v1/history/shop?limit=1").body);
  EXPECT_STREQ(history["changes"][0]["author"].GetString(), "ed");
  EXPECT_STREQ(history["changes"][0]["comment"].GetString(), "spring cleaning");
  EXPECT_TRUE(history["changes"][0]["text"].IsNull());
  const int next = history["next"].GetInt();
  const rapidjson::Document older =
      Parsed(Get("/v1/history/shop?before=" + std::to_string(next)).body);
  EXPECT_EQ(older["changes"].Size(), 3U) << "two were made, and the first of two deleted";
  EXPECT_TRUE(older["next"].IsNull());

  const rapidjson::Document diff = Parsed(Get("/v1/diff/shop?from=2&to=4").body);
  ASSERT_EQ(diff["differences"].Size(), 2U);
  EXPECT_STREQ(diff["differences"][0]["what"].GetString(), "deleted");
  const HttpAnswer back =
      Post("/v1/rollback/shop?to=2", "", Get("/v1/rules/shop").fields.at("etag"));
  ASSERT_EQ(back.status, 200) << back.body;
  EXPECT_EQ(Parsed(Get("/v1/rules/shop").body)["rules"].Size(), 2U);
}

TEST_F(AdminConcurrentTest, AResetForgetsTheCountAndLiftsTheBan) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Allows("ann"));
  EXPECT_FALSE(Allows("ann"));
  EXPECT_TRUE(Allows("bob"));
  const HttpAnswer looked = Post("/v1/keys/lookup", "{" + kAnn + "}");
  const rapidjson::Document key = Parsed(looked.body);
  EXPECT_STREQ(key["keys"][0]["key"].GetString(), "user=ann");
  EXPECT_EQ(key["keys"][0]["limits"][0]["remaining"].GetInt(), 0);
  EXPECT_GT(key["keys"][0]["banned_for_ms"].GetInt(), 3'500'000);
  EXPECT_EQ(Post("/v1/keys/reset?dry_run=true", "{" + kAnn + "}").status, 200);
  EXPECT_FALSE(Allows("ann")) << "it was not for real";
  EXPECT_EQ(Post("/v1/keys/reset", "{" + kAnn + "}").status, 200);
  EXPECT_TRUE(Allows("ann"));
  const rapidjson::Document bob = Parsed(
      Post("/v1/keys/lookup", R"({"namespace":"shop","rule":"login","attributes":{"user":"bob"}})")
          .body);
  EXPECT_EQ(bob["keys"][0]["limits"][0]["remaining"].GetInt(), 2) << "others are as they were";
}

TEST_F(AdminConcurrentTest, AnOverrideIsForOneClientAndCanBeEnded) {
  const std::string tag = Post("/v1/keys/lookup", "{" + kAnn + "}").fields.at("etag");
  const HttpAnswer made =
      Post("/v1/keys/override", "{" + kAnn + R"(,"limit":"50/h","for":"1h"})", tag);
  ASSERT_EQ(made.status, 200) << made.body;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Allows("ann")) << i;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Allows("bob"));
  EXPECT_FALSE(Allows("bob"));
  const rapidjson::Document looked = Parsed(Post("/v1/keys/lookup", "{" + kAnn + "}").body);
  EXPECT_STREQ(looked["keys"][0]["by"].GetString(), "override");
  EXPECT_EQ(looked["keys"][0]["limits"][0]["remaining"].GetInt(), 30);
  EXPECT_THAT(Get("/v1/rules/shop/login", "application/yaml").body,
              testing::AllOf(HasSubstr("when: {user: ann}"), HasSubstr("until: ")));
  EXPECT_EQ(Post("/v1/keys/restore", "{" + kAnn + "}", made.fields.at("etag")).status, 200);
  EXPECT_THAT(Get("/v1/rules/shop/login", "application/yaml").body, Not(HasSubstr("overrides")));
}

TEST_F(AdminConcurrentTest, AnOverrideThatMakesNoSenseIsRefusedWithTheReason) {
  const std::string tag = Get("/v1/rules/shop/login").fields.at("etag");
  const auto refused = [&](const std::string& rest) {
    const HttpAnswer answer = Post("/v1/keys/override", "{" + kAnn + rest + "}", tag);
    return std::to_string(answer.status) + " " + answer.body;
  };
  EXPECT_THAT(refused(R"(,"limit":"5/s")"), StartsWith("400 "));
  EXPECT_THAT(refused(R"(,"limit":"5/s","until":"2001-01-01")"), HasSubstr("over already"));
  EXPECT_THAT(refused(R"(,"limit":"5 apples","for":"1h")"), StartsWith("400 "));
  EXPECT_THAT(refused(R"(,"limit":"5/s","for":"1h","forr":"1h")"), HasSubstr("did you mean"));
  const HttpAnswer other = Post(
      "/v1/keys/override",
      R"({"namespace":"shop","rule":"login","attributes":{"plan":"pro"},"limit":"1/s","for":"1h"})",
      tag);
  EXPECT_EQ(other.status, 422);
  EXPECT_THAT(other.body, HasSubstr("does not count by 'plan'; name a client by user"));
}

TEST_F(AdminConcurrentTest, AnExplanationSaysWhyAndCountsNothing) {
  const std::string body =
      R"({"namespace":"shop","attributes":{"path":"/login","user":"ann"},"cost":4})";
  for (int i = 0; i < 5; ++i) {
    const rapidjson::Document told = Parsed(Post("/v1/explain", body).body);
    EXPECT_FALSE(told["decision"]["allowed"].GetBool()) << "four are never to be had";
    ASSERT_EQ(told["rules"].Size(), 2U);
    EXPECT_TRUE(told["rules"][0]["applies"].GetBool());
    EXPECT_EQ(told["rules"][0]["keys"][0]["limits"][0]["remaining"].GetInt(), 3);
  }
  const rapidjson::Document elsewhere = Parsed(
      Post("/v1/explain", R"({"namespace":"shop","attributes":{"path":"/x","user":"ann"}})").body);
  EXPECT_STREQ(elsewhere["rules"][1]["why"].GetString(), "path is '/x', and must be '/login'");
}

TEST_F(AdminConcurrentTest, EveryChangeIsRecordedOrNotMade) {
  const std::string tag = Get("/v1/rules/shop/login").fields.at("etag");
  EXPECT_EQ(Post("/v1/keys/reset", "{" + kAnn + "}").status, 200);
  EXPECT_EQ(Put("/v1/rules/shop/login", tag, "{name: login, limit: 4/h}").status, 200);
  EXPECT_EQ(Put("/v1/rules/shop/login", tag, "{name: login, limit: 5/h}").status, 412);
  server_.audit().is_full = true;
  const HttpAnswer refused =
      Put("/v1/rules/shop/login", Get("/v1/rules/shop/login").fields.at("etag"),
          "{name: login, limit: 6/h}");
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("the disk is full"));
  EXPECT_THAT(Get("/v1/rules/shop/login", "application/yaml").body, HasSubstr("4/h"));
  const rapidjson::Document trail = Parsed(server_.Ask("admin", {.target = "/v1/audit"}).body);
  ASSERT_EQ(trail["entries"].Size(), 2U) << "what failed at once was never to be made";
  EXPECT_STREQ(trail["entries"][0]["action"].GetString(), "rules.put");
  EXPECT_STREQ(trail["entries"][0]["what"].GetString(), "shop/login");
  EXPECT_STREQ(trail["entries"][1]["action"].GetString(), "keys.reset");
}

TEST_F(AdminConcurrentTest, ListsComeInPages) {
  EXPECT_EQ(Put("/v1/rules/alpha", "*", "{namespace: alpha, rules: []}").status, 200);
  for (const std::string space : {"beta", "gamma"}) {
    EXPECT_EQ(
        Put("/v1/rules/" + space, "*", "{namespace: " + space + ", rules: [{name: a, limit: 1/s}]}")
            .status,
        200);
  }
  const rapidjson::Document first = Parsed(Get("/v1/rules?limit=2").body);
  ASSERT_EQ(first["namespaces"].Size(), 2U);
  EXPECT_STREQ(first["next"].GetString(), "gamma");
  const rapidjson::Document last = Parsed(Get("/v1/rules?limit=2&after=gamma").body);
  EXPECT_STREQ(last["namespaces"][0]["namespace"].GetString(), "shop");
  EXPECT_TRUE(last["next"].IsNull());
  Allows("ann");
  const rapidjson::Document counts = Parsed(Get("/v1/counts/shop?limit=1").body);
  EXPECT_EQ(counts["requests"]["allowed"].GetInt(), 1);
  EXPECT_EQ(counts["rules"][0]["requests"]["allowed"].GetInt(), 1);
  EXPECT_EQ(counts["next"].GetInt(), 1);
  EXPECT_STREQ(Parsed(Get("/v1/counts/shop?after=1").body)["rules"][0]["rule"].GetString(),
               "all/of");
}

TEST_F(AdminConcurrentTest, WhoAsksMostAndWhoIsRefusedCanBeSeen) {
  for (int i = 0; i < 5; ++i) Allows("ann");
  Allows("bob");
  const rapidjson::Document top = Parsed(Get("/v1/top?namespace=shop&rule=login&limit=1").body);
  ASSERT_EQ(top["keys"].Size(), 1U);
  EXPECT_STREQ(top["keys"][0]["key"].GetString(), "user=ann");
  EXPECT_EQ(top["keys"][0]["count"].GetInt(), 3);
  const rapidjson::Document denied =
      Parsed(Get("/v1/top?namespace=shop&rule=login&by=denied").body);
  EXPECT_EQ(denied["keys"][0]["count"].GetInt(), 2);
  const rapidjson::Document refused =
      Parsed(Get("/v1/decisions?rule=login&allowed=false&limit=1").body);
  ASSERT_EQ(refused["decisions"].Size(), 1U);
  EXPECT_STREQ(refused["decisions"][0]["attributes"]["user"].GetString(), "ann");
  EXPECT_STREQ(refused["decisions"][0]["limits"][0]["outcome"].GetString(), "banned");
  EXPECT_EQ(Parsed(Get("/v1/decisions?allowed=true").body)["decisions"].Size(), 4U);
  EXPECT_EQ(Parsed(Get("/v1/decisions?namespace=other").body)["decisions"].Size(), 0U);
  EXPECT_EQ(Get("/v1/top?namespace=shop&rule=login&by=luck").status, 400);
  EXPECT_EQ(Get("/v1/top?namespace=shop").status, 400);
}

TEST_F(AdminConcurrentTest, TheStatusTellsOfEveryPart) {
  const rapidjson::Document status = Parsed(Get("/v1/status").body);
  EXPECT_STREQ(status["version"].GetString(), "9.9");
  EXPECT_STREQ(status["rules"]["state"].GetString(), "in_force");
  EXPECT_EQ(status["rule_count"].GetInt(), 2);
  EXPECT_GE(status["table"]["slots"].GetInt(), 10'000);
  EXPECT_STREQ(status["listeners"][0]["protocol"].GetString(), "http");
}

TEST_F(AdminConcurrentTest, RequestsMayComeInPiecesAndAllAtOnce) {
  HttpClient client(server_.address());
  client.Send("POST /v1/explain HTTP/1.1\r\nHost: weir\r\nAuthorization: bearer  viewer\r\n");
  client.Send(
      "Content-Type: application/json; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n");
  client.Send("8\r\n{\"namesp\r\n");
  client.Send(
      "e\r\nace\": \"shop\"} \r\n0\r\n\r\nHEAD /v1/openapi.json HTTP/1.1\r\nHost: weir\r\n"
      "\r\nGET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n");
  EXPECT_EQ(client.Receive("POST").status, 200);
  const HttpAnswer head = client.Receive("HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_GT(std::stoi(head.fields.at("content-length")), 1000);
  EXPECT_EQ(client.Receive().body, "ok\n");
}

TEST_F(AdminConcurrentTest, WhatIsNowhereIsNotFoundWhoeverAsks) {
  for (const std::string path : {"/", "/v1", "/v1/", "/v1/rules/", "/v1/rules//x", "/v2/status"}) {
    const HttpAnswer answer = server_.Ask("", {.target = path});
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_THAT(answer.body, HasSubstr("/v1/openapi.json")) << path;
  }
}

TEST(AdminFilesConcurrentTest, AServerThatReadsFilesShowsWhatIsInForce) {
  AdminHarness server(Kept::kFiles, std::string(kRules));
  const HttpAnswer all = server.Ask(
      "viewer", {.target = "/v1/rules/shop", .fields = {{"Accept", "application/yaml"}}});
  EXPECT_THAT(all.body, StartsWith("namespace: shop\nrules:\n  - name: login\n"));
  EXPECT_FALSE(all.fields.at("etag").empty());
  EXPECT_EQ(server.Ask("viewer", {.target = "/v1/rules/shop/login"}).status, 200);
  EXPECT_EQ(server.Ask("viewer", {.target = "/v1/rules/shop/none"}).status, 404);
  EXPECT_EQ(server.Ask("viewer", {.target = "/v1/rules/none"}).status, 404);
  const HttpAnswer refused = server.Ask(
      "editor", {.method = "DELETE", .target = "/v1/rules/shop", .fields = {{"If-Match", "*"}}});
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("edit them there"));
}

TEST(AdminServerConcurrentTest, AServerLetsInWhoHasATokenAndNobodyElse) {
  const TemporaryFile folder;
  ServeOptions options;
  options.http = options.resp = options.grpc = "";
  options.admin = "127.0.0.1:0";
  options.state = folder.path();
  options.max_keys = 1000;
  options.threads = 1;
  const auto server = RunningServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.error().message;
  EXPECT_THAT((*server)->Banner(), HasSubstr((*server)->admin_address()));
  HttpClient client((*server)->admin_address());
  const auto ask = [&client](const std::string& authorization) {
    return client.Ask({.target = "/v1/status", .fields = {{"Authorization", authorization}}});
  };
  EXPECT_EQ(client.Ask({.target = "/healthz"}).status, 200);
  EXPECT_EQ(client.Ask({.target = "/v1/status"}).status, 401);
  EXPECT_EQ(ask("Bearer x").status, 401);
  std::string token;
  std::ifstream(folder.path() + "/admin-token") >> token;
  EXPECT_EQ(ask("Basic " + token).status, 401);
  const HttpAnswer status = ask("Bearer " + token);
  ASSERT_EQ(status.status, 200) << status.body;
  EXPECT_STREQ(Parsed(status.body)["listeners"][0]["protocol"].GetString(), "admin");
}

}  // namespace
}  // namespace weir
