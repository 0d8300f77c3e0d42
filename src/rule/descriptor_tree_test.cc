#include "rule/descriptor_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace weir::rule {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = DescriptorMatch::Kind;
using Entries = std::vector<DescriptorEntry>;
using Request = std::vector<RequestEntry>;

DescriptorEntry Shared(std::string key, std::string pattern) {
  return {.key = std::move(key), .value = std::move(pattern), .share_threshold = true};
}

Rule LimitAt(Entries entries) {
  Rule rule;
  rule.allowance = Limit(Quota::PerMinute(1));
  rule.descriptor = Descriptor();
  rule.descriptor->entries = std::move(entries);
  return rule;
}

Rule Named(Entries entries, std::string name, std::vector<std::string> replaces = {}) {
  Rule rule = LimitAt(std::move(entries));
  rule.descriptor->limit_name = std::move(name);
  rule.descriptor->replaces = std::move(replaces);
  return rule;
}

// A tree, and what it found last.
class Tree {
 public:
  explicit Tree(const std::vector<Rule>& rules) : tree_(rules) {}
  DescriptorMatch Find(const Request& request) { return tree_.Find(request, key_); }
  [[nodiscard]] const std::vector<std::string_view>& key() const { return key_; }
  std::vector<DescriptorMatch> FindAll(const std::vector<Request>& requests) {
    std::vector<DescriptorMatch> found;
    for (const Request& request : requests) found.push_back(Find(request));
    tree_.Replace(found);
    return found;
  }

 private:
  DescriptorTree tree_;
  std::vector<std::string_view> key_;
};

DescriptorMatch LimitOf(std::uint32_t rule) { return {Kind::kLimit, rule}; }
DescriptorMatch Replaced(std::uint32_t rule) { return {Kind::kReplaced, rule}; }
const DescriptorMatch kNothing{};
const DescriptorMatch kNoLimit{Kind::kNoLimit, 0};

TEST(DescriptorTreeTest, AnExactValueComesBeforeAPatternAndAPatternBeforeAnyValue) {
  Tree tree({LimitAt({{"path", ""}}), LimitAt({{"path", "/a*"}}), LimitAt({{"path", "/abc"}})});
  EXPECT_EQ(tree.Find({{"path", "/abc"}}), LimitOf(2));
  EXPECT_EQ(tree.Find({{"path", "/abd"}}), LimitOf(1));
  EXPECT_EQ(tree.Find({{"path", "/b"}}), LimitOf(0));
  EXPECT_EQ(tree.Find({{"path", ""}}), LimitOf(0));
  EXPECT_EQ(tree.Find({{"host", "/abc"}}), kNothing);
}

TEST(DescriptorTreeTest, TheFirstPatternOfTheFileWinsAlsoIfALaterOneSaysMore) {
  Tree tree({LimitAt({{"path", "/a*"}}), LimitAt({{"path", "/api/*"}})});
  EXPECT_EQ(tree.Find({{"path", "/api/x"}}), LimitOf(0));
  Tree other({LimitAt({{"path", "/api/*"}}), LimitAt({{"path", "/a*"}})});
  EXPECT_EQ(other.Find({{"path", "/api/x"}}), LimitOf(0));
  EXPECT_EQ(other.Find({{"path", "/a"}}), LimitOf(1));
}

TEST(DescriptorTreeTest, ALimitCountsOnlyWhereTheRequestEnds) {
  Tree tree({LimitAt({{"a", ""}}), LimitAt({{"a", ""}, {"b", ""}, {"c", ""}})});
  EXPECT_EQ(tree.Find({{"a", "1"}}), LimitOf(0));
  EXPECT_EQ(tree.Find({{"a", "1"}, {"b", "2"}}), kNoLimit);
  EXPECT_EQ(tree.Find({{"a", "1"}, {"b", "2"}, {"c", "3"}}), LimitOf(1));
  EXPECT_EQ(tree.Find({{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}}), kNothing);
  EXPECT_EQ(tree.Find({{"b", "2"}, {"a", "1"}}), kNothing);
  EXPECT_EQ(tree.Find({}), kNothing);
}

