#include "catalog/database_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "catalog/database_url.h"
#include "catalog/retriever.h"
#include "tests/postgres.h"
#include "tests/rule_database.h"
#include "tests/rules_in_force.h"

namespace weir::catalog {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Outcome = Retrieved::Outcome;
using State = RetrieverStatus::State;

constexpr minutes kLong{1};

std::unique_ptr<DatabaseSource> SourceOf(const std::string& url) {
  return DatabaseSource::Of(url).value();
}

Revision Put(RuleStore& store, const std::string& name, const std::string& rest = "limit: 5/min") {
  return RevisionOf(store.Apply(
      {{"shop", name, "name: " + name + "\n" + rest + "\n", std::nullopt}}, {"ada", "a test"}));
}

// --- what is the same for SQLite and PostgreSQL
// ---------------------------------------------------

class DatabaseSourceTest : public testing::TestWithParam<Engine> {
 protected:
  RuleDatabase database_{GetParam()};
  std::unique_ptr<RuleStore> editor_ = database_.Open();
  std::unique_ptr<DatabaseSource> source_ = SourceOf(database_.url());
};

INSTANTIATE_TEST_SUITE_P(Sqlite, DatabaseSourceTest, testing::Values(Engine::kSqlite));
INSTANTIATE_TEST_SUITE_P(Postgres, DatabaseSourceTest, testing::Values(Engine::kPostgres));

TEST_P(DatabaseSourceTest, ADatabaseWithoutRulesBringsNone) {
  const Retrieved found = source_->Look();
  EXPECT_EQ(found.outcome, Outcome::kRules);
  EXPECT_THAT(found.sets, IsEmpty());
  EXPECT_EQ(found.version, "0");
  EXPECT_EQ(source_->Look().outcome, Outcome::kUnchanged);
}

TEST_P(DatabaseSourceTest, EachEditIsSeenOnceWithItsRevision) {
  source_->Look();
  Put(*editor_, "login");
  const Revision revision = Put(*editor_, "api");
  const Retrieved found = source_->Look();
  EXPECT_EQ(found.outcome, Outcome::kRules);
  EXPECT_THAT(NamesOf(found.sets), ElementsAre("shop/login", "shop/api"));
  EXPECT_EQ(found.version, std::to_string(revision));
  EXPECT_EQ(source_->Look().outcome, Outcome::kUnchanged);
  RevisionOf(editor_->Apply({{"shop", "login", std::nullopt, std::nullopt}}, {"ada", ""}));
  EXPECT_THAT(NamesOf(source_->Look().sets), ElementsAre("shop/api"));
}

TEST_P(DatabaseSourceTest, ARuleThatCannotBeReadIsToldOnceAndAFixedOneIsRead) {
  Put(*editor_, "login");
  source_->Look();
  const Revision revision = Put(*editor_, "login", "from_the_future: 1");
  const Retrieved bad = source_->Look();
  EXPECT_EQ(bad.outcome, Outcome::kBad);
  EXPECT_THAT(bad.sets, IsEmpty());
  ASSERT_FALSE(bad.problems.empty());
  EXPECT_EQ(bad.problems[0].file, "shop/login@" + std::to_string(revision));
  EXPECT_EQ(source_->Look().outcome, Outcome::kUnchanged);
  Put(*editor_, "login");
  EXPECT_EQ(source_->Look().outcome, Outcome::kRules);
}

TEST_P(DatabaseSourceTest, IsDescribedWithoutAPassword) {
  EXPECT_THAT(source_->Describe(),
              AllOf(HasSubstr("the database "), Not(HasSubstr(Postgres::password()))));
}

// --- files that come and go ----------------------------------------------------------------------

class DatabaseFileTest : public testing::Test {
 protected:
  // The database with all that belongs to it.
  void Move(const fs::path& from, const fs::path& to) const {
    fs::create_directories(database_.folder() / to);
    for (const char* name : {"rules.db", "rules.db-wal", "rules.db-shm"}) {
      if (fs::exists(database_.folder() / from / name)) {
        fs::rename(database_.folder() / from / name, database_.folder() / to / name);
      }
    }
  }
  RuleDatabase database_{Engine::kSqlite};
  std::unique_ptr<DatabaseSource> source_ = SourceOf(database_.url());
};

// SQLite itself would go on reading a file that has no name any more.
TEST_F(DatabaseFileTest, AFileThatIsGoneIsAwayAndNotMadeAnewAndBackWhenItIsBack) {
  Put(*database_.Open(), "login");
  EXPECT_EQ(source_->Look().outcome, Outcome::kRules);
  Move(".", "elsewhere");
  for (int i = 0; i < 2; ++i) {
    const Retrieved away = source_->Look();
    EXPECT_EQ(away.outcome, Outcome::kAway);
    EXPECT_THAT(away.away, HasSubstr("rules.db cannot be found: No such file or directory"));
  }
  EXPECT_FALSE(fs::exists(database_.folder() / "rules.db"));
  Move("elsewhere", ".");
  EXPECT_EQ(source_->Look().outcome, Outcome::kUnchanged);
  Put(*database_.Open(), "api");
  EXPECT_THAT(NamesOf(source_->Look().sets), ElementsAre("shop/login", "shop/api"));
}

TEST_F(DatabaseFileTest, AnotherFileInItsPlaceIsReadAlsoIfItsRevisionIsTheSame) {
  Put(*database_.Open(), "login");
  source_->Look();
  Move(".", "elsewhere");
  Put(*database_.Open(), "api");
  const Retrieved found = source_->Look();
  EXPECT_EQ(found.version, "1");
  EXPECT_THAT(NamesOf(found.sets), ElementsAre("shop/api"));
}

TEST_F(DatabaseFileTest, ADatabaseThatForgotEverythingTakesNoRulesOutOfForce) {
  Put(*database_.Open(), "login");
  source_->Look();
  Move(".", "elsewhere");
  database_.Open().reset();
  const Retrieved away = source_->Look();
  EXPECT_EQ(away.outcome, Outcome::kAway);
  EXPECT_THAT(away.away, HasSubstr("is empty, and was at revision 1 before"));
  EXPECT_EQ(source_->Look().outcome, Outcome::kAway);
  Put(*database_.Open(), "api");
  EXPECT_EQ(source_->Look().outcome, Outcome::kRules);
}

TEST_F(DatabaseFileTest, AFileThatIsNoDatabaseIsAwayFromTheStart) {
  std::ofstream(database_.folder() / "rules.db") << std::string(100'000, 'x');
  const Retrieved away = source_->Look();
  EXPECT_EQ(away.outcome, Outcome::kAway);
  EXPECT_THAT(away.away, HasSubstr("rules.db"));
  fs::remove(database_.folder() / "rules.db");
  EXPECT_EQ(source_->Look().outcome, Outcome::kRules);
}

TEST(DatabaseUrlOfASourceTest, AUrlThatIsNoneIsAnError) {
  EXPECT_FALSE(DatabaseSource::Of("mongodb://localhost").ok());
  EXPECT_FALSE(DatabaseSource::Of("").ok());
}

// --- with a retriever ----------------------------------------------------------------------------

class DatabaseRetrieval {
 public:
  DatabaseRetrieval(const std::string& url, milliseconds interval)
      : retriever_(SourceOf(url), {.interval = interval, .longest = interval},
                   [this](const std::vector<rule::RuleSet>& sets, const std::string&) {
                     return in_force_.Publish(sets);
                   }) {}

  Retriever& retriever() { return retriever_; }
  RulesInForce& in_force() { return in_force_; }

 private:
  RulesInForce in_force_;
  Retriever retriever_;  // last: uses the others
};

class DatabaseSourceConcurrentTest : public DatabaseSourceTest {};
INSTANTIATE_TEST_SUITE_P(Sqlite, DatabaseSourceConcurrentTest, testing::Values(Engine::kSqlite));
INSTANTIATE_TEST_SUITE_P(Postgres, DatabaseSourceConcurrentTest,
                         testing::Values(Engine::kPostgres));

TEST_P(DatabaseSourceConcurrentTest, EditsComeIntoForceByPolling) {
  DatabaseRetrieval retrieval(database_.url(), milliseconds(10));
  retrieval.retriever().Start();
  Put(*editor_, "login");
  ASSERT_TRUE(retrieval.in_force().Await({"shop/login"}));
  Put(*editor_, "login", "nonsense: 1");
  RetrieverStatus status = retrieval.retriever().LookNow(kLong);
  EXPECT_EQ(status.state(), State::kBad);
  EXPECT_TRUE(retrieval.in_force().Await({"shop/login"}));
  Put(*editor_, "login");
  Put(*editor_, "api");
  ASSERT_TRUE(retrieval.in_force().Await({"shop/login", "shop/api"}));
}

TEST_P(DatabaseSourceConcurrentTest, EndsPromptlyWhateverTheInterval) {
  for (int i = 0; i < 5; ++i) {
    DatabaseRetrieval retrieval(database_.url(), std::chrono::hours(1));
    retrieval.retriever().Start();
  }
}

TEST_P(DatabaseSourceConcurrentTest, LookNowSeesWhatWasEditedBeforeIt) {
  DatabaseRetrieval retrieval(database_.url(), std::chrono::hours(1));
  retrieval.retriever().Start();
  for (int i = 0; i < 10; ++i) {
    const Revision revision = Put(*editor_, "r" + std::to_string(i));
    EXPECT_EQ(retrieval.retriever().LookNow(kLong).version, std::to_string(revision));
  }
}

// The interval is an hour: only the server's notification can make this pass.
TEST(PostgresRetrieverConcurrentTest, ANotificationBringsAnEditIntoForceAtOnce) {
  const RuleDatabase database(Engine::kPostgres);
  const std::unique_ptr<RuleStore> editor = database.Open();
  DatabaseRetrieval retrieval(database.url(), std::chrono::hours(1));
  retrieval.retriever().Start();
  std::vector<std::string> expected;
  for (int i = 0; i < 5; ++i) {
    const std::string name = "r" + std::to_string(i);
    Put(*editor, name);
    expected.push_back("shop/" + name);
    ASSERT_TRUE(retrieval.in_force().Await(expected));
  }
}

TEST(PostgresRetrieverConcurrentTest, AServerThatIsAwayLeavesTheRulesAndIsFoundAgain) {
  Postgres server;
  const std::string url = server.NewDatabase();
  Put(*RuleStore::Open(url).value(), "login");
  DatabaseRetrieval retrieval(url, milliseconds(20));
  EXPECT_EQ(retrieval.retriever().Start().state(), State::kInForce);
  server.Stop();
  RetrieverStatus status = retrieval.retriever().LookNow(kLong);
  while (status.state() != State::kAway) status = retrieval.retriever().LookNow(kLong);
  EXPECT_EQ(status.version, "1");
  EXPECT_THAT(status.away, Not(HasSubstr(Postgres::password())));
  EXPECT_TRUE(retrieval.in_force().Await({"shop/login"}));
  server.Start();
  Put(*RuleStore::Open(url).value(), "api");
  ASSERT_TRUE(retrieval.in_force().Await({"shop/login", "shop/api"}));
  EXPECT_EQ(retrieval.retriever().LookNow(kLong).state(), State::kInForce);
}

TEST(PostgresRetrieverConcurrentTest, AServerThatComesLaterIsFound) {
  Postgres server;
  const std::string url = server.NewDatabase();
  server.Stop();
  DatabaseRetrieval retrieval(url, milliseconds(20));
  EXPECT_EQ(retrieval.retriever().Start().state(), State::kAway);
  server.Start();
  Put(*RuleStore::Open(url).value(), "login");
  ASSERT_TRUE(retrieval.in_force().Await({"shop/login"}));
}

}  // namespace
}  // namespace weir::catalog
