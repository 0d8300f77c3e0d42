#include "service/rules_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/rule_database.h"

namespace weir {
namespace {

using catalog::Authorship;
using catalog::Engine;
using catalog::Revision;
using catalog::StoredRule;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using Why = Refused::Why;

const Authorship kAnn = {"ann", "because"};

constexpr char kShop[] = R"(namespace: shop
rules:
  - name: login   # five a minute
    match: {path: /login}
    by: [ip]
    limit: 5/min
  - name: api
    by: [user]
    limit: 10/s burst 20
)";

std::string MessageOf(const Refused& refused) {
  std::string text = refused.message;
  for (const rule::Problem& problem : refused.problems) text += problem.ToString() + "\n";
  return text;
}

// "created shop/login", in order.
std::vector<std::string> Told(const Applied& applied) {
  static constexpr const char* kWords[] = {"created ", "changed ", "deleted ", "moved "};
  std::vector<std::string> told;
  for (const Difference& difference : applied.differences) {
    told.push_back(kWords[static_cast<int>(difference.what)] + difference.space + "/" +
                   difference.name);
  }
  return told;
}

class RulesServiceTest : public testing::TestWithParam<Engine> {
 protected:
  void TearDown() override { EXPECT_EQ(catalog::WhatIsWrongWith(database_.url()), ""); }

  template <typename T>
  static T Done(ServiceResult<T> result) {
    if (const auto* refused = std::get_if<Refused>(&result)) {
      ADD_FAILURE() << MessageOf(*refused);
      return {};
    }
    return std::get<T>(std::move(result));
  }
  template <typename T>
  static Refused NotDone(const ServiceResult<T>& result) {
    if (const auto* refused = std::get_if<Refused>(&result)) return *refused;
    ADD_FAILURE() << "it was done";
    return {};
  }

  ServiceResult<Applied> Import(const std::string& text, Intent intent = Intent::kForReal) {
    return service_.Import({{"shop.yaml", text}}, kAnn, intent);
  }
  ServiceResult<Applied> Put(const std::string& text, std::optional<Revision> from = {},
                             Intent intent = Intent::kForReal) {
    return service_.Put("shop", {"rule.yaml", text}, from, kAnn, intent);
  }
  // "name@revision" of all rules, in order.
  std::vector<std::string> Kept() {
    std::vector<std::string> kept;
    for (const StoredRule& rule : Done(service_.List(std::nullopt))) {
      kept.push_back(rule.name + "@" + std::to_string(rule.revision));
    }
    return kept;
  }

