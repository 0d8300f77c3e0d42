// The commands that ask a running server, against one: what people see, what scripts get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "server/json_value.h"
#include "server/program.h"
#include "server/running_server.h"
#include "service/token_file.h"
#include "tests/blocking_client.h"
#include "tests/temporary_file.h"
#include "tests/tls_files.h"

namespace weir {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

constexpr char kRules[] = R"(namespace: shop
rules:
  - name: login
    match: {path: /login}
    by: [ip]
    limit: 2/h
  - name: api
    match: {path: "/api/**"}
    by: [user]
    limit: 10/s burst 20
)";

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

class ClientCommandsConcurrentTest : public testing::Test {
 protected:
  void Start(const std::string& rules = "", const std::optional<net::TlsOptions>& tls = {}) {
    ServeOptions options;
    options.http = "";
    options.resp = "127.0.0.1:0";
    options.grpc = "";
    options.admin = tls ? "tls:127.0.0.1:0" : "127.0.0.1:0";
    if (tls) options.tls = *tls;
    options.rules = rules;
    options.state = folder_.path();
    options.max_keys = 1000;
    options.threads = 1;
    options.version = "1.2.3";
    Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
  }
  void SetUp() override {
    unsetenv("WEIR_TOKEN");
    unsetenv("WEIR_SERVER");
    Start();
  }

  // As the owner of the folder, whom the token in it belongs to.
  Outcome Weir(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.end(),
                     {"--server", server_->admin_address(), "--state", folder_.path()});
    return Run(std::move(arguments), input);
  }
  static Outcome Run(std::vector<std::string> arguments, const std::string& input = "") {
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const int code = RunProgram(std::move(arguments), "1.2.3", {in, out, err});
    return {code, out.str(), err.str()};
  }
  // With the token of a role.
  Outcome As(const std::string& role, std::vector<std::string> arguments) {
    const std::string file = folder_.path() + "." + role;
    std::ofstream(file)
        << Run({"token", "create", role, "--role", role, "--state", folder_.path()}).out;
    arguments.insert(arguments.end(), {"--token-file", file});
    return Weir(std::move(arguments));
  }
  void Import() {
    const Outcome imported = Weir({"rules", "import", "-"}, kRules);
    ASSERT_EQ(imported.code, 0) << imported.err;
  }

  TemporaryFile folder_;
  std::unique_ptr<RunningServer> server_;
};

