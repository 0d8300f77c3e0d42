#include "catalog/rule_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "catalog/digest.h"
#include "tests/temporary_file.h"

namespace weir::catalog {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void Write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

std::vector<std::string> NamesOf(const RuleFiles& found) {
  std::vector<std::string> names;
  for (const RuleFile& file : found.files) names.push_back(fs::path(file.name).filename().string());
  return names;
}

TEST(RuleFilesTest, AFileIsReadWhateverItsName) {
  const TemporaryFile temporary;
  Write(temporary.folder() / "limits.conf", "some text\n");
  const RuleFiles found = ReadRuleFiles(temporary.folder() / "limits.conf");
  ASSERT_THAT(found.files, SizeIs(1));
  EXPECT_EQ(found.files[0].name, temporary.folder() / "limits.conf");
  EXPECT_EQ(found.files[0].text, "some text\n");
  EXPECT_THAT(found.problems, IsEmpty());
  EXPECT_EQ(found.away, "");
}

TEST(RuleFilesTest, ADirectoryIsReadInOrderWithoutWhatIsHiddenOrHasAnotherName) {
  const TemporaryFile temporary;
  for (const char* name : {"b.yaml", "a.yml", "c.yaml", ".hidden.yaml", "..2026.yaml", "d.yaml~",
                           "README.md", "yaml", "#e.yaml#"}) {
    Write(temporary.folder() / name, name);
  }
  fs::create_directory(temporary.folder() / "folder.yaml");
  const RuleFiles found = ReadRuleFiles(temporary.folder());
  EXPECT_EQ(NamesOf(found), (std::vector<std::string>{"a.yml", "b.yaml", "c.yaml"}));
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST(RuleFilesTest, WhatIsNotThereIsAway) {
  const TemporaryFile temporary;
  EXPECT_THAT(ReadRuleFiles(temporary.folder() / "rules.yaml").away,
              EndsWith("rules.yaml cannot be read: No such file or directory"));
  EXPECT_THAT(ReadRuleFiles(temporary.folder()).away, EndsWith("holds no *.yaml or *.yml file"));
}

TEST(RuleFilesTest, ALinkThatLeadsNowhereIsAProblemInADirectory) {
  const TemporaryFile temporary;
  Write(temporary.folder() / "a.yaml", "a");
  fs::create_symlink("gone", temporary.folder() / "b.yaml");
  fs::create_symlink("c.yaml", temporary.folder() / "c.yaml");
  const RuleFiles found = ReadRuleFiles(temporary.folder());
  EXPECT_EQ(NamesOf(found), (std::vector<std::string>{"a.yaml"}));
  ASSERT_THAT(found.problems, SizeIs(2));
  EXPECT_THAT(found.problems[0].ToString(),
              EndsWith("b.yaml: cannot be read: No such file or directory"));
  EXPECT_THAT(found.problems[1].ToString(), HasSubstr("c.yaml: cannot be read: Too many levels"));
}

// Each of these would wait for ever, or never end.
TEST(RuleFilesTest, PipesAndDevicesAreRefusedAndNotRead) {
  const TemporaryFile temporary;
  ASSERT_EQ(mkfifo((temporary.folder() / "pipe.yaml").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", temporary.folder() / "zero.yaml");
  for (const char* name : {"pipe.yaml", "zero.yaml"}) {
    const RuleFiles found = ReadRuleFiles(temporary.folder() / name);
    EXPECT_THAT(found.files, IsEmpty());
    ASSERT_THAT(found.problems, SizeIs(1));
    EXPECT_EQ(found.problems[0].what, "is not a regular file");
  }
  EXPECT_THAT(ReadRuleFiles(temporary.folder()).problems, SizeIs(2));
}

TEST(RuleFilesTest, AFileOfTheLargestSizeIsReadAndOneByteMoreIsNot) {
  const TemporaryFile temporary;
  const fs::path path = temporary.folder() / "rules.yaml";
  const RuleFileLimits limits{.file_bytes = 100'000};
  Write(path, std::string(100'000, 'x'));
  ASSERT_THAT(ReadRuleFiles(path, limits).files, SizeIs(1));
  EXPECT_THAT(ReadRuleFiles(path, limits).files[0].text, SizeIs(100'000));
  Write(path, std::string(100'001, 'x'));
  ASSERT_THAT(ReadRuleFiles(path, limits).problems, SizeIs(1));
  EXPECT_EQ(ReadRuleFiles(path, limits).problems[0].what, "is larger than 100000 bytes");
}

TEST(RuleFilesTest, AHugeFileTakesNoMemory) {
  const TemporaryFile temporary;
  const fs::path path = temporary.folder() / "rules.yaml";
  Write(path, "");
  fs::resize_file(path, std::uintmax_t{1} << 40);  // a hole: no disk either
  ASSERT_THAT(ReadRuleFiles(path).problems, SizeIs(1));
  EXPECT_EQ(ReadRuleFiles(path).problems[0].what, "is larger than 32 MiB");
}

TEST(RuleFilesTest, AFileWhoseSizeTheSystemDoesNotTellIsReadWhole) {
  const RuleFiles found = ReadRuleFiles("/proc/self/status");
  ASSERT_THAT(found.files, SizeIs(1));
  EXPECT_THAT(found.files[0].text, HasSubstr("VmRSS"));
}

TEST(RuleFilesTest, TheFilesOfADirectoryAreBoundedTogether) {
  const TemporaryFile temporary;
  for (const char* name : {"a.yaml", "b.yaml", "c.yaml"}) {
    Write(temporary.folder() / name, std::string(40, 'x'));
  }
  const RuleFiles found = ReadRuleFiles(temporary.folder(), {.bytes_in_all = 100});
  EXPECT_EQ(NamesOf(found), (std::vector<std::string>{"a.yaml", "b.yaml"}));
  ASSERT_THAT(found.problems, SizeIs(1));
  EXPECT_THAT(found.problems[0].file, EndsWith("c.yaml"));
  const RuleFiles many = ReadRuleFiles(temporary.folder(), {.files = 2});
  ASSERT_THAT(many.problems, SizeIs(1));
  EXPECT_EQ(many.problems[0].what, "holds 3 rule files, and at most 2 are read");
}

TEST(DigestTest, DiffersByContentOrderAndBoundaries) {
  EXPECT_EQ(DigestOf({"a", "b"}), DigestOf({"a", "b"}));
  EXPECT_THAT(DigestOf({}), SizeIs(32));
  EXPECT_NE(DigestOf({"a", "b"}), DigestOf({"b", "a"}));
  EXPECT_NE(DigestOf({"ab", ""}), DigestOf({"a", "b"}));
  EXPECT_NE(DigestOf({}), DigestOf({""}));
}

}  // namespace
}  // namespace weir::catalog
