#include "server/access_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AccessOptionsTest : public testing::Test {
 protected:
  AccessParts Open(const AccessOptions& options = {}) {
    Result<AccessParts> parts = OpenAccess(options, state_);
    EXPECT_TRUE(parts) << parts.error().message;
    return std::move(*parts);
  }
  [[nodiscard]] std::string AdminToken() const {
    std::string token;
    std::ifstream(AdminTokenIn(state_)) >> token;
    return token;
  }

  TemporaryFile folder_;
  std::string state_ = folder_.folder().string();
};

TEST_F(AccessOptionsTest, TheFirstStartMakesAnAdminAndSaysSo) {
  const AccessParts parts = Open();
  EXPECT_EQ(parts.tokens->Identify(AdminToken()).role, Role::kAdmin);
  EXPECT_THAT(parts.banner, HasSubstr(AdminTokenIn(state_)));
  EXPECT_EQ(std::filesystem::status(AdminTokenIn(state_)).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_THAT(parts.audit->Latest(9), ElementsAre(HasSubstr("token.create")));
}

TEST_F(AccessOptionsTest, TheNextStartMakesNone) {
  Open();
  const std::string token = AdminToken();
  const AccessParts again = Open();
  EXPECT_EQ(AdminToken(), token);
  EXPECT_EQ(again.tokens->Identify(token).role, Role::kAdmin);
  EXPECT_EQ(again.audit->Latest(9).size(), 1);
  // Who takes the token away does not find it back.
  std::filesystem::remove(AdminTokenIn(state_));
  Open();
  EXPECT_FALSE(std::filesystem::exists(AdminTokenIn(state_)));
}

TEST_F(AccessOptionsTest, AFileOfOnesOwnHasToBeThereAndIsLeftAlone) {
  const AccessOptions options{.tokens = state_ + "/mine"};
  EXPECT_THAT(OpenAccess(options, state_).error().message, HasSubstr("weir token create"));
  std::ofstream(options.tokens) << "# nobody\n";
  const AccessParts parts = Open(options);
  EXPECT_EQ(parts.tokens->Identify("weir_x").role, Role::kNone);
  EXPECT_FALSE(std::filesystem::exists(AdminTokenIn(state_)));
}

TEST_F(AccessOptionsTest, AStateInMemoryHasATrailAndNoTokens) {
  const Result<AccessParts> parts = OpenAccess({}, std::string(kStateInMemory));
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->tokens, nullptr);
  EXPECT_FALSE(parts->audit->Record({"ann", "x", "y", ""}));
  EXPECT_EQ(parts->audit->Latest(9).size(), 1);
  EXPECT_THAT(OpenAccess({.resp_auth = true}, std::string(kStateInMemory)).error().message,
              HasSubstr("--resp-auth"));
}

TEST_F(AccessOptionsTest, ACheckMakesNothing) {
  EXPECT_TRUE(CheckAccess({}, state_));
  EXPECT_TRUE(CheckAccess({}, state_ + "/fresh"));
  EXPECT_FALSE(CheckAccess({.tokens = state_ + "/mine"}, state_ + "/fresh"));
  EXPECT_TRUE(std::filesystem::is_empty(state_));
  std::ofstream(state_ + "/mine") << "# nobody\n";
  EXPECT_TRUE(CheckAccess({.tokens = state_ + "/mine"}, state_ + "/fresh"));
  std::ofstream(TokensIn(state_)) << "nonsense\n";
  EXPECT_FALSE(CheckAccess({}, state_));
  EXPECT_FALSE(std::filesystem::exists(AuditIn(state_)));
}

TEST_F(AccessOptionsTest, ABrokenFileIsNoReasonToLetNobodyInWithoutAWord) {
  std::ofstream(TokensIn(state_)) << "nonsense\n";
  EXPECT_THAT(OpenAccess({}, state_).error().message, HasSubstr("/tokens:1: expected"));
}

}  // namespace
}  // namespace weir
