#include "catalog/database_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::catalog {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DatabaseUrlTest, AFileIsSqlite) {
  for (const char* url : {"/var/lib/weir/rules.db", "sqlite:/var/lib/weir/rules.db",
                          "sqlite:///var/lib/weir/rules.db", "/var/lib/./weir/rules.db"}) {
    const Result<DatabaseUrl> parsed = ParseDatabaseUrl(url);
    ASSERT_TRUE(parsed.ok()) << url;
    EXPECT_EQ(parsed->engine, Engine::kSqlite);
    EXPECT_EQ(parsed->shown, "/var/lib/weir/rules.db");
  }
}

TEST(DatabaseUrlTest, AFileIsTheSameWhereverTheProcessGoes) {
  EXPECT_TRUE(ParseDatabaseUrl("rules.db")->shown.starts_with("/"));
  EXPECT_TRUE(ParseDatabaseUrl("sqlite::memory:")->shown.ends_with("/:memory:"));
}

TEST(DatabaseUrlTest, PostgresIsShownWithoutItsPassword) {
  const auto parsed = ParseDatabaseUrl("postgresql://weir:p%27w%20%5C@db.example:5433/rules");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->engine, Engine::kPostgres);
  EXPECT_EQ(parsed->shown, "postgresql://weir@db.example:5433/rules");
  EXPECT_THAT(parsed->connect, HasSubstr("password=p%27w%20%5C&"));
}

TEST(DatabaseUrlTest, LimitsOfTimeAreSetUnlessTheUrlHasThem) {
  EXPECT_THAT(ParseDatabaseUrl("postgres://h/d")->connect, HasSubstr("connect_timeout=5"));
  const auto parsed = ParseDatabaseUrl("postgres://h/d?connect_timeout=2&sslmode=require");
  EXPECT_THAT(parsed->connect, HasSubstr("connect_timeout=2"));
  EXPECT_THAT(parsed->connect, Not(HasSubstr("connect_timeout=5")));
  EXPECT_THAT(parsed->connect, HasSubstr("sslmode=require"));
}

TEST(DatabaseUrlTest, AnErrorSaysWhatToGiveAndNoPassword) {
  for (const char* url : {"postgresql://weir:secret@[::1/rules", "postgresql://weir:secret@h/d?x=y",
                          "mysql://weir:secret@h/d", "sqlite:mysql://weir:secret@h/d"}) {
    const auto parsed = ParseDatabaseUrl(url);
    ASSERT_FALSE(parsed.ok()) << url;
    EXPECT_THAT(parsed.error().message, HasSubstr("postgresql://USER:PASSWORD@HOST:PORT/DATABASE"));
    EXPECT_THAT(parsed.error().message, Not(HasSubstr("secret")));
  }
  EXPECT_THAT(ParseDatabaseUrl("").error().message, HasSubstr("no file name"));
  EXPECT_THAT(ParseDatabaseUrl("sqlite:").error().message, HasSubstr("no file name"));
  EXPECT_THAT(ParseDatabaseUrl("a\"b").error().message, HasSubstr("quotation mark"));
  EXPECT_THAT(ParseDatabaseUrl(std::string("a\0b", 3)).error().message, HasSubstr("UTF-8"));
}

}  // namespace
}  // namespace weir::catalog
