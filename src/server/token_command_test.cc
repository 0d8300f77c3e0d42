#include "server/token_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "server/access_options.h"
#include "server/program.h"
#include "service/token_file.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

class TokenCommandTest : public testing::Test {
 protected:
  static Outcome Weir(std::vector<std::string> arguments) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    arguments.insert(arguments.begin(), "token");
    const int code = RunProgram(std::move(arguments), "1.2.3", {in, out, err});
    return {code, out.str(), err.str()};
  }
  Outcome Token(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--state", state_});
    return Weir(std::move(arguments));
  }
  [[nodiscard]] Caller Identify(std::string token) const {
    if (token.ends_with('\n')) token.pop_back();
    return TokenFile::Open({.path = TokensIn(state_)}).value()->Identify(token);
  }
  [[nodiscard]] std::string Trail() const {
    std::ifstream file(AuditIn(state_));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFile folder_;
  std::string state_ = folder_.folder().string();
};

TEST_F(TokenCommandTest, CreatePrintsATokenThatIsKnownAndNothingElseOnItsOutput) {
  const Outcome made = Token({"create", "grafana", "--role", "viewer"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, MatchesRegex("weir_[A-Za-z0-9_-]*\n"));
  EXPECT_THAT(made.err, AllOf(HasSubstr("viewer 'grafana', expires: never"),
                              Not(HasSubstr(made.out.substr(5, 20)))));
  EXPECT_EQ(Identify(made.out).name, "grafana");
  EXPECT_EQ(Identify(made.out).role, Role::kViewer);
}

TEST_F(TokenCommandTest, RevokedIsGoneAndTheNameIsFreeAgain) {
  const std::string token = Token({"create", "ci", "--role", "editor"}).out;
  EXPECT_EQ(Token({"revoke", "ci"}).code, 0);
  EXPECT_EQ(Identify(token).role, Role::kNone);
  EXPECT_EQ(Token({"create", "ci", "--role", "editor"}).code, 0);
}

TEST_F(TokenCommandTest, ListShowsWhoAndUntilWhenAndNoToken) {
  EXPECT_THAT(Token({"list"}).out, HasSubstr("there are no tokens"));
  const std::string token = Token({"create", "ann", "--role", "admin", "--expires", "90d"}).out;
  Token({"create", "bob", "--role", "viewer"});
  const Outcome list = Token({"list"});
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.out, MatchesRegex("NAME  ROLE    CREATED +EXPIRES\n"
                                     "ann   admin   20.*Z  20.*Z\n"
                                     "bob   viewer  20.*Z  never\n"));
  EXPECT_THAT(list.out, Not(HasSubstr(token.substr(5, 10))));
  EXPECT_THAT(Token({"list", "--json"}).out,
              AllOf(HasSubstr(R"("name": "bob")"), HasSubstr(R"("expires": null)"),
                    HasSubstr(R"("expired": false)")));
}

TEST_F(TokenCommandTest, EveryChangeIsInTheTrail) {
  Token({"create", "ann", "--role", "admin"});
  Token({"create", "ann", "--role", "viewer"});  // refused
  Token({"revoke", "bob"});                      // so is this
  Token({"revoke", "ann"});
  EXPECT_THAT(Trail(), MatchesRegex("[^\n]*\"token.create\",\"what\":\"ann\",\"detail\":\"role "
                                    "admin, expires never\"}\n"
                                    "[^\n]*\"who\":\"local:[^\n]*\"token.revoke\",\"what\":\"ann\""
                                    "[^\n]*\n"));
}

TEST_F(TokenCommandTest, AChangeThatCannotBeRecordedIsNotMade) {
  std::filesystem::create_symlink("/dev/full", AuditIn(state_));
  const Outcome refused = Token({"create", "ann", "--role", "admin"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.out, IsEmpty());
  EXPECT_THAT(refused.err, HasSubstr("audit.jsonl: No space left on device"));
  EXPECT_EQ(LoadTokens(TokensIn(state_))->size(), 0);
}

TEST_F(TokenCommandTest, AFileElsewhereNeedsNoFolderOfState) {
  const std::string file = state_ + "/elsewhere";
  const Outcome made =
      Weir({"create", "ann", "--role", "admin", "--tokens", file, "--state", state_ + "/none"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(LoadTokens(file)->size(), 1);
  EXPECT_THAT(Weir({"list", "--tokens", file}).out, HasSubstr("ann   admin"));
}

TEST_F(TokenCommandTest, ExitCodesSayWhatIsWrong) {
  Token({"create", "ann", "--role", "admin"});
  const Outcome taken = Token({"create", "ann", "--role", "admin"});
  EXPECT_EQ(taken.code, 1);
  EXPECT_EQ(taken.err, "weir token: there is a token 'ann' already; revoke it first\n");
  const Outcome missing = Token({"revoke", "bob"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("there is no token 'bob'"));
  EXPECT_EQ(Token({"create", "a b", "--role", "admin"}).code, 2);
  EXPECT_EQ(Token({"create", "x", "--role", "root"}).code, 2);
  EXPECT_EQ(Token({"create", "x"}).code, 2);
  EXPECT_EQ(Token({"create", "x", "--role", "admin", "--expires", "soon"}).code, 2);
  EXPECT_EQ(Token({"create", "x", "--role", "admin", "--expires", "1ms"}).code, 2);
  EXPECT_EQ(Weir({"list", "--state", state_ + "/none"}).code, 2);
  std::ofstream(TokensIn(state_)) << "nonsense\n";
  EXPECT_EQ(Token({"list"}).code, 2);
  EXPECT_EQ(Token({"create", "x", "--role", "admin"}).code, 2);
}

}  // namespace
}  // namespace weir
