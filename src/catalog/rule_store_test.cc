// What a RuleStore does, said once and shown for SQLite and for PostgreSQL.
#include "catalog/rule_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <soci/soci.h>

#include <map>
#include <random>

#include "catalog/database.h"
#include "catalog/edit_check.h"
#include "catalog/migrations.h"
#include "tests/rule_database.h"

namespace weir::catalog {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RuleStoreTest : public testing::TestWithParam<Engine> {
 protected:
  void TearDown() override { EXPECT_EQ(WhatIsWrongWith(database_.url()), ""); }

  Revision Put(const std::string& name, const std::string& text,
               const std::string& space = "shop") {
    return RevisionOf(store_->Apply({{space, name, text, std::nullopt}}, {"ada", "put"}));
  }
  Revision Delete(const std::string& name) {
    return RevisionOf(store_->Apply({{"shop", name, std::nullopt, std::nullopt}}, {"ada", ""}));
  }
  StoreResult<Revision> PutFrom(Revision made_from, const std::string& name) {
    return store_->Apply({{"shop", name, "edited", made_from}}, {"bob", ""});
  }
  // "name=text" of all rules, in order.
  std::vector<std::string> Rules() {
    std::vector<std::string> rules;
    const Result<std::vector<StoredRule>> stored = store_->List(std::nullopt);
    EXPECT_TRUE(stored.ok()) << stored.error().message;
    for (const StoredRule& rule : *stored) rules.push_back(rule.name + "=" + rule.text);
    return rules;
  }

