// SECURITY.md says which test shows what: each of them exists, and no threat is without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace weir {
namespace {

const std::filesystem::path kRoot = WEIR_SOURCE_DIR;

std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// "HttpReaderTest.SmugglingIsRefused", of every test in the tree.
std::set<std::string> AllTests() {
  static const std::regex kTest(R"(\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
  std::set<std::string> tests;
  for (const char* folder : {"src", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / folder)) {
      if (!entry.path().string().ends_with("_test.cc")) continue;
      const std::string text = TextOf(entry.path());
      for (std::sregex_iterator at(text.begin(), text.end(), kTest), end; at != end; ++at) {
        tests.insert((*at)[1].str() + "." + (*at)[2].str());
      }
    }
  }
  return tests;
}

TEST(SecurityPageTest, EveryTestThatIsNamedExistsAndEveryThreatHasOne) {
  static const std::regex kNamed(R"(`(\w+Test\.\w+)`)");
  const std::set<std::string> tests = AllTests();
  ASSERT_GT(tests.size(), 500U);
  std::istringstream page(TextOf(kRoot / "SECURITY.md"));
  bool in_threats = false;
  int threats = 0;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) in_threats = line == "## Threats";
    std::set<std::string> named;
    for (std::sregex_iterator at(line.begin(), line.end(), kNamed), end; at != end; ++at) {
      named.insert((*at)[1]);
    }
    for (const std::string& test : named) EXPECT_TRUE(tests.contains(test)) << test;
    const bool is_row = line.starts_with("| ") && !line.starts_with("| threat");
    if (!in_threats || !is_row) continue;
    ++threats;
    EXPECT_FALSE(named.empty()) << line;
  }
  EXPECT_GE(threats, 20);
}

}  // namespace
}  // namespace weir
