// `weir rules ...` as a user runs it, from the command line to what is printed and returned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/program.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

// The first example of docs/rules.md.
std::string Example() {
  std::ifstream file(WEIR_SOURCE_DIR "/docs/rules.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const std::string fence = "```yaml\n";
  const std::size_t begin = page.find(fence) + fence.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

class RulesCommandTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = Path(name);
    std::ofstream(path) << text;
    return path;
  }
  [[nodiscard]] std::string Path(const std::string& name) const {
    return (files_.folder() / name).string();
  }
  static Outcome Weir(std::vector<std::string> arguments, const std::string& input = "") {
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const int code = RunProgram(std::move(arguments), "1.2.3", {in, out, err});
    return {code, out.str(), err.str()};
  }
  // A command that needs a database, with ours.
  Outcome Rules(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), "rules");
    arguments.insert(arguments.end(), {"--database", Path("weir.db")});
    return Weir(std::move(arguments), input);
  }
  Outcome Put(const std::string& rule, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"put", "shop", "-"});
    return Rules(more, rule);
  }

  TemporaryFile files_;
};

TEST_F(RulesCommandTest, ANewUserGetsAllTheWayAround) {
  const std::string file = Write("rules.yaml", Example());
  EXPECT_EQ(Weir({"rules", "check", file}).code, 0);

  Outcome outcome = Rules({"import", file, "-m", "the first"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "created shop/login-per-ip\ncreated shop/api-per-user\nrevision 2\n");

  outcome = Rules({"list"});
  EXPECT_EQ(outcome.out,
            "RULE               REVISION  MODE     BY    LIMIT\n"
            "shop/login-per-ip  1         enforce  ip    sliding_window 5/1m\n"
            "shop/api-per-user  2         shadow   user  token_bucket 10/1s burst 20 + "
            "token_bucket 5000/1h soft 10%\n");
  EXPECT_EQ(Rules({"list", "shop"}).out, outcome.out);

  std::string rule = Rules({"get", "shop/login-per-ip"}).out;
  EXPECT_THAT(rule, HasSubstr("limit: sliding_window 5/min\n"));
  rule.replace(rule.find("5/min"), 5, "7/min");
  const std::string edited = Write("login.yaml", rule);
  outcome = Rules({"put", "shop", edited, "--from", "1", "--dry-run"});
  EXPECT_EQ(outcome.out,
            "would change shop/login-per-ip\n  - limit: sliding_window 5/min\n"
            "  + limit: sliding_window 7/min\ndry run: nothing was changed\n");
  const std::string exported = Rules({"export", "shop"}).out;
  outcome = Rules({"put", "shop", edited, "--from", "1", "-m", "more", "--author", "bob"});
  EXPECT_EQ(outcome.out, "changed shop/login-per-ip\nrevision 3\n");

  outcome = Rules({"put", "shop", edited, "--from", "1"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("made from revision 1, and 3 is in force; read that one"));

  outcome = Rules({"history", "shop"});
  EXPECT_THAT(outcome.out,
              MatchesRegex("REVISION  TIME                  AUTHOR +CHANGE  RULE  +COMMENT\n"
                           "3         [0-9TZ:-]+  bob +put     shop/login-per-ip  more\n"
                           "2         .*  the first\n1         .*  the first\n"));
  EXPECT_THAT(Rules({"history", "shop/login-per-ip", "--most", "1"}).out, Not(HasSubstr("first")));

  EXPECT_EQ(Rules({"delete", "shop/api-per-user"}).out, "deleted shop/api-per-user\nrevision 4\n");
  outcome = Rules({"rollback", "shop", "--to", "2", "--dry-run"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("would change shop/login-per-ip\n"),
                                 HasSubstr("would create shop/api-per-user\n  + name: api")));
  EXPECT_EQ(Rules({"rollback", "shop", "--to", "2"}).out,
            "changed shop/login-per-ip\ncreated shop/api-per-user\nrevision 6\n");
  EXPECT_EQ(Rules({"export", "shop"}).out, exported);
  outcome = Rules({"import", "-"}, exported);
  EXPECT_EQ(outcome.out, "nothing to change: revision 6 is in force\n");
}

TEST_F(RulesCommandTest, CheckSaysHowManyRulesThereAre) {
  const std::string one = Write("one.yaml", "namespace: a\nrules: [{name: r, limit: 1/s}]\n");
  EXPECT_EQ(Weir({"rules", "check", one}).out, one + ": 1 rule in namespace a\n");
  const Outcome outcome = Weir({"rules", "check", "-", files_.folder().string()}, Example());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "stdin: 2 rules in namespace shop\n" + one + ": 1 rule in namespace a\n");
}

TEST_F(RulesCommandTest, CheckNotesWhatHasNoEffect) {
  const Outcome outcome =
      Weir({"rules", "check", "-"},
           "domain: edge\ndescriptors:\n  - key: path\n    rate_limit: {unit: minute, "
           "requests_per_unit: 5, shadow_mode: true}\n");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "stdin: 1 rule in namespace edge\n");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("note: stdin:4:"), HasSubstr("shadow_mode")));
}

TEST_F(RulesCommandTest, CheckTellsEveryProblemWithItsPlace) {
  const std::string bad = Write(
      "bad.yaml", "namespace: a\nrules:\n  - {name: r, limt: 1/s}\n  - {name: s, limit: x}\n");
  const Outcome outcome = Weir({"rules", "check", bad});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(bad + ":3:15: rule 'r': "), HasSubstr("'limit'"),
                                 HasSubstr(bad + ":4:22: rule 's': ")));
  // The same namespace twice is wrong in a directory, where both would be in force.
  Write("bad.yaml", "namespace: a\nrules: []\n");
  Write("more.yaml", "namespace: a\nrules: []\n");
  EXPECT_EQ(Weir({"rules", "check", files_.folder().string()}).code, 1);
  EXPECT_EQ(Weir({"rules", "check", bad, Path("more.yaml")}).code, 0);
}

TEST_F(RulesCommandTest, WhatCannotBeReadIsAnotherExitCode) {
  for (const char* command : {"check", "convert"}) {
    const Outcome outcome = Weir({"rules", command, Path("none.yaml")});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("none.yaml cannot be read"));
  }
  EXPECT_EQ(Weir({"rules", "explain", Path("none.yaml"), "--request", "a=b"}).code, 2);
  EXPECT_EQ(Rules({"import", Path("none.yaml")}).code, 2);
  EXPECT_EQ(Rules({"put", "shop", Path("none.yaml")}).code, 2);
}

TEST_F(RulesCommandTest, ExplainSaysWhyAndWhyNot) {
  const std::string file = Write("rules.yaml", Example());
  const Outcome outcome = Weir({"rules", "explain", file, "--request",
                                "path=/login method=POST ip=10.1.2.3", "--request", "path='/a b'"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "namespace shop, request path=/login method=POST ip=10.1.2.3\n"
            "  applies  login-per-ip  all conditions hold\n"
            "                         ip=10.1.2.3/32: sliding_window 5/1m\n"
            "  no       api-per-user  path is '/login', and must be like '/api/**'\n"
            "\n"
            "namespace shop, request path=/a b\n"
            "  no  login-per-ip  path is '/a b', and must be '/login'\n"
            "  no  api-per-user  path is '/a b', and must be like '/api/**'\n"
            "  It passes: no rule applies.\n");
}

TEST_F(RulesCommandTest, ExplainSaysThatAnAllowListEndsIt) {
  const Outcome outcome = Weir({"rules", "explain", "-", "-r", "ip=10.1.2.3"},
                               "namespace: a\nrules:\n  - {name: all, limit: 1/s}\n"
                               "  - {name: office, match: {ip: 10.0.0.0/8}, allow: true}\n");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("  not asked  all"), HasSubstr("  allows     office"),
                                 HasSubstr("office allows it")));
}

TEST_F(RulesCommandTest, ExplainAsJson) {
  const Outcome outcome = Weir(
      {"rules", "explain", "-", "--json", "-r", "path=/login method=POST ip=10.1.2.3"}, Example());
  EXPECT_THAT(outcome.out,
              AllOf(StartsWith("[\n"), HasSubstr("\"applies\": true"),
                    HasSubstr("\"allowance\": \"sliding_window 5/1m\""),
                    HasSubstr("\"why\": \"path is '/login', and must be like '/api/**'\"")));
}

TEST_F(RulesCommandTest, ExplainRefusesWhatIsNoRequestAndWhatIsNoRules) {
  EXPECT_EQ(Weir({"rules", "explain", "-", "-r", "path"}, Example()).code, 2);
  EXPECT_EQ(Weir({"rules", "explain", "-", "-r", "path='/a"}, Example()).code, 2);
  EXPECT_EQ(Weir({"rules", "explain", "-"}, Example()).code, 2);
  EXPECT_EQ(Weir({"rules", "explain", "-", "-r", "a=b"}, "namespace: a\n").code, 1);
}

TEST_F(RulesCommandTest, ConvertWritesRulesOfOurs) {
  const std::string envoy =
      "domain: edge\ndescriptors:\n"
      "  - {key: remote_address, rate_limit: {unit: minute, requests_per_unit: 5}}\n";
  const Outcome outcome = Weir({"rules", "convert", "-"}, envoy);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("namespace: edge\n"), HasSubstr("remote_address")));
  EXPECT_EQ(Weir({"rules", "check", "-"}, outcome.out).code, 0);

  const std::string to = Path("ours.yaml");
  EXPECT_EQ(Weir({"rules", "convert", "-", "--to", to}, envoy).out,
            to + ": 1 rule in namespace edge\n");
  std::ifstream written(to);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(written), {}), outcome.out);

  EXPECT_EQ(Weir({"rules", "convert", "-"}, "domain: a\ndescriptors: [{value: x}]\n").code, 1);
  EXPECT_EQ(Weir({"rules", "convert", "-"}, "domain: a/b\ndescriptors: [{key: x}]\n").code, 1);
  EXPECT_EQ(Weir({"rules", "convert", "-", "--to", Path("no/such/folder")}, envoy).code, 2);
  EXPECT_EQ(Weir({"rules", "convert", files_.folder().string()}).code, 0);
  Write("two.yaml", envoy);
  EXPECT_EQ(Weir({"rules", "convert", files_.folder().string()}).code, 2);
}

TEST_F(RulesCommandTest, ABadRuleIsToldAndNotKept) {
  const Outcome outcome = Put("name: login\nlimt: 5/min\n", {"--json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stdin:2:1: rule 'login': "));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"refused\": \"invalid\""), HasSubstr("\"line\": 2")));
  EXPECT_EQ(Rules({"list"}).out, "there are no rules\n");
  EXPECT_THAT(Put(Example()).err, HasSubstr("weir rules import takes that"));
}

TEST_F(RulesCommandTest, ANameMayHaveSlashesAndANamespaceNot) {
  EXPECT_EQ(Put("name: a/b/c\nlimit: 1/s\n").code, 0);
  EXPECT_EQ(Rules({"get", "shop/a/b/c"}).out, "name: a/b/c\nlimit: 1/s\n");
  EXPECT_EQ(Rules({"put", "shop/a", "-"}, "name: b\nlimit: 1/s\n").code, 1);
  for (const char* place : {"shop", "shop/", "/a", ""}) {
    EXPECT_EQ(Rules({"get", place}).code, 2) << place;
    EXPECT_EQ(Rules({"delete", place}).code, 2) << place;
  }
}

TEST_F(RulesCommandTest, WhatIsNotThereIsNotFound) {
  Put("name: login\nlimit: 1/s\n");
  const Outcome outcome = Rules({"get", "shop/logn"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean 'login'?"));
  EXPECT_EQ(Rules({"delete", "shop/logn"}).code, 4);
  EXPECT_EQ(Rules({"list", "none"}).code, 4);
  EXPECT_EQ(Rules({"export", "none"}).code, 4);
  EXPECT_EQ(Rules({"history", "none"}).code, 4);
  EXPECT_EQ(Rules({"rollback", "none", "--to", "1"}).code, 4);
  EXPECT_EQ(Rules({"rollback", "shop", "--to", "9"}).code, 1);
}

TEST_F(RulesCommandTest, JsonHasTheRevisionAndTheTexts) {
  const Outcome put = Put("name: login\nlimit: 1/s\n", {"--json"});
  EXPECT_THAT(put.out, AllOf(HasSubstr("\"revision\": 1"), HasSubstr("\"dry_run\": false"),
                             HasSubstr("\"what\": \"created\""), HasSubstr("\"before\": null")));
  const std::string rule =
      "{\n  \"namespace\": \"shop\",\n  \"name\": \"login\",\n  \"revision\": 1,\n"
      "  \"text\": \"name: login\\nlimit: 1/s\\n\"\n}\n";
  EXPECT_EQ(Rules({"get", "shop/login", "--json"}).out, rule);
  EXPECT_THAT(Rules({"list", "--json"}).out, HasSubstr("\"name\": \"login\""));
  Rules({"delete", "shop/login", "-m", "why not"});
  EXPECT_THAT(Rules({"history", "shop", "--json"}).out,
              AllOf(HasSubstr("\"text\": null"), HasSubstr("\"comment\": \"why not\"")));
  EXPECT_EQ(Rules({"list", "--json"}).out, "[]\n");
}

TEST_F(RulesCommandTest, WhoOnlyLooksMakesNoDatabase) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"list"},
                                             {"get", "a/b"},
                                             {"history", "a"},
                                             {"export", "a"},
                                             {"import", "-", "--dry-run"}}) {
    const Outcome outcome = Rules(command, Example());
    EXPECT_EQ(outcome.code, 5);
    EXPECT_THAT(outcome.err, HasSubstr("there is no such database"));
  }
  EXPECT_FALSE(std::filesystem::exists(Path("weir.db")));
}

TEST_F(RulesCommandTest, ADatabaseThatFailsIsAnotherExitCode) {
  for (const std::string& url :
       {Path("no/such/folder/weir.db"), std::string("postgresql://ann:secret@127.0.0.1:1/none"),
        std::string("mysql://ann@host/none")}) {
    const Outcome outcome = Weir({"rules", "import", "-", "--database", url}, Example());
    EXPECT_EQ(outcome.code, 5) << url;
    EXPECT_THAT(outcome.err, AllOf(Not(IsEmpty()), Not(HasSubstr("secret"))));
  }
}

TEST_F(RulesCommandTest, TheDatabaseMayComeFromTheEnvironment) {
  setenv("WEIR_DATABASE", Path("other.db").c_str(), 1);
  EXPECT_EQ(Weir({"rules", "import", "-"}, Example()).code, 0);
  EXPECT_EQ(Weir({"rules", "list", "shop"}).code, 0);
  unsetenv("WEIR_DATABASE");
  EXPECT_TRUE(std::filesystem::exists(Path("other.db")));
}

TEST_F(RulesCommandTest, HelpIsNoErrorAndNonsenseIs) {
  EXPECT_EQ(Weir({"--version"}).out, "1.2.3\n");
  for (const char* command : {"check", "explain", "convert", "list", "get", "history", "export",
                              "put", "delete", "rollback", "import"}) {
    const Outcome help = Weir({"rules", command, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Exit codes: 0 done"));
    const Outcome nonsense = Weir({"rules", command, "--nonsense"});
    EXPECT_EQ(nonsense.code, 2);
    EXPECT_THAT(nonsense.err, Not(IsEmpty()));
  }
  EXPECT_EQ(Weir({"rules"}).code, 2);
  EXPECT_EQ(Weir({}).code, 2);
  EXPECT_EQ(Rules({"put", "shop", "-", "--from", "x"}, "name: a\nlimit: 1/s\n").code, 2);
}

}  // namespace
}  // namespace weir
