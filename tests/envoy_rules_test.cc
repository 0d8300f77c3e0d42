// Files of envoyproxy/ratelimit: what they become, what they find, and what is wrong with them.
//
// Every file says in its first lines, in comments, what is expected of it:
//   # rule NAME [ENTRY, ...] LIMIT MORE    the rules it becomes, all of them, in order
//   # ask k=v,k=v -> RULE (KEY PARTS)      what a descriptor finds
//   # doubt LINE:COLUMN PART               what has no effect, all of it
//   # expect LINE:COLUMN PART              what is wrong with it, all of it
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "rule/descriptor_tree.h"
#include "rule/envoy_file.h"
#include "rule/rule_file.h"
#include "rule/rule_writer.h"

namespace weir::rule {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Lines = std::vector<std::string>;

std::vector<std::filesystem::path> Files(const char* folder) {
  std::vector<std::filesystem::path> files;
  const auto root = std::filesystem::path(WEIR_SOURCE_DIR) / "tests/envoy_rules" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(root)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string Contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The comments "# WORD ..." without their beginning.
Lines Comments(const std::string& text, const std::string& word) {
  Lines found;
  std::istringstream lines(text);
  const std::string start = "# " + word + " ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) found.push_back(line.substr(start.size()));
  }
  return found;
}

std::string Describe(const Allowance& allowance) {
  if (std::holds_alternative<Unlimited>(allowance)) return "unlimited";
  if (std::holds_alternative<Blocked>(allowance)) return "blocked";
  return std::get<Limit>(allowance).ToString();
}

std::string Describe(const Rule& rule) {
  const Descriptor& descriptor = *rule.descriptor;
  std::string text = rule.name + " [";
  for (const DescriptorEntry& entry : descriptor.entries) {
    if (!text.ends_with('[')) text += ", ";
    text += entry.key;
    if (!entry.value.empty()) text += "=" + entry.value;
    if (entry.share_threshold) text += " shared";
    if (entry.value_to_metric) text += " to_metric";
  }
  text += "] " + (descriptor.whitelisted ? "whitelisted" : Describe(rule.allowance));
  if (descriptor.window > Nanos(0)) {
    text += " per " + std::to_string(descriptor.window / std::chrono::seconds(1)) + "s";
  }
  if (rule.mode == Mode::kShadow) text += " shadow";
  if (descriptor.quota_mode) text += " quota";
  if (descriptor.detailed_metric) text += " detailed";
  if (!descriptor.limit_name.empty()) text += " name " + descriptor.limit_name;
  for (const std::string& name : descriptor.replaces) text += " replaces " + name;
  if (!descriptor.metadata.empty()) text += " metadata " + descriptor.metadata;
  return text;
}

// "k=v,k=v -> RULE (KEY)", with what the tree answers after the arrow.
std::string Answer(const std::string& question, const RuleSet& set) {
  const std::string asked = question.substr(0, question.find(" -> "));
  Lines texts;
  std::istringstream parts(asked);
  for (std::string part; std::getline(parts, part, ',');) texts.push_back(part);
  std::vector<RequestEntry> request;
  for (const std::string_view part : texts) {
    const std::size_t equals = part.find('=');
    request.push_back({part.substr(0, equals), part.substr(equals + 1)});
  }
  std::vector<std::string_view> key;
  const DescriptorTree tree(set.rules);
  const DescriptorMatch match = tree.Find(request, key);
  switch (match.kind) {
    case DescriptorMatch::Kind::kNothing:
      return asked + " -> nothing";
    case DescriptorMatch::Kind::kNoLimit:
      return asked + " -> no limit";
    case DescriptorMatch::Kind::kLimit:
    case DescriptorMatch::Kind::kReplaced:
      break;
  }
  std::string answer = asked + " -> " + set.rules[match.rule].name + " (";
  for (const std::string_view part : key) {
    if (!answer.ends_with('(')) answer += " ";
    answer += part;
  }
  return answer + ")";
}

std::string PlaceOf(const Problem& problem) {
  return std::to_string(problem.place.line) + ":" + std::to_string(problem.place.column) + " ";
}

// Every problem is expected, in this order, and every expectation is met.
void ExpectProblems(const Problems& problems, const Lines& expected, const std::string& file) {
  Lines all;
  for (const Problem& problem : problems) all.push_back(PlaceOf(problem) + problem.what);
  ASSERT_EQ(all.size(), expected.size()) << file << "\n" << ::testing::PrintToString(all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_THAT(all[i], StartsWith(expected[i])) << file;
}

TEST(EnvoyRulesTest, WhatIsRightBecomesTheRulesItSays) {
  const auto files = Files("right");
  EXPECT_GE(files.size(), 10U);
  for (const auto& file : files) {
    const std::string text = Contents(file);
    Problems problems;
    Problems doubts;
    const auto set = ReadEnvoyRules(text, file.filename(), problems, &doubts);
    ASSERT_TRUE(set) << (problems.empty() ? file.string() : problems[0].ToString());
    EXPECT_THAT(problems, IsEmpty()) << file;
    ExpectProblems(doubts, Comments(text, "doubt"), file.filename());
    Lines rules;
    for (const Rule& rule : set->rules) rules.push_back(Describe(rule));
    EXPECT_THAT(rules, ElementsAreArray(Comments(text, "rule"))) << file;
    const Lines questions = Comments(text, "ask");
    Lines answers;
    for (const std::string& question : questions) answers.push_back(Answer(question, *set));
    EXPECT_THAT(answers, ElementsAreArray(questions)) << file;
  }
}

TEST(EnvoyRulesTest, WhatIsWrongIsReportedAllOfItWithItsPlaceAndARemedy) {
  const auto files = Files("wrong");
  EXPECT_GE(files.size(), 20U);
  for (const auto& file : files) {
    const std::string text = Contents(file);
    const Lines expected = Comments(text, "expect");
    EXPECT_FALSE(expected.empty()) << file << " says nothing of what is expected";
    Problems problems;
    EXPECT_FALSE(ReadEnvoyRules(text, file.filename(), problems)) << file;
    ExpectProblems(problems, expected, file.filename());
    for (const Problem& problem : problems) EXPECT_EQ(problem.file, file.filename());
  }
}

TEST(EnvoyRulesTest, WhatIsConvertedReadsAsTheSameRules) {
  for (const auto& file : Files("right")) {
    Problems problems;
    auto set = ReadEnvoyRules(Contents(file), file.filename(), problems);
    ASSERT_TRUE(set) << file;
    set->space = "converted";  // a domain is any text, a namespace is a name
    const std::string text = WriteRules(*set);
    const auto again = ReadRules(text, "converted", problems);
    ASSERT_TRUE(again) << problems[0].ToString() << "\n" << text;
    EXPECT_EQ(*again, *set) << text;
  }
}

// Of the blocks of YAML in docs/envoy.md, the first is a file of theirs, and the last what its
// first rule is converted to.
TEST(EnvoyRulesTest, ThePageAboutThemTellsTheTruth) {
  const std::string page = Contents(std::filesystem::path(WEIR_SOURCE_DIR) / "docs" / "envoy.md");
  Lines blocks;
  const std::string fence = "```yaml\n";
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    blocks.push_back(page.substr(at, page.find("```", at) - at));
  }
  ASSERT_GE(blocks.size(), 2U);
  Problems problems;
  const auto set = ReadEnvoyRules(blocks[0], "docs/envoy.md", problems);
  ASSERT_TRUE(set) << problems[0].ToString();
  for (const char* truth :
       {"path=/login,remote_address=10.1.2.3 -> path_/login.remote_address (/login 10.1.2.3)",
        "path=/login -> no limit", "path=/login,user=me -> nothing",
        "path=/static/a.css -> path_/static/-baf219a4cd (/static/*)", "path=/cart -> path (/cart)",
        "path=/cart,user=me -> nothing", "partner=acme -> partner_acme (acme)",
        "health=1 -> no limit"}) {
    EXPECT_EQ(Answer(truth, *set), truth);
  }
  EXPECT_NE(page.find("path_/static/-baf219a4cd"), std::string::npos);
  EXPECT_EQ(WriteRules({set->space, {set->rules[0]}}), blocks.back());
}

TEST(EnvoyRulesTest, AFileIsTheirsIfItHasADomainOrDescriptorsAndNothingOfOurs) {
  const auto looks_like = [](const std::string& text) {
    YamlNode root;
    Problems problems;
    EXPECT_TRUE(ReadYaml(text, "file", root, problems));
    return LooksLikeEnvoy(root);
  };
  EXPECT_TRUE(looks_like("domain: d"));
  EXPECT_TRUE(looks_like("descriptors: []"));
  EXPECT_FALSE(looks_like("namespace: n\nrules: []"));
  EXPECT_FALSE(looks_like("domain: d\nrules: []"));
  EXPECT_FALSE(looks_like("[domain]"));
  EXPECT_FALSE(looks_like(""));
}

TEST(EnvoyRulesTest, FewBytesDoNotBecomeALotOfMemory) {
  // Two hundred short rules below a long key, each of which would repeat it.
  std::string text =
      "domain: d\ndescriptors:\n- key: " + std::string(1 << 19, 'k') + "\n  descriptors:\n";
  for (int i = 0; i < 200; ++i) text += "  - key: k" + std::to_string(i) + "\n";
  Problems problems;
  EXPECT_FALSE(ReadEnvoyRules(text, "large", problems));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0].what, StartsWith("the descriptors are too large"));
}

}  // namespace
}  // namespace weir::rule