TEST_F(ClientCommandsConcurrentTest, StatusWorksOnTheSameMachineWithoutMoreAdo) {
  const Outcome status = Weir({"status"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_THAT(status.out, AllOf(StartsWith("server   weir 1.2.3, up "),
                                HasSubstr("resp     on " + server_->resp_address() + "\n"),
                                HasSubstr("rules    3 in 1 namespaces, version 3 of the database "),
                                HasSubstr("keys     0 of "), HasSubstr("clients  ")));
}

TEST_F(ClientCommandsConcurrentTest, JsonIsWhatTheServerAnswered) {
  const Outcome status = Weir({"status", "--json"});
  EXPECT_EQ(status.code, 0);
  const auto json = JsonValue::Parse(status.out);
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ((*json)["version"].text, "1.2.3");
  EXPECT_EQ((*json)["rules"]["state"].text, "in_force");
}

TEST_F(ClientCommandsConcurrentTest, WithoutATokenThereIsNoAnswer) {
  const Outcome none = Run({"status", "--server", server_->admin_address(), "--state", "/nowhere"});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("say who you are"));
  EXPECT_THAT(none.out, IsEmpty());
  setenv("WEIR_TOKEN", "weir_wrong", 1);
  const Outcome wrong = Weir({"status"});
  unsetenv("WEIR_TOKEN");
  EXPECT_EQ(wrong.code, 3);
  EXPECT_THAT(wrong.err, HasSubstr("not known, or not valid any more"));
  EXPECT_EQ(Weir({"status", "--token-file", "/nowhere"}).code, 2);
}

TEST_F(ClientCommandsConcurrentTest, AServerThatIsNotThereHasNoAnswer) {
  const Outcome away = Run({"status", "--server", "unix:" + folder_.path() + "/none"});
  EXPECT_EQ(away.code, 3);
  EXPECT_THAT(away.err, HasSubstr("--server HOST:PORT"));
  EXPECT_EQ(Run({"rules", "list", "--server", "unix:" + folder_.path() + "/none"}).code, 5);
}

TEST_F(ClientCommandsConcurrentTest, TheServerMayComeFromTheEnvironment) {
  setenv("WEIR_SERVER", server_->admin_address().c_str(), 1);
  setenv("WEIR_STATE", folder_.path().c_str(), 1);
  const Outcome status = Run({"status"});
  unsetenv("WEIR_SERVER");
  unsetenv("WEIR_STATE");
  EXPECT_EQ(status.code, 0) << status.err;
}

TEST_F(ClientCommandsConcurrentTest, RolesSayWhatACommandMayDo) {
  Import();
  EXPECT_EQ(As("viewer", {"rules", "list"}).code, 0);
  const Outcome audit = As("editor", {"audit"});
  EXPECT_EQ(audit.code, 3);
  EXPECT_THAT(audit.err, HasSubstr("role admin"));
  const Outcome reset = Weir(
      {"keys", "reset", "shop/login", "ip=10.1.2.3", "--token-file", folder_.path() + ".viewer"});
  EXPECT_EQ(reset.code, 3);
  EXPECT_THAT(reset.err, HasSubstr("role editor"));
}

TEST_F(ClientCommandsConcurrentTest, RulesSayTheSameAsOfADatabase) {
  const Outcome imported = Weir({"rules", "import", "-", "-m", "first"}, kRules);
  EXPECT_EQ(imported.out, "created shop/login\ncreated shop/api\nrevision 5\n");
  const std::string database = folder_.path() + "/weir.db";
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"list"},
                                             {"list", "shop"},
                                             {"list", "shop", "--json"},
                                             {"get", "shop/login"},
                                             {"get", "shop/login", "--json"},
                                             {"get", "shop/none"},
                                             {"export", "shop"},
                                             {"export", "none"},
                                             {"history", "shop"},
                                             {"history", "shop/login", "--json"},
                                             {"delete", "shop/none"},
                                             {"delete", "shop/login", "--from", "1"},
                                             {"rollback", "none", "--to", "1"},
                                             {"rollback", "shop", "--to", "99"}}) {
    std::vector<std::string> remote = command;
    remote.insert(remote.begin(), "rules");
    std::vector<std::string> local = remote;
    local.insert(local.end(), {"--database", database});
    const Outcome there = Weir(remote);
    const Outcome here = Run(local);
    EXPECT_EQ(there.code, here.code) << command[0] << " " << there.err;
    EXPECT_EQ(there.out, here.out) << command[0] << " " << there.err;
  }
}

TEST_F(ClientCommandsConcurrentTest, RulesAreEditedAndTheAuthorIsTheTokens) {
  Import();
  const std::string rule = "name: login\nmatch: {path: /login}\nby: [ip]\nlimit: 7/h\n";
  const Outcome dry = Weir({"rules", "put", "shop", "-", "--dry-run"}, rule);
  EXPECT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, AllOf(StartsWith("would change shop/login\n"), HasSubstr("dry run")));
  const Outcome put = Weir({"rules", "put", "shop", "-", "-m", "more"}, rule);
  EXPECT_EQ(put.out, "changed shop/login\nrevision 6\n") << put.err;
  EXPECT_EQ(Weir({"rules", "put", "shop", "-", "--from", "4"}, rule).code, 3);
  EXPECT_EQ(Weir({"rules", "put", "shop", "-", "--from", "0"}, "name: new\nlimit: 1/s\n").out,
            "created shop/new\nrevision 7\n");
  EXPECT_EQ(Weir({"rules", "delete", "shop/new"}).out, "deleted shop/new\nrevision 8\n");
  EXPECT_EQ(Weir({"rules", "rollback", "shop/login", "--to", "5"}).out,
            "changed shop/login\nrevision 9\n");
  EXPECT_THAT(Weir({"rules", "history", "shop/login"}).out,
              AllOf(HasSubstr("admin   put"), HasSubstr("more\n")));
  const Outcome wrong = Weir({"rules", "put", "shop", "-"}, "name: bad\nlimt: 1/s\n");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("stdin:2:1: rule 'bad': unknown field 'limt'"));
}

