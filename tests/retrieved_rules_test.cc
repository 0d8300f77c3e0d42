// From an edit in a real database to the decision it changes: store, retriever, checker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "catalog/database_source.h"
#include "catalog/file_source.h"
#include "catalog/retriever.h"
#include "catalog/rule_store.h"
#include "service/checker.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using catalog::Retriever;
using catalog::RetrieverStatus;
using State = catalog::RetrieverStatus::State;
using testing::HasSubstr;

constexpr std::chrono::minutes kLong{1};
constexpr Instant kNow{std::chrono::seconds(1'780'315'200)};

// A limiter whose rules come from `source`, looked at when the test says so.
class RetrievedRulesConcurrentTest : public testing::Test {
 protected:
  void Watch(std::unique_ptr<catalog::RuleSource> source) {
    retriever_ = std::make_unique<Retriever>(
        std::move(source), catalog::RetrieverOptions{.interval = std::chrono::hours(1)},
        [this](std::vector<rule::RuleSet> sets, const std::string& version) {
          return checker_.Publish(std::move(sets), version);
        });
    retriever_->Start();
  }
  State Look() { return retriever_->LookNow(kLong).state(); }

  // How many of `count` requests of one user pass.
  int Passing(int count) {
    int passed = 0;
    CheckReply reply;
    const rule::Attribute attributes[] = {{"user", "ann"}};
    for (int i = 0; i < count; ++i) {
      checker_.Check({"shop", attributes}, kNow, reply);
      if (reply.allowed()) ++passed;
    }
    return passed;
  }

  TemporaryFile file_;
  Checker checker_{std::move(Ledger::Open({.max_keys = 1000})).value(), {}};
  std::unique_ptr<Retriever> retriever_;
};

void Put(catalog::RuleStore& store, const std::string& text) {
  const auto applied = store.Apply({{"shop", "a", text, std::nullopt}}, {"ann", "a test"});
  ASSERT_TRUE(std::holds_alternative<catalog::Revision>(applied));
}

TEST_F(RetrievedRulesConcurrentTest, AnEditChangesTheLimitAndKeepsWhatWasCounted) {
  const auto store = catalog::RuleStore::Open(file_.path()).value();
  Put(*store, "{name: a, by: [user], limit: 5/h}");
  Watch(catalog::DatabaseSource::Of(file_.path()).value());
  EXPECT_EQ(Passing(3), 3);
  Put(*store, "{name: a, by: [user], limit: 8/h}");
  EXPECT_EQ(Look(), State::kInForce);
  EXPECT_EQ(Passing(10), 5);
  EXPECT_TRUE(std::holds_alternative<catalog::Revision>(
      store->Rollback("shop", "a", 1, {"ann", "too generous"})));
  EXPECT_EQ(Look(), State::kInForce);
  EXPECT_EQ(Passing(1), 0);
}

TEST_F(RetrievedRulesConcurrentTest, ADatabaseThatIsAwayOrHoldsNonsenseLeavesTheRulesInForce) {
  {
    const auto store = catalog::RuleStore::Open(file_.path()).value();
    Put(*store, "{name: a, by: [user], limit: 5/h}");
    Watch(catalog::DatabaseSource::Of(file_.path()).value());
    Put(*store, "{name: a, by: [user], limit: nonsense}");
    EXPECT_EQ(Look(), State::kBad);
    EXPECT_EQ(Passing(3), 3);
  }
  std::filesystem::rename(file_.path(), file_.path() + ".away");
  EXPECT_EQ(Look(), State::kAway);
  EXPECT_EQ(Passing(1), 1);
  std::filesystem::rename(file_.path() + ".away", file_.path());
  Put(*catalog::RuleStore::Open(file_.path()).value(), "{name: a, by: [user], limit: 7/h}");
  EXPECT_EQ(Look(), State::kInForce);
  EXPECT_EQ(Passing(10), 3);
}

TEST_F(RetrievedRulesConcurrentTest, ABadFileChangesNothingAndSaysWhereItIsWrong) {
  const std::string path = file_.path() + ".yaml";
  std::ofstream(path) << "namespace: shop\nrules: [{name: a, by: [user], limit: 2/h}]\n";
  Watch(std::make_unique<catalog::FileSource>(path));
  EXPECT_EQ(Passing(1), 1);
  std::ofstream(path) << "namespace: shop\nrules: [{name: a, by: [user], limit: 0/h}]\n";
  EXPECT_EQ(Look(), State::kBad);
  const rule::Problems problems = retriever_->status().problems;
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].ToString(), HasSubstr(path + ":2:"));
  EXPECT_EQ(Passing(5), 1);
}

}  // namespace
}  // namespace weir
