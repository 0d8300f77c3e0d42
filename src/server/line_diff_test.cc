#include "server/line_diff.h"

#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

std::string Diff(std::string_view before, std::string_view after) {
  std::string text;
  for (const DiffLine& line : DiffLines(before, after)) {
    text += line.mark + std::string(line.line) + "\n";
  }
  return text;
}

TEST(LineDiffTest, SaysWhatIsGoneAndWhatIsNewInPlace) {
  EXPECT_EQ(Diff("a\nb\nc\n", "a\nx\nc\nd\n"), " a\n-b\n+x\n c\n+d\n");
  EXPECT_EQ(Diff("a\nb\n", "b\na\n"), "-a\n b\n+a\n");
}

TEST(LineDiffTest, NothingAndEverything) {
  EXPECT_EQ(Diff("", ""), "");
  EXPECT_EQ(Diff("a", "a\n"), " a\n");
  EXPECT_EQ(Diff("", "a\n\nb"), "+a\n+\n+b\n");
  EXPECT_EQ(Diff("a\n", ""), "-a\n");
}

TEST(LineDiffTest, TextsThatAreTooLongDifferInAllLines) {
  const std::string many(3000, '\n');
  EXPECT_EQ(DiffLines(many, many).size(), 6000);
  EXPECT_EQ(DiffLines(many, "\n").size(), 3000);
}

}  // namespace
}  // namespace weir