TEST_F(ClientCommandsConcurrentTest, ExplainSaysWhatIsLeftAndCountsNothing) {
  Import();
  const std::vector<std::string> explain = {"explain", "shop", "--request",
                                            "path=/login ip=10.1.2.3"};
  for (int i = 0; i < 3; ++i) {
    const Outcome said = Weir(explain);
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_EQ(said.out,
              "namespace shop, request path=/login ip=10.1.2.3\n"
              "  applies  login  all conditions hold\n"
              "                  ip=10.1.2.3: token_bucket 2/1h, 2 left\n"
              "  no       api    path is '/login', and must be like '/api/**'\n"
              "  It passes.\n");
  }
  const Outcome dear =
      Weir({"explain", "shop", "--request", "path=/login ip=10.1.2.3", "--cost", "3"});
  EXPECT_EQ(dear.code, 1);
  EXPECT_THAT(dear.out, HasSubstr("  It is refused: login"));
  EXPECT_EQ(Weir({"explain", "none", "--request", "path=/"}).code, 1);
  EXPECT_EQ(Weir({"explain", "shop", "--request", "nonsense"}).code, 2);
}

TEST_F(ClientCommandsConcurrentTest, KeysAreLookedAtAndReset) {
  Import();
  const Outcome look = Weir({"keys", "look", "shop/login", "ip=10.1.2.3"});
  EXPECT_EQ(look.code, 0) << look.err;
  EXPECT_THAT(look.out, MatchesRegex("KEY +LIMIT +LEFT  MORE IN  FULL IN  BANNED FOR\n"
                                     "ip=10.1.2.3  token_bucket 2/1h  2 .*\n"));
  const Outcome reset = Weir({"keys", "reset", "shop/login", "ip=10.1.2.3"});
  EXPECT_EQ(reset.code, 0) << reset.err;
  EXPECT_THAT(reset.out, StartsWith("forgotten; it was:\nKEY "));
  EXPECT_THAT(Weir({"keys", "reset", "shop/login", "ip=10.1.2.3", "--dry-run"}).out,
              StartsWith("would forget:\n"));
  EXPECT_EQ(Weir({"keys", "look", "shop/none", "ip=10.1.2.3"}).code, 1);
  EXPECT_EQ(Weir({"keys", "look", "shop/login", "user=ann"}).code, 1);
  EXPECT_EQ(Weir({"keys", "look", "shop", "ip=10.1.2.3"}).code, 2);
  EXPECT_EQ(Weir({"keys", "look", "shop/login", "ip"}).code, 2);
}

TEST_F(ClientCommandsConcurrentTest, AnOverrideHasAnEndAndCanBeEndedBeforeIt) {
  Import();
  const std::vector<std::string> look = {"keys", "look", "shop/login", "ip=10.1.2.3"};
  const Outcome made = Weir({"keys", "override", "shop/login", "ip=10.1.2.3", "--limit", "100/h",
                             "--for", "1h", "-m", "a guest"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "changed shop/login\nrevision 6\n");
  EXPECT_THAT(Weir(look).out, HasSubstr("token_bucket 100/1h"));
  EXPECT_EQ(Weir({"keys", "restore", "shop/login", "ip=10.1.2.3"}).code, 0);
  EXPECT_THAT(Weir(look).out, HasSubstr("token_bucket 2/1h"));
  // One that never ends is a change of the rule, and belongs there.
  EXPECT_EQ(Weir({"keys", "override", "shop/login", "ip=10.1.2.3", "--limit", "100/h"}).code, 2);
  EXPECT_EQ(Weir({"keys", "override", "shop/login", "ip=10.1.2.3", "--for", "1h"}).code, 2);
}

TEST_F(ClientCommandsConcurrentTest, AuditTellsEveryChangeTheLastFirst) {
  Import();
  Weir({"keys", "reset", "shop/login", "ip=10.1.2.3"});
  const Outcome audit = Weir({"audit"});
  EXPECT_EQ(audit.code, 0) << audit.err;
  EXPECT_THAT(audit.out, MatchesRegex("TIME +WHO +ACTION +WHAT +DETAIL\n"
                                      "20[^\n]*Z  admin  keys.reset +shop/login [^\n]*\n"
                                      "20[^\n]*Z  admin  rules.put +shop [^\n]*\n"
                                      "20[^\n]*Z  weir +token.create  admin [^\n]*\n"));
  EXPECT_THAT(Weir({"audit", "-n", "1"}).out, Not(HasSubstr("rules.put")));
}

TEST_F(ClientCommandsConcurrentTest, AServerThatReadsFilesSaysWhereToEdit) {
  const std::string file = folder_.path() + ".yaml";
  std::ofstream(file) << kRules;
  server_ = nullptr;
  Start(file);
  EXPECT_THAT(Weir({"rules", "export", "shop"}).out, HasSubstr("limit: 2/h"));
  const Outcome put = Weir({"rules", "put", "shop", "-"}, "name: new\nlimit: 1/s\n");
  EXPECT_EQ(put.code, 1);
  EXPECT_THAT(put.err, HasSubstr(file));
  // What it cannot use is told, and is another exit code for who watches.
  std::ofstream(file) << "namespace: shop\nrules: [{name: x}]\n";
  Outcome status;
  do {
    status = Weir({"status"});
  } while (status.code == 0);
  EXPECT_EQ(status.code, 1);
  EXPECT_THAT(status.out, AllOf(HasSubstr("rules    bad: "), HasSubstr("there is no limit")));
}

TEST_F(ClientCommandsConcurrentTest, AServerElsewhereIsAskedWithTlsOnly) {
  setenv("WEIR_TOKEN", "weir_x", 1);
  const Outcome plain = Run({"status", "--server", "192.0.2.1:8082"});
  unsetenv("WEIR_TOKEN");
  EXPECT_EQ(plain.code, 2);
  EXPECT_THAT(plain.err, HasSubstr("in plain text; write tls:192.0.2.1:8082"));
}

TEST_F(ClientCommandsConcurrentTest, WithTlsTheServerHasToProveWhoItIs) {
  const TlsFilesOfTest files;
  server_ = nullptr;
  Start("", files.options());
  EXPECT_THAT(server_->admin_address(), StartsWith("tls:"));
  EXPECT_EQ(Weir({"status", "--tls-ca", files.ca()}).code, 0);
  EXPECT_EQ(Weir({"rules", "list", "--tls-ca", files.ca()}).code, 0);
  const Outcome unknown = Weir({"status"});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("certificate"));
  const Outcome other = Weir({"status", "--tls-ca", files.ca(), "--tls-name", "other.example"});
  EXPECT_EQ(other.code, 3);
}

