#include "rule/api_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

namespace weir::rule {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<ApiKeys> Make(const std::vector<ApiKeys::Source>& sources) { return ApiKeys::Make(sources); }

std::string UserOf(const ApiKeys& keys, std::string_view key) {
  const std::string* user = keys.FindUser(key);
  return user == nullptr ? "(nobody)" : *user;
}

TEST(ApiKeysTest, TheDigestIsSha256InHexadecimal) {
  EXPECT_EQ(ApiKeys::Digest("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ApiKeysTest, FindTheUserOfAKeyAndNobodyForOthers) {
  const auto keys = Make({{ApiKeys::Digest("key-1"), "alice"},
                          {ApiKeys::Digest("key-2"), "bob"},
                          {ApiKeys::Digest("key-3"), "alice"}});
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(UserOf(*keys, "key-1"), "alice");
  EXPECT_EQ(UserOf(*keys, "key-2"), "bob");
  EXPECT_EQ(UserOf(*keys, "key-3"), "alice");
  for (const std::string key : {"", "key-", "key-4", "KEY-1", "key-1 ", "alice"}) {
    EXPECT_EQ(UserOf(*keys, key), "(nobody)") << key;
  }
  EXPECT_EQ(UserOf(*keys, ApiKeys::Digest("key-1")), "(nobody)");
  EXPECT_EQ(UserOf(ApiKeys(), "key-1"), "(nobody)");
}

TEST(ApiKeysTest, DigestsMayBeInEitherCase) {
  std::string digest = ApiKeys::Digest("abc");
  for (char& c : digest) c = static_cast<char>(std::toupper(c));
  const auto keys = Make({{digest, "alice"}});
  ASSERT_TRUE(keys);
  EXPECT_EQ(UserOf(*keys, "abc"), "alice");
}

TEST(ApiKeysTest, AKeyThatIsTooLongIsNobodys) {
  const std::string longest(ApiKeys::kLongestKey, 'k');
  const auto keys =
      Make({{ApiKeys::Digest(longest), "alice"}, {ApiKeys::Digest(longest + "k"), "bob"}});
  ASSERT_TRUE(keys);
  EXPECT_EQ(UserOf(*keys, longest), "alice");
  EXPECT_EQ(UserOf(*keys, longest + "k"), "(nobody)");
}

TEST(ApiKeysTest, AKeyInPlaceOfItsDigestIsRefusedAndNotShown) {
  const auto keys = Make({{"hunter2", "alice"}});
  ASSERT_FALSE(keys);
  EXPECT_THAT(keys.error().message, HasSubstr("'alice'"));
  EXPECT_THAT(keys.error().message, HasSubstr("SHA-256"));
  EXPECT_THAT(keys.error().message, Not(HasSubstr("hunter2")));
  EXPECT_FALSE(Make({{std::string(63, 'a'), "alice"}}));
  EXPECT_TRUE(Make({{std::string(64, 'a'), "alice"}}));
  EXPECT_FALSE(Make({{std::string(64, 'g'), "alice"}}));
}

TEST(ApiKeysTest, TwoUsersCannotHaveOneKey) {
  const auto keys = Make({{ApiKeys::Digest("k"), "alice"}, {ApiKeys::Digest("k"), "bob"}});
  ASSERT_FALSE(keys);
  EXPECT_THAT(keys.error().message, HasSubstr("'alice' and 'bob'"));
}

TEST(ApiKeysTest, NamesOfUsersAreShortAndPrintable) {
  for (const std::string& user : std::vector<std::string>{"", "a\nb", std::string("a\0b", 3),
                                                          "\xFF", std::string(257, 'a')}) {
    EXPECT_FALSE(Make({{ApiKeys::Digest("k"), user}}));
  }
  EXPECT_TRUE(Make({{ApiKeys::Digest("k"), std::string(256, 'a')}}));
}

}  // namespace
}  // namespace weir::rule