  RuleDatabase database_{GetParam()};
  std::unique_ptr<RuleStore> store_ = database_.Open();
};

INSTANTIATE_TEST_SUITE_P(Sqlite, RuleStoreTest, testing::Values(Engine::kSqlite));
INSTANTIATE_TEST_SUITE_P(Postgres, RuleStoreTest, testing::Values(Engine::kPostgres));

TEST_P(RuleStoreTest, BeginsEmptyAtRevisionZero) {
  EXPECT_EQ(store_->Latest().value(), 0);
  EXPECT_THAT(store_->List(std::nullopt).value(), IsEmpty());
  EXPECT_EQ(store_->ReadAll()->revision, 0);
  EXPECT_THAT(store_->ReadAll()->rules, IsEmpty());
  EXPECT_EQ(store_->Get("shop", "login").value(), std::nullopt);
  EXPECT_THAT(store_->History("shop", "", 10).value(), IsEmpty());
}

TEST_P(RuleStoreTest, EveryChangeGetsTheNextRevision) {
  EXPECT_EQ(Put("login", "5/min"), 1);
  EXPECT_EQ(Put("api", "10/s"), 2);
  EXPECT_EQ(Put("login", "6/min"), 3);
  EXPECT_EQ(Delete("api"), 4);
  EXPECT_EQ(Put("api", "11/s"), 5);
  EXPECT_EQ(store_->Latest().value(), 5);
  EXPECT_EQ(store_->Get("shop", "login").value(), (StoredRule{"shop", "login", 3, "6/min"}));
  EXPECT_EQ(store_->Get("other", "login").value(), std::nullopt);
}

TEST_P(RuleStoreTest, KeepsTextAsItIs) {
  const std::vector<std::string> texts = {
      "",
      "'; DROP TABLE weir_rules; --",
      ":name $1 ? %s \\ \" ` ::text",
      "Gr\u00fc\u00dfe \u20ac \U0001f600\r\n\ttab\x01",
      std::string(kLongestText, 'x'),
  };
  for (const std::string& text : texts) {
    Put("it's :name", text);
    EXPECT_EQ(store_->Get("shop", "it's :name").value()->text, text);
    EXPECT_EQ(store_->History("shop", "it's :name", 1)->at(0).text, text);
    EXPECT_EQ(store_->ReadAll()->rules.at(0).text, text);
  }
}

TEST_P(RuleStoreTest, RulesAreOrderedByNamespaceAndThenAsTheyWereMade) {
  Put("2", "", "b");
  Put("1", "", "b");
  Put("3", "", "B");  // a capital letter comes first: bytes are compared, in no language
  Put("2", "changed", "b");
  EXPECT_THAT(Rules(), ElementsAre("3=", "2=changed", "1="));
  const auto all = store_->ReadAll().value();
  EXPECT_EQ(all.rules, store_->List(std::nullopt).value());
  EXPECT_EQ(all.revision, 4);
  EXPECT_EQ(store_->List("B").value().size(), 1U);
  EXPECT_EQ(store_->List("b").value().size(), 2U);
}

TEST_P(RuleStoreTest, AnEditFromTheVersionInForceWinsAndOneFromAnOlderLoses) {
  Put("login", "5/min");
  EXPECT_EQ(RevisionOf(PutFrom(1, "login")), 2);
  const StoreResult<Revision> late = PutFrom(1, "login");
  ASSERT_TRUE(std::holds_alternative<Conflict>(late));
  EXPECT_EQ(std::get<Conflict>(late).made_from, 1);
  EXPECT_EQ(std::get<Conflict>(late).in_force, 2);
  EXPECT_EQ(MessageOf(late),
            "shop/login was changed: the edit was made from revision 1, and 2 is in force; read "
            "that one and make the edit again");
  EXPECT_EQ(store_->Latest().value(), 2);
}

TEST_P(RuleStoreTest, WhatIsThereCannotBeMadeAndWhatIsDeletedCannotBeEdited) {
  EXPECT_EQ(RevisionOf(PutFrom(0, "login")), 1);
  EXPECT_THAT(MessageOf(PutFrom(0, "login")),
              AllOf(HasSubstr("there is a rule shop/login already"), HasSubstr("revision 1")));
  Delete("login");
  EXPECT_THAT(MessageOf(PutFrom(1, "login")), HasSubstr("shop/login was deleted"));
  EXPECT_EQ(RevisionOf(PutFrom(0, "login")), 3);
}

TEST_P(RuleStoreTest, EditsAreMadeAllOrNone) {
  Put("b", "old");
  const StoreResult<Revision> result =
      store_->Apply({{"shop", "a", "new", 0}, {"shop", "b", "new", 7}}, {"ada", ""});
  EXPECT_TRUE(std::holds_alternative<Conflict>(result));
  EXPECT_THAT(Rules(), ElementsAre("b=old"));
  EXPECT_EQ(store_->Latest().value(), 1);
  EXPECT_EQ(RevisionOf(store_->Apply({{"shop", "a", "new", 0}, {"shop", "b", "new", 1}}, {})), 3);
  EXPECT_THAT(Rules(), ElementsAre("b=new", "a=new"));
}

TEST_P(RuleStoreTest, AnEditThatChangesNothingMakesNoRevision) {
  Put("login", "5/min");
  Put("other", "");
  EXPECT_EQ(Put("login", "5/min"), 1);
  EXPECT_EQ(Delete("nobody"), 0);
  EXPECT_EQ(RevisionOf(store_->Apply({}, {})), 2);
  EXPECT_EQ(store_->Latest().value(), 2);
}

TEST_P(RuleStoreTest, HistoryKeepsWhoWhenWhyAndTheWholeText) {
  const auto before =
      std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  ASSERT_EQ(RevisionOf(store_->Apply({{"shop", "login", "5/min", 0}}, {"ada", "too many"})), 1);
  ASSERT_EQ(RevisionOf(store_->Apply({{"shop", "login", std::nullopt, 1}}, {"bob", ""})), 2);
  const std::vector<Change> history = store_->History("shop", "login", 10).value();
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].revision, 2);
  EXPECT_EQ(history[0].text, std::nullopt);
  EXPECT_EQ(history[0].author, "bob");
  EXPECT_EQ(history[1].revision, 1);
  EXPECT_EQ(history[1].text, "5/min");
  EXPECT_EQ(history[1].author, "ada");
  EXPECT_EQ(history[1].comment, "too many");
  EXPECT_GE(history[1].time, before);
  EXPECT_LE(history[1].time, std::chrono::system_clock::now());
}

TEST_P(RuleStoreTest, HistoryIsOfOneRuleOrOfANamespaceAndAsLongAsAskedFor) {
  Put("a", "1");
  Put("b", "1");
  Put("a", "2");
  Put("a", "1", "other");
  EXPECT_EQ(store_->History("shop", "a", 10)->size(), 2U);
  EXPECT_EQ(store_->History("shop", "", 10)->size(), 3U);
  EXPECT_EQ(store_->History("shop", "", 2)->back().revision, 2);
  EXPECT_THAT(store_->History("shop", "", 0).value(), IsEmpty());
  EXPECT_THAT(store_->History("shop", "", -1).value(), IsEmpty());
}

