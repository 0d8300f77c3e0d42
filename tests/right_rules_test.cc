// Files of rules that hold every field in every form: they read, and what is written of them reads
// as the same.
#include <gtest/gtest.h>

#include "rule/rule_file.h"
#include "rule/rule_writer.h"
#include "tests/rule_corpus.h"

namespace weir::rule {
namespace {

std::optional<RuleSet> Read(const std::string& text, const std::string& name) {
  Problems problems;
  auto rules = ReadRules(text, name, problems);
  for (const Problem& problem : problems) ADD_FAILURE() << problem.ToString() << "\n" << text;
  return rules;
}

TEST(RightRulesTest, EachFileReadsAndReadsTheSameWhenWritten) {
  const std::vector<CorpusFile> files = ReadCorpus("right_rules");
  ASSERT_GE(files.size(), 8U);
  for (const CorpusFile& file : files) {
    const auto rules = Read(file.text, file.name);
    ASSERT_TRUE(rules) << file.name;
    EXPECT_FALSE(rules->rules.empty()) << file.name;
    const std::string written = WriteRules(*rules);
    EXPECT_EQ(Read(written, file.name + ", written"), rules) << written;
    for (const Rule& rule : rules->rules) {
      Problems problems;
      EXPECT_EQ(ReadRule(WriteRule(rule), "rule", problems), rule) << WriteRule(rule);
    }
  }
}

// Snippets that are not a whole file are fields of a rule that needs a name.
TEST(RightRulesTest, TheDocumentationShowsOnlyWhatReads) {
  std::ostringstream page;
  page << std::ifstream(WEIR_SOURCE_DIR "/docs/rules.md").rdbuf();
  const std::string text = page.str();
  constexpr std::string_view kOpen = "```yaml\n";
  int snippets = 0;
  for (std::size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at)) {
    at += kOpen.size();
    const std::string snippet = text.substr(at, text.find("```", at) - at);
    const bool whole = snippet.starts_with("namespace:");
    Read(whole ? snippet : "namespace: docs\nrules:\n  - name: shown\n" + snippet, "docs/rules.md");
    ++snippets;
  }
  EXPECT_GE(snippets, 2);
}

}  // namespace
}  // namespace weir::rule