TEST(DescriptorTreeTest, APlaceWithoutALimitHidesTheLessSpecificOneBesideIt) {
  Tree tree({LimitAt({{"a", ""}}), LimitAt({{"a", "x"}, {"b", ""}})});
  EXPECT_EQ(tree.Find({{"a", "x"}}), kNoLimit);
  EXPECT_EQ(tree.Find({{"a", "y"}}), LimitOf(0));
}

TEST(DescriptorTreeTest, AWayOnceTakenIsNotTakenBack) {
  Tree tree({LimitAt({{"a", "x"}, {"b", ""}}), LimitAt({{"a", ""}, {"c", ""}})});
  EXPECT_EQ(tree.Find({{"a", "x"}, {"c", "1"}}), kNothing);
  EXPECT_EQ(tree.Find({{"a", "y"}, {"c", "1"}}), LimitOf(1));
}

TEST(DescriptorTreeTest, AWhitelistedPlaceIsFoundAndLimitsNothing) {
  Rule white = LimitAt({{"ip", "10.0.0.1"}});
  white.allowance = Unlimited{};
  white.descriptor->whitelisted = true;
  Tree tree({LimitAt({{"ip", ""}}), white});
  EXPECT_EQ(tree.Find({{"ip", "10.0.0.1"}}), (DescriptorMatch{Kind::kNoLimit, 1}));
  EXPECT_THAT(tree.key(), IsEmpty());
  EXPECT_EQ(tree.Find({{"ip", "10.0.0.2"}}), LimitOf(0));
}

TEST(DescriptorTreeTest, ARuleThatIsOffOrHasNoDescriptorIsNotThere) {
  Rule off = LimitAt({{"a", "x"}});
  off.mode = Mode::kOff;
  Tree tree({off, Rule(), LimitAt({{"a", ""}})});
  EXPECT_EQ(tree.Find({{"a", "x"}}), LimitOf(2));
}

TEST(DescriptorTreeTest, KeyAndValueAreComparedAsOneText) {
  Tree tree({LimitAt({{"a_b", ""}}), LimitAt({{"c", "d"}})});
  EXPECT_EQ(tree.Find({{"a", "b"}}), LimitOf(0));
  EXPECT_THAT(tree.key(), ElementsAre("a", "b")) << "the keys differ, so they count too";
  EXPECT_EQ(tree.Find({{"a_b", "x"}}), LimitOf(0));
  EXPECT_THAT(tree.key(), ElementsAre("x"));
  EXPECT_EQ(tree.Find({{"c_d", "x"}}), LimitOf(1));
  EXPECT_EQ(tree.Find({{"a", ""}}), kNothing);
}

TEST(DescriptorTreeTest, TheKeyIsTheValuesOfTheRequest) {
  Tree tree({LimitAt({{"a", ""}, {"b", "x*"}})});
  EXPECT_EQ(tree.Find({{"a", "1"}, {"b", "x2"}}), LimitOf(0));
  EXPECT_THAT(tree.key(), ElementsAre("1", "x2"));
}

TEST(DescriptorTreeTest, AnEntryThatSharesItsThresholdCountsByItsPattern) {
  Tree tree({LimitAt({Shared("dir", "f/*"), {"b", ""}, Shared("dir", "*g")})});
  EXPECT_EQ(tree.Find({{"dir", "f/1"}, {"b", "2"}, {"dir", "3g"}}), LimitOf(0));
  EXPECT_THAT(tree.key(), ElementsAre("f/*", "2", "*g"));
}

TEST(DescriptorTreeTest, APatternInAKeyTellsKeysApart) {
  Tree tree({LimitAt({Shared("a*", "")})});
  EXPECT_EQ(tree.Find({{"abc", "1"}}), LimitOf(0));
  EXPECT_THAT(tree.key(), ElementsAre("abc", "a*"));
  EXPECT_EQ(tree.Find({{"abd", "2"}}), LimitOf(0));
  EXPECT_THAT(tree.key(), ElementsAre("abd", "a*"));
}

TEST(DescriptorTreeTest, ALimitIsReplacedByTheNameThatAnotherReplaces) {
  Tree tree({Named({{"a", ""}}, "a"), Named({{"b", ""}}, "b", {"a"}), Named({{"c", ""}}, "c")});
  EXPECT_THAT(tree.FindAll({{{"a", "1"}}, {{"c", "1"}}}), ElementsAre(LimitOf(0), LimitOf(2)));
  EXPECT_THAT(tree.FindAll({{{"a", "1"}}, {{"b", "1"}}, {{"c", "1"}}, {{"d", "1"}}}),
              ElementsAre(Replaced(0), LimitOf(1), LimitOf(2), kNothing));
}