  catalog::RuleDatabase database_{GetParam()};
  RulesService service_{database_.Open()};
};

INSTANTIATE_TEST_SUITE_P(Sqlite, RulesServiceTest, testing::Values(Engine::kSqlite));
INSTANTIATE_TEST_SUITE_P(Postgres, RulesServiceTest, testing::Values(Engine::kPostgres));

TEST_P(RulesServiceTest, ANamespaceIsReplacedFromTheRevisionThatIsInForce) {
  EXPECT_EQ(Done(service_.RevisionOf("shop")), 0);
  Done(Import(kShop));
  Done(service_.Import({{"other.yaml", "namespace: other\nrules: [{name: a, limit: 1/s}]\n"}},
                       kAnn));
  EXPECT_EQ(Done(service_.RevisionOf("shop")), 2) << "changes elsewhere are none of it";
  const catalog::RuleFile file{"body", "namespace: shop\nrules: [{name: api, limit: 1/s}]\n"};
  const Refused late = NotDone(service_.Replace("shop", file, 1, kAnn));
  EXPECT_EQ(late.why, Why::kConflict);
  EXPECT_THAT(late.message, HasSubstr("made from revision 1, and 2 is in force"));
  EXPECT_EQ(NotDone(service_.Replace("other", file, 3, kAnn)).why, Why::kInvalid);
  EXPECT_THAT(Told(Done(service_.Replace("shop", file, 2, kAnn, Intent::kDryRun))), SizeIs(2));
  EXPECT_EQ(Done(service_.RevisionOf("shop")), 2);
  EXPECT_THAT(Told(Done(service_.Replace("shop", file, 2, kAnn))),
              ElementsAre("changed shop/api", "deleted shop/login"));
  EXPECT_EQ(Done(service_.RevisionOf("shop")), 5) << "a deletion is a change too";
}

TEST_P(RulesServiceTest, TheDifferenceOfTwoRevisionsIsTold) {
  Done(Import(kShop));
  Done(service_.Replace("shop", {"body", "namespace: shop\nrules: [{name: api, limit: 1/s}]\n"},
                        std::nullopt, kAnn));
  const auto differences = Done(service_.Diff("shop", "", 2, 4));
  ASSERT_THAT(differences, SizeIs(2));
  EXPECT_EQ(differences[0].name, "api");
  EXPECT_THAT(differences[0].before, HasSubstr("10/s"));
  EXPECT_THAT(differences[0].after, HasSubstr("1/s"));
  EXPECT_EQ(differences[1].what, Difference::What::kDeleted);
  EXPECT_THAT(Done(service_.Diff("shop", "api", 0, 4)), SizeIs(1));
  EXPECT_THAT(Done(service_.Diff("shop", "", 2, 2)), SizeIs(0));
  EXPECT_EQ(NotDone(service_.Diff("nowhere", "", 0, 1)).why, Why::kNotFound);
}

TEST_P(RulesServiceTest, AnImportIsOneChangeAndTheSameAgainChangesNothing) {
  EXPECT_THAT(Told(Done(Import(kShop))), ElementsAre("created shop/login", "created shop/api"));
  EXPECT_THAT(Kept(), ElementsAre("login@1", "api@2"));
  const Applied again = Done(Import(kShop));
  EXPECT_THAT(Told(again), IsEmpty());
  EXPECT_EQ(again.revision, 2);
}

TEST_P(RulesServiceTest, WhatIsExportedCanBeImportedAndChangesNothing) {
  Done(Import(kShop));
  Done(Put("# mine\nname: api\nby: [user]\nlimit: 11/s\n"));
  const std::string exported = Done(service_.Export("shop"));
  EXPECT_THAT(exported, AllOf(HasSubstr("namespace: shop\n"), HasSubstr("11/s")));
  EXPECT_THAT(Told(Done(Import(exported))), IsEmpty());
  EXPECT_EQ(Done(service_.Export("shop")), exported);
  EXPECT_THAT(Kept(), ElementsAre("login@1", "api@3"));
}

TEST_P(RulesServiceTest, AnImportTouchesOnlyWhatMeansSomethingElse) {
  Done(Import(kShop));
  const Applied applied = Done(Import(R"(namespace: shop
rules:
  - {name: fresh, limit: 1/s}
  - {name: login, match: {path: [/login]}, by: [[ip]], limit: token_bucket 5/1m}
)"));
  EXPECT_THAT(Told(applied), ElementsAre("created shop/fresh", "deleted shop/api"));
  EXPECT_THAT(Kept(), ElementsAre("login@1", "fresh@3"));
  EXPECT_EQ(applied.revision, 4);
}

TEST_P(RulesServiceTest, AnImportOfNoRulesDeletesThemAndLeavesAnEmptyNamespace) {
  Done(Import(kShop));
  Done(Import("namespace: shop\nrules: []\n"));
  EXPECT_THAT(Kept(), IsEmpty());
  EXPECT_THAT(Done(service_.List("shop")), IsEmpty());
  EXPECT_EQ(Done(service_.Export("shop")), "namespace: shop\nrules: []\n");
}

TEST_P(RulesServiceTest, SeveralFilesAreImportedTogetherOrNotAtAll) {
  const std::string good = "namespace: a\nrules: [{name: r, limit: 1/s}]\n";
  const std::string bad = "namespace: b\nrules: [{name: r, limit: 1/parsec}]\n";
  EXPECT_EQ(NotDone(service_.Import({{"a.yaml", good}, {"b.yaml", bad}}, kAnn)).why, Why::kInvalid);
  const Refused twice = NotDone(service_.Import({{"a.yaml", good}, {"c.yaml", good}}, kAnn));
  EXPECT_THAT(MessageOf(twice), AllOf(HasSubstr("c.yaml"), HasSubstr("in a.yaml already")));
  EXPECT_THAT(Kept(), IsEmpty());
}

TEST_P(RulesServiceTest, EnvoysFileIsImportedAndItsOrderIsKept) {
  const auto file = [](const std::string& first, const std::string& second) {
    std::string text = "domain: edge\ndescriptors:\n";
    for (const std::string& value : {first, second}) {
      text += "  - {key: path, value: '" + value +
              "', rate_limit: {unit: second, requests_per_unit: 5}}\n";
    }
    return text;
  };
  EXPECT_THAT(Told(Done(Import(file("/a*", "/*")))), SizeIs(2));
  const std::vector<std::string> before = Kept();
  EXPECT_THAT(Told(Done(Import(file("/a*", "/*")))), IsEmpty());
  // The first wildcard that matches counts, so the order means something.
  const Applied swapped = Done(Import(file("/*", "/a*")));
  EXPECT_THAT(Told(swapped), ElementsAre(HasSubstr("moved edge/path_/a")));
  const std::vector<StoredRule> rules = Done(service_.List("edge"));
  EXPECT_THAT(rules.at(0).text, HasSubstr("\"/*\""));
  EXPECT_THAT(rules.at(1).text, HasSubstr("\"/a*\""));
}

TEST_P(RulesServiceTest, ADomainThatIsNoNamespaceCannotBeKept) {
  const Refused refused = NotDone(Import("domain: a/b\ndescriptors: [{key: k}]\n"));
  EXPECT_EQ(refused.why, Why::kInvalid);
  EXPECT_THAT(MessageOf(refused), AllOf(HasSubstr("shop.yaml"), HasSubstr("'a/b'")));
}

TEST_P(RulesServiceTest, ARuleIsKeptAsItWasWritten) {
  const std::string text = "# mine\nname:   login\nlimit: 5/min   # a few\n";
  EXPECT_THAT(Told(Done(Put(text))), ElementsAre("created shop/login"));
  EXPECT_EQ(Done(service_.Get("shop", "login")).text, text);
}

TEST_P(RulesServiceTest, ABadRuleIsRefusedWithAllProblemsAndNothingIsKept) {
  const Refused refused = NotDone(Put("name: login\nlimt: 5/min\nmode: maybe\n"));
  EXPECT_EQ(refused.why, Why::kInvalid);
  EXPECT_THAT(MessageOf(refused),
              AllOf(HasSubstr("rule.yaml:2:1"), HasSubstr("rule.yaml:3:7"), HasSubstr("limit")));
  EXPECT_EQ(NotDone(service_.Put("no/space", {"r", "name: a\nlimit: 1/s"}, {}, kAnn)).why,
            Why::kInvalid);
  EXPECT_EQ(
      NotDone(service_.Put("shop", {"r", "name: a\nlimit: 1/s"}, {}, {std::string(300, 'x'), ""}))
          .why,
      Why::kInvalid);
  EXPECT_THAT(Kept(), IsEmpty());
}

TEST_P(RulesServiceTest, ARuleMustGoTogetherWithThoseItWillStandBeside) {
  std::string by = "by: [a0";
  for (int i = 1; i < 16; ++i) by += ", a" + std::to_string(i);
  // Four rules of 16 attributes each: 64, and `ip` is one too many.
  for (int i = 0; i < 4; ++i) {
    std::string text = "name: r" + std::to_string(i) + "\n" + by + "]\nlimit: 1/s\n";
    for (std::size_t at = 0; (at = text.find(" a", at)) != std::string::npos; ++at) {
      text[at + 1] = static_cast<char>('a' + i);
    }
    text.replace(text.find("[a0"), 3, "[" + std::string(1, static_cast<char>('a' + i)) + "0");
    if (i < 3) {
      Done(Put(text));
    } else {
      EXPECT_THAT(MessageOf(NotDone(Put(text))), HasSubstr("64 attributes"));
    }
  }
  EXPECT_THAT(Kept(), SizeIs(3));
}

TEST_P(RulesServiceTest, AnEditFromAnOlderRevisionIsAConflictThatSaysSo) {
  Done(Put("name: login\nlimit: 5/min\n", 0));
  Done(Put("name: login\nlimit: 6/min\n", 1));
  for (const Intent intent : {Intent::kForReal, Intent::kDryRun}) {
    const Refused refused = NotDone(Put("name: login\nlimit: 7/min\n", 1, intent));
    EXPECT_EQ(refused.why, Why::kConflict);
    EXPECT_THAT(refused.message, HasSubstr("shop/login was changed: the edit was made from "
                                           "revision 1, and 2 is in force"));
    EXPECT_EQ(NotDone(Put("name: login\nlimit: 7/min\n", 0, intent)).why, Why::kConflict);
    EXPECT_EQ(NotDone(service_.Delete("shop", "login", 1, kAnn, intent)).why, Why::kConflict);
  }
  EXPECT_THAT(Kept(), ElementsAre("login@2"));
  EXPECT_THAT(Told(Done(Put("name: login\nlimit: 7/min\n"))), ElementsAre("changed shop/login"));
}

TEST_P(RulesServiceTest, ADryRunTellsTheDifferencesAndChangesNothing) {
  Done(Import(kShop));
  const Applied put = Done(Put("name: api\nlimit: 1/s\n", 2, Intent::kDryRun));
  ASSERT_THAT(Told(put), ElementsAre("changed shop/api"));
  EXPECT_THAT(put.differences[0].before, HasSubstr("10/s"));
  EXPECT_EQ(put.differences[0].after, "name: api\nlimit: 1/s\n");
  EXPECT_THAT(Told(Done(service_.Delete("shop", "api", {}, kAnn, Intent::kDryRun))),
              ElementsAre("deleted shop/api"));
  EXPECT_THAT(Told(Done(service_.Rollback("shop", "", 1, kAnn, Intent::kDryRun))),
              ElementsAre("deleted shop/api"));
  EXPECT_THAT(Told(Done(Import("namespace: shop\nrules: []\n", Intent::kDryRun))),
              ElementsAre("deleted shop/login", "deleted shop/api"));
  EXPECT_THAT(Kept(), ElementsAre("login@1", "api@2"));
  EXPECT_THAT(Done(service_.History("shop", "", 100)), SizeIs(2));
}

TEST_P(RulesServiceTest, ARollbackBringsBackADeletedRuleToItsPlace) {
  Done(Import(kShop));
  Done(service_.Delete("shop", "login", 1, kAnn));
  EXPECT_THAT(Kept(), ElementsAre("api@2"));
  const Applied dry = Done(service_.Rollback("shop", "login", 2, kAnn, Intent::kDryRun));
  const Applied real = Done(service_.Rollback("shop", "login", 2, kAnn));
  EXPECT_THAT(Told(dry), ElementsAre("created shop/login"));
  EXPECT_EQ(Told(dry), Told(real));
  EXPECT_EQ(dry.differences[0].after, real.differences[0].after);
  EXPECT_EQ(real.revision, 4);
  EXPECT_THAT(Kept(), ElementsAre("login@4", "api@2"));
}

TEST_P(RulesServiceTest, ARollbackOfANamespaceUndoesEverythingSince) {
  Done(Import(kShop));
  Done(Put("name: api\nlimit: 1/s\n"));
  Done(Put("name: fresh\nlimit: 1/s\n"));
  Done(service_.Delete("shop", "login", {}, kAnn));
  const std::vector<std::string> would =
      Told(Done(service_.Rollback("shop", "", 2, kAnn, Intent::kDryRun)));
  EXPECT_THAT(would, ElementsAre("changed shop/api", "deleted shop/fresh", "created shop/login"));
  EXPECT_EQ(Told(Done(service_.Rollback("shop", "", 2, kAnn))), would);
  EXPECT_THAT(Told(Done(Import(kShop))), IsEmpty());
}

TEST_P(RulesServiceTest, ARollbackNeedsARevisionThatThereIs) {
  Done(Import(kShop));
  for (const Revision to : {Revision{-1}, Revision{0}, Revision{3}}) {
    const Refused refused = NotDone(service_.Rollback("shop", "", to, kAnn));
    EXPECT_EQ(refused.why, Why::kInvalid);
    EXPECT_THAT(refused.message, HasSubstr("from 1 to 2"));
  }
  EXPECT_EQ(NotDone(service_.Rollback("shop", "none", 1, kAnn)).why, Why::kNotFound);
}

TEST_P(RulesServiceTest, WhatIsNotThereIsNotFoundAndTheClosestNameIsSuggested) {
  Done(Import(kShop));
  const Refused refused = NotDone(service_.Get("shop", "logn"));
  EXPECT_EQ(refused.why, Why::kNotFound);
  EXPECT_THAT(refused.message, AllOf(HasSubstr("shop/logn"), HasSubstr("'login'")));
  EXPECT_EQ(NotDone(service_.Delete("shop", "logn", {}, kAnn)).why, Why::kNotFound);
  EXPECT_EQ(NotDone(service_.List("shoq")).why, Why::kNotFound);
  EXPECT_EQ(NotDone(service_.Export("shoq")).why, Why::kNotFound);
  EXPECT_EQ(NotDone(service_.History("shop", "logn", 10)).why, Why::kNotFound);
}

TEST_P(RulesServiceTest, TheHistorySaysWhoAndWhyTheLastFirst) {
  Done(Import(kShop));
  Done(service_.Delete("shop", "login", {}, {"bob", "gone"}));
  const std::vector<catalog::Change> all = Done(service_.History("shop", "", 10));
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[0].author + " " + all[0].comment, "bob gone");
  EXPECT_EQ(all[0].text, std::nullopt);
  EXPECT_EQ(all[2].author, "ann");
  EXPECT_THAT(Done(service_.History("shop", "api", 10)), SizeIs(1));
  EXPECT_THAT(Done(service_.History("shop", "", 2)), SizeIs(2));
}

TEST_P(RulesServiceTest, WhatIsWrongAlreadyStopsNoOtherEditAndCanBeMended) {
  catalog::RevisionOf(
      database_.Open()->Apply({{"shop", "odd", "name: odd\nlimit: 5/parsec\n", 0}}, kAnn));
  EXPECT_THAT(MessageOf(NotDone(service_.Export("shop"))), HasSubstr("shop/odd@1"));
  Done(Put("name: login\nlimit: 5/min\n"));
  Done(Put("name: odd\nlimit: 5/min\n"));
  EXPECT_THAT(Done(service_.Export("shop")), Not(HasSubstr("parsec")));
  // To go back to what was wrong is to make it wrong.
  EXPECT_EQ(NotDone(service_.Rollback("shop", "odd", 1, kAnn)).why, Why::kInvalid);
}

}  // namespace
}  // namespace weir
