// Every mistake that a file of rules can hold, one file each, and what is said of it.
//
// A file of tests/wrong_rules begins with lines such as
//
//     # expect 4:12 rule 'login': burst must be at least 1
//
// each a problem: its place, and the message or how it begins. They stand in the order of the text,
// and nothing else may be reported.
#include <gtest/gtest.h>

#include "rule/rule_file.h"
#include "tests/rule_corpus.h"

namespace weir::rule {
namespace {

std::vector<std::string> ExpectationsOf(const std::string& text) {
  constexpr std::string_view kMark = "# expect ";
  std::vector<std::string> expectations;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
    if (line.starts_with(kMark)) expectations.push_back(line.substr(kMark.size()));
  }
  return expectations;
}

// As an expectation has it: without the file, and without the colon behind the place.
std::string Said(const Problem& problem) {
  Problem anonymous = problem;
  anonymous.file.clear();
  anonymous.place = {};
  return std::to_string(problem.place.line) + ":" + std::to_string(problem.place.column) + " " +
         anonymous.ToString().substr(2);
}

TEST(WrongRulesTest, EachFileIsRefusedForItsReasonsAndNoOthers) {
  const std::vector<CorpusFile> files = ReadCorpus("wrong_rules");
  ASSERT_GE(files.size(), 60U);
  for (const CorpusFile& file : files) {
    SCOPED_TRACE(file.name);
    const std::vector<std::string> expected = ExpectationsOf(file.text);
    EXPECT_FALSE(expected.empty()) << "the file says not what is wrong with it";
    Problems problems;
    EXPECT_FALSE(ReadRules(file.text, file.name, problems));
    for (std::size_t i = 0; i < std::max(expected.size(), problems.size()); ++i) {
      const std::string said = i < problems.size() ? Said(problems[i]) : "nothing more";
      if (i >= expected.size()) {
        ADD_FAILURE() << "also says " << said;
      } else {
        EXPECT_TRUE(said.starts_with(expected[i]))
            << "expects " << expected[i] << "\nsays    " << said;
      }
    }
  }
}

TEST(WrongRulesTest, AMessageIsAboutThePlaceThatItNames) {
  for (const CorpusFile& file : ReadCorpus("wrong_rules")) {
    Problems problems;
    ReadRules(file.text, file.name, problems);
    const auto lines = std::count(file.text.begin(), file.text.end(), '\n') + 1;
    for (const Problem& problem : problems) {
      EXPECT_GE(problem.place.line, 1) << file.name;
      EXPECT_LE(problem.place.line, lines) << file.name;
      EXPECT_GE(problem.place.column, 1) << file.name;
    }
  }
}

}  // namespace
}  // namespace weir::rule
