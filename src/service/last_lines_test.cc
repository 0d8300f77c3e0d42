#include "service/last_lines.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> LastLines(const std::string& text, std::size_t count) {
  const TemporaryFile folder;
  std::ofstream(folder.path()) << text;
  const Descriptor file(open(folder.path().c_str(), O_RDONLY));
  std::vector<std::string> lines;
  AddLastLines(
      file, count, [](const std::string& line) { return line != "not this"; }, lines);
  return lines;
}

TEST(LastLinesTest, TheLastComesFirst) {
  EXPECT_THAT(LastLines("a\nb\nc\n", 2), ElementsAre("c", "b"));
  EXPECT_THAT(LastLines("a\nb\nc\n", 9), ElementsAre("c", "b", "a"));
  EXPECT_THAT(LastLines("a\n", 1), ElementsAre("a"));
}

TEST(LastLinesTest, WhatHasNoEndIsNoLine) {
  EXPECT_THAT(LastLines("a\nb", 9), ElementsAre("a"));
  EXPECT_THAT(LastLines("a", 9), IsEmpty());
  EXPECT_THAT(LastLines("", 9), IsEmpty());
}

TEST(LastLinesTest, OnlyThoseThatAreWantedCount) {
  EXPECT_THAT(LastLines("a\nnot this\nb\nnot this\n", 2), ElementsAre("b", "a"));
}

TEST(LastLinesTest, ALineMayBeInSeveralBlocks) {
  const std::string longest(200'000, 'x');
  EXPECT_THAT(LastLines("a\n" + longest + "\nb\n", 3), ElementsAre("b", longest, "a"));
  // The end of a line is the first byte of a block, then the last.
  for (const std::size_t size : {65'533, 65'534, 65'535, 65'536, 65'537}) {
    const std::string line(size, 'y');
    EXPECT_THAT(LastLines("a\n" + line + "\n", 9), ElementsAre(line, "a")) << size;
  }
}

}  // namespace
}  // namespace weir