TEST_P(RuleStoreTest, ARuleIsRolledBackByItself) {
  Put("a", "1");
  Put("b", "1");
  Put("a", "2");
  Put("b", "2");
  EXPECT_EQ(RevisionOf(store_->Rollback("shop", "a", 1, {"ada", "oops"})), 5);
  EXPECT_THAT(Rules(), ElementsAre("a=1", "b=2"));
  const Change change = store_->History("shop", "a", 1)->at(0);
  EXPECT_EQ(change.author, "ada");
  EXPECT_EQ(change.comment, "oops");
}

TEST_P(RuleStoreTest, ANamespaceIsRolledBackAsItWasAlsoInItsOrder) {
  Put("a", "1");
  Put("b", "1");
  Put("c", "1", "other");
  Delete("a");
  Put("a", "2");
  Put("d", "1");
  EXPECT_THAT(Rules(), ElementsAre("c=1", "b=1", "a=2", "d=1"));
  EXPECT_EQ(RevisionOf(store_->Rollback("shop", "", 3, {})), 8);  // a and d
  EXPECT_THAT(Rules(), ElementsAre("c=1", "a=1", "b=1"));
  EXPECT_EQ(RevisionOf(store_->Rollback("shop", "", 4, {})), 9);
  EXPECT_THAT(Rules(), ElementsAre("c=1", "b=1"));
  // A roll-back can be rolled back.
  EXPECT_EQ(RevisionOf(store_->Rollback("shop", "", 6, {})), 11);
  EXPECT_THAT(Rules(), ElementsAre("c=1", "b=1", "a=2", "d=1"));
}

TEST_P(RuleStoreTest, ARollbackToWhatIsInForceMakesNoRevision) {
  Put("a", "1");
  Put("b", "1");
  EXPECT_EQ(RevisionOf(store_->Rollback("shop", "", 2, {})), 2);
  EXPECT_EQ(RevisionOf(store_->Rollback("shop", "a", 1, {})), 2);
  EXPECT_EQ(store_->Latest().value(), 2);
}

TEST_P(RuleStoreTest, ThereIsNoRollbackToWhatNeverWas) {
  Put("a", "1");
  EXPECT_EQ(MessageOf(store_->Rollback("shop", "a", 2, {})),
            "cannot roll back rule shop/a to revision 2: the latest revision is 1");
  EXPECT_THAT(MessageOf(store_->Rollback("shop", "", 0, {})), HasSubstr("revisions begin with 1"));
  EXPECT_THAT(MessageOf(store_->Rollback("shop", "", -3, {})), HasSubstr("revision -3"));
  EXPECT_THAT(MessageOf(store_->Rollback("shop", "b", 1, {})), HasSubstr("there never was any"));
  EXPECT_EQ(store_->Latest().value(), 1);
}

TEST_P(RuleStoreTest, RefusesWhatIsNoTextOrTooMuch) {
  const auto message = [&](const Edit& edit, const Authorship& by = {}) {
    return MessageOf(store_->Apply({edit}, by));
  };
  const std::string nul("a\0b", 3);
  EXPECT_THAT(message({"shop", "a", nul, 0}), HasSubstr("the text of shop/a is not valid UTF-8"));
  EXPECT_THAT(message({"shop", nul, "", 0}), HasSubstr("at byte 2"));
  EXPECT_THAT(message({"\xff", "a", "", 0}), HasSubstr("the namespace is not valid UTF-8"));
  EXPECT_THAT(message({"", "a", "", 0}), HasSubstr("the namespace is empty"));
  EXPECT_THAT(message({"shop", "", "", 0}), HasSubstr("is empty"));
  EXPECT_THAT(message({"shop", std::string(kLongestName + 1, 'n'), "", 0}), HasSubstr("129 bytes"));
  EXPECT_THAT(message({"shop", "a", std::string(kLongestText + 1, 't'), 0}),
              HasSubstr("at most 1048576 are kept"));
  EXPECT_THAT(message({"shop", "a", "", 0}, {nul, ""}), HasSubstr("the author"));
  EXPECT_THAT(message({"shop", "a", "", 0}, {"", std::string(kLongestComment + 1, 'c')}),
              HasSubstr("the comment"));
  EXPECT_THAT(MessageOf(store_->Apply(std::vector<Edit>(kMostEdits + 1), {})),
              HasSubstr("too many"));
  EXPECT_EQ(store_->Latest().value(), 0);
  EXPECT_EQ(message({"shop", std::string(kLongestName, 'n'), std::string(kLongestText, 't'), 0},
                    {std::string(kLongestAuthor, 'a'), std::string(kLongestComment, 'c')}),
            "");
}