TEST_F(ClientCommandsConcurrentTest, DecisionsAndTheHeaviestClientsAreTold) {
  Import();
  EXPECT_THAT(Weir({"top", "shop/login"}).out, StartsWith("nobody since 20"));
  BlockingClient client(server_->resp_address());
  for (int i = 0; i < 3; ++i) {
    client.Ask("WEIR.CHECK shop path /login ip 10.1.2.3\r\n", 9);
  }
  const Outcome decisions = Weir({"decisions", "shop/login"});
  EXPECT_EQ(decisions.code, 0) << decisions.err;
  EXPECT_THAT(decisions.out,
              MatchesRegex("TIME +NAMESPACE  OUTCOME  RULE   KEY +LEFT  REQUEST\n"
                           "20[^\n]*Z  shop       denied   login  [^\n]*10.1.2.3[^\n]*\n"
                           "20[^\n]*Z  shop       allowed  login  [^\n]*\n"
                           "20[^\n]*Z  shop       allowed  login  [^\n]*path=/login[^\n]*\n"));
  EXPECT_THAT(Weir({"decisions", "--allowed"}).out, Not(HasSubstr("denied")));
  EXPECT_THAT(Weir({"decisions", "--denied"}).out, Not(HasSubstr("allowed ")));
  EXPECT_THAT(Weir({"top", "shop/login"}).out,
              MatchesRegex("KEY +CONSUMED\n[^\n]*10.1.2.3[^\n]* 2\nsince 20[^\n]*\n"));
  EXPECT_THAT(Weir({"top", "shop/login", "--by", "denied"}).out,
              MatchesRegex("KEY +DENIED\n[^\n]*10.1.2.3[^\n]* 1\nsince 20[^\n]*\n"));
  EXPECT_EQ(Weir({"top", "shop/none"}).code, 1);
  EXPECT_EQ(Weir({"top", "shop"}).code, 2);
}

TEST_F(ClientCommandsConcurrentTest, HelpIsNoErrorAndNonsenseIs) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"status"},
                                             {"explain"},
                                             {"keys", "look"},
                                             {"keys", "reset"},
                                             {"keys", "override"},
                                             {"keys", "restore"},
                                             {"top"},
                                             {"decisions"},
                                             {"audit"}}) {
    std::vector<std::string> help = command;
    help.emplace_back("--help");
    EXPECT_THAT(Run(help).out, HasSubstr("Exit codes: 0 done")) << command[0];
    EXPECT_EQ(Run(help).code, 0);
    std::vector<std::string> nonsense = command;
    nonsense.emplace_back("--nonsense");
    EXPECT_EQ(Run(nonsense).code, 2) << command[0];
  }
  EXPECT_EQ(Run({"keys"}).code, 2);
}

}  // namespace
}  // namespace weir
