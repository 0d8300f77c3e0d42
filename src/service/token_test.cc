#include "service/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "rule/base64url.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::chrono::sys_seconds kCreated{std::chrono::seconds(1'769'860'800)};
const std::string kDigest(64, 'a');

std::string Line(const std::string& rest) { return kDigest + " " + rest + "\n"; }

std::string ErrorOf(const std::string& text) {
  const auto tokens = ReadTokens(text, "tokens");
  return tokens ? "" : tokens.error().message;
}

TEST(TokenTest, HasTwoHundredAndFiftySixBitsAndIsNeverTheSame) {
  std::set<std::string> made;
  for (int i = 0; i < 1000; ++i) {
    const std::string token = MakeToken();
    ASSERT_THAT(token, StartsWith("weir_"));
    const auto bits = rule::DecodeBase64Url(token.substr(5));
    ASSERT_TRUE(bits);
    EXPECT_EQ(bits->size(), 32);
    made.insert(token);
  }
  EXPECT_EQ(made.size(), 1000);
}

TEST(TokenTest, DigestIsSha256) {
  EXPECT_EQ(DigestOfToken("test"),
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
}

TEST(TokenListTest, IsReadAsItWasWritten) {
  const std::vector<TokenEntry> written = {
      {DigestOfToken("one"), Role::kViewer, "grafana", kCreated, std::nullopt},
      {DigestOfToken("two"), Role::kAdmin, "ann@example.org", kCreated,
       kCreated + std::chrono::hours(24)}};
  const std::string text = WriteTokens(written);
  EXPECT_THAT(text, HasSubstr("viewer grafana 2026-01-31T12:00:00Z never\n"));
  EXPECT_THAT(text, HasSubstr("2026-02-01T12:00:00Z\n"));
  const auto read = ReadTokens(text, "tokens");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2);
  EXPECT_EQ(WriteTokens(*read), text);
}

TEST(TokenListTest, CommentsAndEmptyLinesAreNoTokens) {
  EXPECT_EQ(ReadTokens("", "tokens")->size(), 0);
  EXPECT_EQ(ReadTokens("# nothing\n\n  \n", "tokens")->size(), 0);
  EXPECT_EQ(ReadTokens(Line("editor ci 2026-01-31T12:00:00Z never"), "tokens")->size(), 1);
}

TEST(TokenListTest, SaysInWhichLineWhatIsWrong) {
  EXPECT_EQ(ErrorOf("#\nweir_x viewer a 2026-01-31T12:00:00Z never\n"),
            "tokens:2: give the SHA-256 of the token in 64 lower-case hexadecimal digits, not the "
            "token");
  EXPECT_EQ(ErrorOf(Line("root a 2026-01-31T12:00:00Z never")),
            "tokens:1: there are the roles viewer, editor and admin, got 'root'");
  EXPECT_THAT(ErrorOf(Line("none a 2026-01-31T12:00:00Z never")), HasSubstr("got 'none'"));
  EXPECT_THAT(ErrorOf(Line("viewer a/b 2026-01-31T12:00:00Z never")), HasSubstr("got 'a/b'"));
  EXPECT_THAT(ErrorOf(Line("viewer a 2026-01-31 never")), HasSubstr("got '2026-01-31'"));
  EXPECT_THAT(ErrorOf(Line("viewer a 2026-01-31T12:00:00Z later")), HasSubstr("got 'later'"));
  EXPECT_THAT(ErrorOf(Line("viewer a")), HasSubstr("got 3 words"));
}

TEST(TokenListTest, NamesAndTokensAreThereOnce) {
  const std::string ann = Line("viewer ann 2026-01-31T12:00:00Z never");
  EXPECT_THAT(ErrorOf(ann + std::string(64, 'b') + " admin ann 2026-01-31T12:00:00Z never"),
              HasSubstr("tokens:2: there are two tokens 'ann'"));
  EXPECT_THAT(ErrorOf(ann + Line("admin bob 2026-01-31T12:00:00Z never")),
              HasSubstr("the token of 'bob' is another's too"));
}

TEST(TokenListTest, ATokenIsValidUntilItExpires) {
  const TokenEntry entry{kDigest, Role::kViewer, "a", kCreated, kCreated + std::chrono::hours(1)};
  EXPECT_FALSE(entry.IsExpired(kCreated + std::chrono::seconds(3599)));
  EXPECT_TRUE(entry.IsExpired(kCreated + std::chrono::seconds(3600)));
  const TokenEntry forever{kDigest, Role::kViewer, "a", kCreated, std::nullopt};
  EXPECT_FALSE(forever.IsExpired(std::chrono::sys_seconds::max()));
}

}  // namespace
}  // namespace weir