TEST_P(RuleStoreTest, EverythingIsThereAfterReopening) {
  Put("a", "1");
  Put("b", "1");
  const auto before = store_->ReadAll().value();
  store_.reset();
  store_ = database_.Open();
  EXPECT_EQ(store_->ReadAll()->rules, before.rules);
  EXPECT_EQ(store_->Latest().value(), 2);
  EXPECT_EQ(Put("c", "1"), 3);
}

TEST_P(RuleStoreTest, WhatOneStoreChangesAnotherSees) {
  const std::unique_ptr<RuleStore> other = database_.Open();
  Put("a", "1");
  EXPECT_EQ(other->Latest().value(), 1);
  EXPECT_EQ(other->Get("shop", "a").value()->text, "1");
}

TEST_P(RuleStoreTest, ADatabaseThatIsNewerThanTheProgramIsRefused) {
  Put("a", "1");
  const auto session = Connect(*ParseDatabaseUrl(database_.url()));
  const int newer = LatestSchema() + 1;
  *session << "INSERT INTO weir_schema (number) VALUES (:number)", soci::use(newer);
  const auto refused = RuleStore::Open(database_.url());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("it is newer than this program"), HasSubstr("version 2"),
                    HasSubstr("knows 1"), HasSubstr(ParseDatabaseUrl(database_.url())->shown)));
  *session << "DELETE FROM weir_schema WHERE number = :number", soci::use(newer);
  EXPECT_THAT(database_.Open()->List(std::nullopt).value().size(), 1U);
}

TEST_P(RuleStoreTest, NothingIsHeardWhenNothingChanges) {
  while (store_->WaitForChange(std::chrono::milliseconds(0)).value()) {
  }
  EXPECT_FALSE(store_->WaitForChange(std::chrono::milliseconds(20)).value());
  store_->Wake();  // also one that came before the wait ends it
  EXPECT_FALSE(store_->WaitForChange(std::chrono::hours(1)).value());
}

// A store as simple as can be: all states that there ever were.
class Model {
 public:
  using Rule = std::pair<Revision, std::string>;  // its place in the order, and the text
  using Rules = std::map<std::string, Rule>;

  void Put(const std::string& name, const std::string& text) {
    Rules rules = states_.back();
    const auto [found, made] = rules.try_emplace(name, latest() + 1, text);
    if (!made && found->second.second == text) return;
    found->second.second = text;
    states_.push_back(rules);
  }
  void Delete(const std::string& name) {
    Rules rules = states_.back();
    if (rules.erase(name) > 0) states_.push_back(rules);
  }
  void Rollback(const std::string& name, Revision to) {
    const Rules then = states_.at(static_cast<std::size_t>(to));
    const auto had = then.find(name);
    Rules rules = states_.back();
    if (had == then.end()) {
      rules.erase(name);
    } else {
      rules[name] = had->second;
    }
    if (rules != states_.back()) states_.push_back(rules);
  }

  [[nodiscard]] Revision latest() const { return static_cast<Revision>(states_.size()) - 1; }
  [[nodiscard]] std::vector<std::string> InOrder() const {
    std::map<Revision, std::string> ordered;
    for (const auto& [name, rule] : states_.back()) ordered[rule.first] = name + "=" + rule.second;
    std::vector<std::string> rules;
    for (const auto& [place, rule] : ordered) rules.push_back(rule);
    return rules;
  }

 private:
  std::vector<Rules> states_ = {{}};
};

TEST_P(RuleStoreTest, AnySequenceOfChangesLeavesWhatTheModelSays) {
  std::mt19937 random(7);
  Model model;
  for (int i = 0; i < 150; ++i) {
    const std::string name(1, static_cast<char>('a' + random() % 4));
    const std::string text = std::to_string(random() % 3);
    switch (random() % 5) {
      case 0:
        model.Delete(name);
        Delete(name);
        break;
      case 1:
        if (const auto to = static_cast<Revision>(random() % (model.latest() + 1)); to > 0) {
          const auto result = store_->Rollback("shop", name, to, {});
          if (std::holds_alternative<Revision>(result)) model.Rollback(name, to);
        }
        break;
      default:
        model.Put(name, text);
        Put(name, text);
    }
    ASSERT_EQ(store_->Latest().value(), model.latest());
    ASSERT_EQ(Rules(), model.InOrder());
  }
}

}  // namespace
}  // namespace weir::catalog