TEST(DescriptorTreeTest, AReplacedLimitStillReplaces) {
  Tree tree({Named({{"a", ""}}, "a", {"c"}), Named({{"b", ""}}, "b", {"a"}),
             Named({{"c", ""}}, "c", {"b"})});
  EXPECT_THAT(tree.FindAll({{{"a", "1"}}, {{"b", "1"}}, {{"c", "1"}}}),
              ElementsAre(Replaced(0), Replaced(1), Replaced(2)));
}

TEST(DescriptorTreeTest, AnUnlimitedLimitReplacesButIsNeverReplaced) {
  Rule unlimited = Named({{"a", ""}}, "a", {"b"});
  unlimited.allowance = Unlimited{};
  Tree tree({unlimited, Named({{"b", ""}}, "b", {"a"}), Named({{"c", ""}}, "", {"b"})});
  EXPECT_THAT(tree.FindAll({{{"a", "1"}}, {{"b", "1"}}}), ElementsAre(LimitOf(0), Replaced(1)));
}

TEST(DescriptorTreeTest, EntriesOfAnyLengthAreFound) {
  const std::string long_value(5000, 'v');
  Tree tree({LimitAt({{"k", long_value}}), LimitAt({{"k", "*v!"}})});
  const std::string other = long_value + "!";
  EXPECT_EQ(tree.Find({{"k", long_value}}), LimitOf(0));
  EXPECT_EQ(tree.Find({{"k", other}}), LimitOf(1));
  EXPECT_EQ(tree.Find(Request(DescriptorTree::kMostEntries + 1, {"k", other})), kNothing);
}

TEST(StarsMatchTest, AStarStandsForAnyCharacters) {
  EXPECT_TRUE(StarsMatch("*", ""));
  EXPECT_TRUE(StarsMatch("a*", "a/b/c"));
  EXPECT_TRUE(StarsMatch("*b", "ab"));
  EXPECT_TRUE(StarsMatch("a*b*c", "a--b--bc"));
  EXPECT_TRUE(StarsMatch("a**b", "ab"));
  EXPECT_TRUE(StarsMatch("abc", "abc"));
  EXPECT_FALSE(StarsMatch("abc", "abcd"));
  EXPECT_FALSE(StarsMatch("a*a", "a")) << "one letter cannot be both";
  EXPECT_FALSE(StarsMatch("a*b*c", "acb"));
  EXPECT_FALSE(StarsMatch("*ab*ab*", "aab"));
  EXPECT_FALSE(StarsMatch("a?", "ab"));
}

// --- the order once more, as plainly as it can be said, against random trees

struct NaiveNode {
  std::vector<std::pair<std::string, std::unique_ptr<NaiveNode>>> children;  // in the rules' order
  std::optional<std::uint32_t> rule;

  NaiveNode* Child(const std::string& text) {
    for (auto& child : children) {
      if (child.first == text) return child.second.get();
    }
    return nullptr;
  }
};

bool NaiveMatch(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return NaiveMatch(pattern.substr(1), text) ||
           (!text.empty() && NaiveMatch(pattern, text.substr(1)));
  }
  return !text.empty() && pattern[0] == text[0] && NaiveMatch(pattern.substr(1), text.substr(1));
}

class NaiveTree {
 public:
  explicit NaiveTree(const std::vector<Rule>& rules) : rules_(rules) {
    for (std::uint32_t i = 0; i < rules.size(); ++i) {
      NaiveNode* at = &root_;
      for (const DescriptorEntry& entry : rules[i].descriptor->entries) {
        const std::string text = entry.value.empty() ? entry.key : entry.key + "_" + entry.value;
        NaiveNode* child = at->Child(text);
        if (child == nullptr) {
          at->children.emplace_back(text, std::make_unique<NaiveNode>());
          child = at->children.back().second.get();
        }
        at = child;
      }
      if (!at->rule) at->rule = i;
    }
  }

