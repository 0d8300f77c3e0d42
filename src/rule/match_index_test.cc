#include "rule/match_index.h"

#include <gmock/gmock.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "rule/pattern.h"

namespace weir::rule {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Condition Is(const std::string& attribute, PatternKind kind, std::vector<std::string> texts) {
  Condition condition{attribute, {}, false};
  for (std::string& text : texts) condition.any_of.push_back({kind, std::move(text)});
  return condition;
}

Condition Not(Condition condition) {
  condition.negated = true;
  return condition;
}

Condition Path(const std::string& glob) { return Is("path", PatternKind::kGlob, {glob}); }
Condition Method(const std::string& text) { return Is("method", PatternKind::kExact, {text}); }

// Matches, their index, and what a request finds.
class Indexed {
 public:
  explicit Indexed(std::vector<Match> matches) : matches_(std::move(matches)), index_(Make()) {}

  std::vector<std::uint32_t> Find(const std::vector<Attribute>& request) const {
    std::vector<std::uint32_t> found;
    const Values values(schema_, request);
    index_.Find(values, found);
    EXPECT_EQ(index_.First(values), found.empty() ? std::nullopt : std::optional(found.front()));
    return found;
  }

  // What the index must find, by trying every match.
  std::vector<std::uint32_t> Try(const std::vector<Attribute>& request) const {
    std::vector<std::uint32_t> found;
    const Values values(schema_, request);
    for (std::size_t m = 0; m < matches_.size(); ++m) {
      const bool holds =
          std::all_of(matches_[m].begin(), matches_[m].end(), [&](const Condition& condition) {
            const std::string_view value = values[*schema_.Find(condition.attribute)];
            return condition.negated !=
                   std::any_of(condition.any_of.begin(), condition.any_of.end(),
                               [&](const Pattern& pattern) { return Matches(pattern, value); });
          });
      if (holds) found.push_back(static_cast<std::uint32_t>(m));
    }
    return found;
  }

 private:
  MatchIndex Make() {
    std::vector<const Match*> pointers;
    for (const Match& match : matches_) pointers.push_back(&match);
    return {pointers, schema_};
  }

  std::vector<Match> matches_;
  Schema schema_;
  MatchIndex index_;
};

TEST(MatchIndexTest, WithoutMatchesFindsNothing) {
  EXPECT_THAT(Indexed({}).Find({{"path", "/"}}), IsEmpty());
}

TEST(MatchIndexTest, AMatchWithoutConditionsHoldsForEveryRequest) {
  const Indexed indexed({{}, {Path("/a")}, {}});
  EXPECT_THAT(indexed.Find({}), ElementsAre(0, 2));
  EXPECT_THAT(indexed.Find({{"path", "/a"}}), ElementsAre(0, 1, 2));
}

TEST(MatchIndexTest, AllConditionsOfAMatchMustHold) {
  const Indexed indexed({{Path("/login"), Method("POST")}, {Path("/login"), Method("GET")}});
  EXPECT_THAT(indexed.Find({{"path", "/login"}, {"method", "POST"}}), ElementsAre(0));
  EXPECT_THAT(indexed.Find({{"path", "/login"}, {"method", "GET"}}), ElementsAre(1));
  EXPECT_THAT(indexed.Find({{"path", "/login"}}), IsEmpty());
  EXPECT_THAT(indexed.Find({{"path", "/"}, {"method", "GET"}}), IsEmpty());
}

TEST(MatchIndexTest, AMatchFoundByTwoValuesOfAListIsFoundOnce) {
  const Indexed indexed({{Is("path", PatternKind::kGlob, {"/a/**", "/*/b", "/a/b", "**"})}});
  EXPECT_THAT(indexed.Find({{"path", "/a/b"}}), ElementsAre(0));
}

TEST(MatchIndexTest, NegatedConditionsHoldForRequestsWithoutTheAttribute) {
  const Indexed indexed({{Not(Method("GET"))}, {Path("/a"), Not(Method("GET"))}});
  EXPECT_THAT(indexed.Find({}), ElementsAre(0));
  EXPECT_THAT(indexed.Find({{"path", "/a"}}), ElementsAre(0, 1));
  EXPECT_THAT(indexed.Find({{"path", "/a"}, {"method", "GET"}}), IsEmpty());
  EXPECT_THAT(indexed.Find({{"path", "/a"}, {"method", ""}}), ElementsAre(0, 1));
}

TEST(MatchIndexTest, AnEmptyValueIsThereAndAnAbsentOneIsNot) {
  const Indexed indexed({{Is("user", PatternKind::kPresent, {""})},
                         {Is("user", PatternKind::kExact, {""})},
                         {Is("user", PatternKind::kPrefix, {""})},
                         {Not(Is("user", PatternKind::kPresent, {""}))}});
  EXPECT_THAT(indexed.Find({{"user", ""}}), ElementsAre(0, 1, 2));
  EXPECT_THAT(indexed.Find({{"user", "u"}}), ElementsAre(0, 2));
  EXPECT_THAT(indexed.Find({}), ElementsAre(3));
}

TEST(MatchIndexTest, AnEmptyValueIsThereWhereverItLies) {
  // Not what a request is found by: the path is that.
  const Indexed matches({{Path("/a"), Is("host", PatternKind::kPresent, {""})},
                         {Path("/a"), Is("host", PatternKind::kGlob, {"**"})},
                         {Path("/a"), Not(Is("host", PatternKind::kPresent, {""}))}});
  EXPECT_THAT(matches.Find({{"path", "/a"}, {"host", ""}}), ElementsAre(0, 1));
  EXPECT_THAT(matches.Find({{"path", "/a"}, {"host", std::string_view()}}), ElementsAre(0, 1));
  EXPECT_THAT(matches.Find({{"path", "/a"}}), ElementsAre(2));
}

TEST(MatchIndexTest, AConditionThatAllowsNothingNeverHolds) {
  const Indexed indexed({{Condition{"user", {}, false}}, {Condition{"user", {}, true}}});
  EXPECT_THAT(indexed.Find({{"user", "u"}}), ElementsAre(1));
}

TEST(MatchIndexTest, NetworksWithinNetworksAreAllFound) {
  const auto ip = [](const std::string& text) { return Is("ip", PatternKind::kCidr, {text}); };
  const Indexed indexed({{ip("10.0.0.0/8")},
                         {ip("10.1.0.0/16")},
                         {ip("10.1.2.3")},
                         {ip("0.0.0.0/0")},
                         {ip("::/0")},
                         {ip("2001:db8::/32")},
                         {Is("peer", PatternKind::kCidr, {"10.0.0.0/8"})}});
  EXPECT_THAT(indexed.Find({{"ip", "10.1.2.3"}}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(indexed.Find({{"ip", "::ffff:10.1.2.4"}}), ElementsAre(0, 1, 3));
  EXPECT_THAT(indexed.Find({{"ip", "2001:db8::1"}}), ElementsAre(4, 5));
  EXPECT_THAT(indexed.Find({{"ip", "2001:db9::1"}}), ElementsAre(4));
  EXPECT_THAT(indexed.Find({{"ip", "not an address"}}), IsEmpty());
  EXPECT_THAT(indexed.Find({{"peer", "10.9.9.9"}}), ElementsAre(6));
}

TEST(MatchIndexTest, ExpressionsAreFoundWithAndWithoutACommonBeginning) {
  const auto path = [](const std::string& text) { return Is("path", PatternKind::kRegex, {text}); };
  const Indexed indexed({{path("/svc-1/v[0-9]+")},
                         {path("/svc-1.*")},
                         {path(".*/v1")},
                         {path("(?i)/SVC-1/V1")},
                         {path("/svc-2/.*|/svc-1/.*")}});
  EXPECT_THAT(indexed.Find({{"path", "/svc-1/v1"}}), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(indexed.Find({{"path", "/svc-1/v1\xFF"}}), ElementsAre(1, 4));
  EXPECT_THAT(indexed.Find({{"path", "/svc-3/v1"}}), ElementsAre(2));
}

TEST(MatchIndexTest, ALongListIsOneOfThem) {
  std::vector<std::string> users;
  for (int i = 0; i < 1000; ++i) users.push_back("user-" + std::to_string(i));
  const Indexed indexed({{Path("/a"), Not(Is("user", PatternKind::kExact, users))},
                         {Path("/a"), Is("user", PatternKind::kExact, users)}});
  EXPECT_THAT(indexed.Find({{"path", "/a"}, {"user", "user-999"}}), ElementsAre(1));
  EXPECT_THAT(indexed.Find({{"path", "/a"}, {"user", "user-1000"}}), ElementsAre(0));
}

TEST(MatchIndexTest, ManyStarsOnALongValueTakeNoLongerThanTheirProduct) {
  std::string stars;
  std::string double_stars;
  for (int i = 0; i < 100; ++i) {
    stars += "*a";
    double_stars += "**a*a";
  }
  const Indexed indexed({{Path(stars + "*b")}, {Path(double_stars + "?b")}, {Path(stars)}});
  const std::string value(4000, 'a');
  const std::string with_end = value + "b";
  EXPECT_THAT(indexed.Find({{"path", value}}), ElementsAre(2));
  EXPECT_THAT(indexed.Find({{"path", with_end}}), ElementsAre(0, 1));
}

// Small alphabets, so that random patterns and values meet.
class RandomMatches {
 public:
  explicit RandomMatches(std::uint32_t seed) : random_(seed) {}

  Match NextMatch() {
    Match match(Below(4));
    for (Condition& condition : match) {
      condition.attribute = Attribute();
      condition.negated = Below(4) == 0;
      condition.any_of.resize(Below(20) == 0 ? Below(30) : Below(8) == 0 ? 0 : 1 + Below(3));
      for (Pattern& pattern : condition.any_of) pattern = NextPattern();
    }
    return match;
  }

  std::string Value() {
    switch (Below(4)) {
      case 0:
        return AddressText();
      case 1:
        return Text("ab/", 4);
      default:
        return Text("aab/", 14);
    }
  }

  std::string Attribute() { return kAttributes[Below(4)]; }
  std::uint32_t Below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  static constexpr const char* kAttributes[] = {"ip", "path", "host", "user"};

 private:
  Pattern NextPattern() {
    switch (Below(10)) {
      case 0:
      case 1:
        return {PatternKind::kExact, Below(2) == 0 ? AddressText() : Text("ab/", 3)};
      case 2:
        return {PatternKind::kPrefix, Text("ab/", 4)};
      case 3:
        return {PatternKind::kRegex, Expression()};
      case 4:
      case 5:
        return {PatternKind::kCidr, NetworkText()};
      case 6:
        return {PatternKind::kPresent, ""};
      default:
        return {PatternKind::kGlob, Text("ab//**?", 10)};
    }
  }

  std::string Text(std::string_view letters, std::uint32_t longest) {
    std::string text(Below(longest + 1), ' ');
    for (char& c : text) c = letters[Below(static_cast<std::uint32_t>(letters.size()))];
    return text;
  }

  std::string Expression() {
    static constexpr const char* kPieces[] = {"a",    "b",       "/",  ".*",
                                              "[ab]", "(a|b/)+", "a?", "[^/]*"};
    std::string text;
    for (std::uint32_t i = Below(6); i > 0; --i) text += kPieces[Below(8)];
    return Below(8) == 0 ? text + "|" + Text("ab/", 4) : text;
  }

  std::string AddressText() {
    const auto small = [&] { return std::to_string(Below(3)); };
    switch (Below(3)) {
      case 0:
        return "1." + small() + ".0." + small();
      case 1:
        return "::ffff:1." + small() + ".0." + small();
      default:
        return "2001:" + small() + "::" + small();
    }
  }

  std::string NetworkText() {
    const Address address = *Address::Parse(AddressText());
    static constexpr unsigned kBits[] = {0, 1, 8, 15, 16, 24, 31, 32};
    const unsigned bits = kBits[Below(8)];
    return Network(address, address.is_v4() ? bits : bits * 4).ToString();
  }

  std::mt19937 random_;
};

TEST(MatchIndexTest, FindsWhatTryingEveryMatchFinds) {
  std::size_t found = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    RandomMatches random(seed);
    std::vector<Match> matches(1 + random.Below(seed % 2 == 0 ? 20 : 400));
    for (Match& match : matches) match = random.NextMatch();
    const Indexed indexed(matches);
    for (int i = 0; i < 40; ++i) {
      std::vector<std::string> texts;
      for (int a = 0; a < 4; ++a) texts.push_back(random.Value());
      std::vector<Attribute> request;
      for (std::size_t a = 0; a < 4; ++a) {
        if (random.Below(5) > 0) request.push_back({RandomMatches::kAttributes[a], texts[a]});
      }
      const auto expected = indexed.Try(request);
      ASSERT_EQ(indexed.Find(request), expected) << "seed " << seed << ", request " << i;
      found += expected.size();
    }
  }
  EXPECT_GT(found, 10'000U);
}

TEST(MatchIndexConcurrentTest, ManyThreadsFindTheSame) {
  RandomMatches random(7);
  std::vector<Match> matches(200);
  for (Match& match : matches) match = random.NextMatch();
  const Indexed indexed(matches);
  std::vector<std::string> texts;
  std::vector<std::vector<std::uint32_t>> expected;
  for (int i = 0; i < 50; ++i) texts.push_back(random.Value());
  for (const std::string& text : texts) {
    expected.push_back(indexed.Try({{"path", text}, {"host", text}, {"ip", text}}));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_EQ(indexed.Find({{"path", texts[i]}, {"host", texts[i]}, {"ip", texts[i]}}),
                  expected[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Globs that share heads, tails and middles, so that the paths of the tree part late.
TEST(MatchIndexTest, GlobsThatDifferInOnePlaceAreToldApart) {
  std::vector<Match> matches;
  std::vector<std::string> globs;
  for (const char* head : {"/a/", "/ab/", ""}) {
    for (const char* first : {"*", "**", "?"}) {
      for (const char* middle : {"/x/", "/xy/", "x"}) {
        for (const char* second : {"*", "**", "?", "?*"}) {
          for (const char* tail : {"", "/z", "z"}) {
            globs.push_back(std::string(head) + first + middle + second + tail);
          }
        }
      }
    }
  }
  for (const std::string& glob : globs) matches.push_back({Path(glob)});
  for (const std::string& glob : globs) matches.push_back({Path(glob), Method("GET")});
  const Indexed indexed(matches);
  std::mt19937 random(3);
  const char* const kPieces[] = {"/a/", "/ab/", "x", "/x/", "/xy/", "z", "/z", "b", "/"};
  std::size_t found = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string path;
    for (std::size_t n = random() % 7; n > 0; --n) path += kPieces[random() % 9];
    const std::vector<Attribute> request = {{"path", path}, {"method", i % 2 == 0 ? "GET" : "PUT"}};
    const auto expected = indexed.Try(request);
    ASSERT_EQ(indexed.Find(request), expected) << path;
    found += expected.size();
  }
  EXPECT_GT(found, 10'000U);
}

}  // namespace
}  // namespace weir::rule