  // The key is the counter's name in envoyproxy/ratelimit without the domain and the window: two
  // requests share a counter if and only if it is the same.
  DescriptorMatch Find(const Request& request, std::string& counter) {
    NaiveNode* at = &root_;
    std::vector<std::string> patterns;
    for (const RequestEntry& entry : request) {
      const std::string key(entry.key);
      const std::string text = key + "_" + std::string(entry.value);
      patterns.emplace_back();
      NaiveNode* next = at->Child(text);
      if (next == nullptr) {
        for (auto& [pattern, child] : at->children) {
          if (pattern.find('*') == std::string::npos || !NaiveMatch(pattern, text)) continue;
          next = child.get();
          patterns.back() =
              pattern.starts_with(key + "_") ? pattern.substr(key.size() + 1) : pattern;
          break;
        }
      }
      if (next == nullptr) next = at->Child(key);
      if (next == nullptr) return {};
      at = next;
    }
    if (at == &root_) return {};
    if (!at->rule) return kNoLimit;
    const auto& entries = rules_[*at->rule].descriptor->entries;
    for (std::size_t i = 0; i < request.size(); ++i) {
      const bool shared = entries[i].share_threshold && !patterns[i].empty();
      counter += std::string(request[i].key) + "\n" +
                 (shared ? patterns[i] : std::string(request[i].value)) + "\n";
    }
    return {Kind::kLimit, *at->rule};
  }

 private:
  const std::vector<Rule>& rules_;
  NaiveNode root_;
};

std::string RandomText(std::mt19937& random, std::string_view alphabet, std::size_t most) {
  std::string text;
  for (std::size_t size = random() % (most + 1); text.size() < size;) {
    text += alphabet[random() % alphabet.size()];
  }
  return text;
}

TEST(DescriptorTreeTest, FindsWhatTheOrderSaysInRandomTrees) {
  std::mt19937 random(7);
  std::size_t limits = 0;
  std::size_t hidden = 0;
  std::size_t shared_counters = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Rule> rules;
    for (std::size_t i = 0; i < 1 + random() % 20; ++i) {
      Entries entries;
      if (!rules.empty() && random() % 2 == 0) {  // below or beside another
        entries = rules[random() % rules.size()].descriptor->entries;
        if (random() % 2 == 0) entries.pop_back();
      }
      while (entries.empty() || (entries.size() < 4 && random() % 3 == 0)) {
        const std::string key = random() % 10 == 0 ? "a" + RandomText(random, "a_*", 2) : "a";
        entries.push_back({.key = key,
                           .value = RandomText(random, "ab*_", 4),
                           .share_threshold = random() % 2 == 0});
      }
      rules.push_back(LimitAt(entries));
    }
    const DescriptorTree tree(rules);
    NaiveTree naive(rules);
    // Counters are the same exactly where keys are, under one rule.
    std::map<std::pair<std::uint32_t, std::vector<std::string>>, std::string> counter_of;
    std::map<std::pair<std::uint32_t, std::string>, std::vector<std::string>> key_of;
    for (int i = 0; i < 60; ++i) {
      std::vector<std::pair<std::string, std::string>> texts;
      for (std::size_t n = random() % 5; texts.size() < n;) {
        texts.emplace_back(random() % 10 == 0 ? "a" + RandomText(random, "a_*", 2) : "a",
                           RandomText(random, "aab_*", 4));
      }
      Request request;
      for (const auto& text : texts) request.push_back({text.first, text.second});
      std::vector<std::string_view> key;
      std::string counter;
      const DescriptorMatch found = tree.Find(request, key);
      ASSERT_EQ(found, naive.Find(request, counter)) << "round " << round << ", request " << i;
      if (found.kind == Kind::kNoLimit) ++hidden;
      if (found.kind != Kind::kLimit) continue;
      ++limits;
      const std::vector<std::string> own(key.begin(), key.end());
      const auto by_key = counter_of.try_emplace({found.rule, own}, counter);
      const auto by_counter = key_of.try_emplace({found.rule, counter}, own);
      ASSERT_EQ(by_key.first->second, counter) << "one key, two counters";
      ASSERT_EQ(by_counter.first->second, own) << "one counter, two keys";
      if (!by_key.second) ++shared_counters;
    }
  }
  EXPECT_GT(limits, 10000U);
  EXPECT_GT(hidden, 500U);
  EXPECT_GT(shared_counters, 1000U);
}

}  // namespace
}  // namespace weir::rule
