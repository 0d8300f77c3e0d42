#include "catalog/file_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "catalog/retriever.h"
#include "tests/rules_in_force.h"
#include "tests/temporary_file.h"

namespace weir::catalog {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Outcome = Retrieved::Outcome;
using State = RetrieverStatus::State;

constexpr seconds kLong{60};

std::string FileOf(const std::string& space, const std::string& rule) {
  return "namespace: " + space + "\nrules: [{name: " + rule + ", limit: 5/min}]\n";
}

void Write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

class FileSourceTest : public testing::Test {
 protected:
  FileSourceTest() : file_(folder() / "rules.yaml") {}
  [[nodiscard]] fs::path folder() const { return temporary_.folder(); }

 private:
  TemporaryFile temporary_;

 protected:
  fs::path file_;
};

TEST_F(FileSourceTest, BringsTheRulesOfAFileAndThenOnlyWhatIsNew) {
  Write(file_, FileOf("shop", "login"));
  FileSource source(file_);
  EXPECT_EQ(source.Describe(), "the file " + file_.string());
  const Retrieved first = source.Look();
  EXPECT_EQ(first.outcome, Outcome::kRules);
  EXPECT_THAT(NamesOf(first.sets), ElementsAre("shop/login"));
  EXPECT_EQ(source.Look().outcome, Outcome::kUnchanged);
  Write(file_, FileOf("shop", "logon"));
  const Retrieved second = source.Look();
  EXPECT_EQ(second.outcome, Outcome::kRules);
  EXPECT_THAT(NamesOf(second.sets), ElementsAre("shop/logon"));
  EXPECT_NE(second.version, first.version);
}

// The size and the time of a file may stay as they were; its bytes tell.
TEST_F(FileSourceTest, SeesAChangeThatLeavesSizeAndTimeAsTheyWere) {
  Write(file_, FileOf("shop", "login"));
  const auto time = fs::last_write_time(file_);
  FileSource source(file_);
  source.Look();
  Write(file_, FileOf("shop", "logon"));
  fs::last_write_time(file_, time);
  EXPECT_EQ(source.Look().outcome, Outcome::kRules);
}

TEST_F(FileSourceTest, ABadFileIsToldOnceAndAFixedOneIsReadEvenIfItIsTheOldOne) {
  Write(file_, FileOf("shop", "login"));
  FileSource source(file_);
  const std::string version = source.Look().version;
  Write(file_, "namespace: shop\nrules:\n  - {name: a, limit: 5}\n  - {name: b, limt: 5/min}\n");
  const Retrieved bad = source.Look();
  EXPECT_EQ(bad.outcome, Outcome::kBad);
  EXPECT_THAT(bad.sets, IsEmpty());
  ASSERT_GE(bad.problems.size(), 2);
  EXPECT_THAT(bad.problems[0].ToString(), HasSubstr("rules.yaml:3:"));
  EXPECT_EQ(source.Look().outcome, Outcome::kUnchanged);
  Write(file_, FileOf("shop", "login"));
  const Retrieved fixed = source.Look();
  EXPECT_EQ(fixed.outcome, Outcome::kRules);
  EXPECT_EQ(fixed.version, version);
}

TEST_F(FileSourceTest, AFileThatVanishesIsAwayUntilItIsBack) {
  Write(file_, FileOf("shop", "login"));
  FileSource source(file_);
  source.Look();
  fs::rename(file_, folder() / "elsewhere");
  for (int i = 0; i < 2; ++i) {
    const Retrieved away = source.Look();
    EXPECT_EQ(away.outcome, Outcome::kAway);
    EXPECT_THAT(away.away, EndsWith("rules.yaml cannot be read: No such file or directory"));
  }
  fs::rename(folder() / "elsewhere", file_);
  EXPECT_EQ(source.Look().outcome, Outcome::kUnchanged);
}

TEST_F(FileSourceTest, WhateverLiesInPlaceOfAFileIsSurvived) {
  FileSource source(file_);
  EXPECT_EQ(source.Look().outcome, Outcome::kAway);
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(source.Look().outcome, Outcome::kBad);
  EXPECT_EQ(source.Look().outcome, Outcome::kUnchanged);
  fs::remove(file_);
  fs::create_symlink("/dev/zero", file_);
  EXPECT_NE(source.Look().outcome, Outcome::kRules);
  fs::remove(file_);
  fs::create_directory(file_);
  EXPECT_EQ(source.Look().outcome, Outcome::kAway);
  EXPECT_THAT(source.Describe(), testing::StartsWith("the directory "));
  fs::remove(file_);
  for (const std::string& garbage :
       {std::string(100'000, '\0'), std::string("\xff\xfe\x00x", 4), std::string(100'000, '['),
        std::string("%PDF-1.4"), std::string("- - - -"), std::string()}) {
    Write(file_, garbage);
    EXPECT_EQ(source.Look().outcome, Outcome::kBad) << garbage.substr(0, 20);
  }
  Write(file_, FileOf("shop", "login"));
  EXPECT_EQ(source.Look().outcome, Outcome::kRules);
}

TEST_F(FileSourceTest, JoinsTheFilesOfADirectoryOursAndEnvoys) {
  Write(folder() / "b.yaml", FileOf("shop", "login"));
  Write(folder() / "a.yml",
        "domain: edge\n"
        "descriptors: [{key: k, rate_limit: {unit: minute, requests_per_unit: 5}}]\n");
  FileSource source(folder());
  const Retrieved found = source.Look();
  ASSERT_EQ(found.outcome, Outcome::kRules);
  ASSERT_THAT(found.sets, SizeIs(2));
  EXPECT_EQ(found.sets[0].space, "edge");
  EXPECT_EQ(found.sets[1].space, "shop");
  fs::remove(folder() / "a.yml");
  EXPECT_THAT(NamesOf(source.Look().sets), ElementsAre("shop/login"));
  fs::rename(folder() / "b.yaml", folder() / "b.yaml.off");
  EXPECT_EQ(source.Look().outcome, Outcome::kAway);
}

TEST_F(FileSourceTest, OneBadFileKeepsAllOfADirectoryAsItWasAndAllProblemsAreTold) {
  Write(folder() / "a.yaml", FileOf("shop", "login"));
  Write(folder() / "b.yaml", "namespace: bank\nrules: 7\n");
  Write(folder() / "c.yaml", "]");
  fs::create_symlink("nowhere", folder() / "d.yaml");
  FileSource source(folder());
  const Retrieved bad = source.Look();
  EXPECT_EQ(bad.outcome, Outcome::kBad);
  EXPECT_THAT(bad.sets, IsEmpty());
  std::set<std::string> files;
  for (const rule::Problem& problem : bad.problems) {
    files.insert(fs::path(problem.file).filename().string());
  }
  EXPECT_THAT(files, ElementsAre("b.yaml", "c.yaml", "d.yaml"));
}

TEST_F(FileSourceTest, ANamespaceInTwoFilesIsAProblemThatNamesBoth) {
  Write(folder() / "a.yaml", FileOf("shop", "login"));
  Write(folder() / "b.yaml", FileOf("shop", "api"));
  FileSource source(folder());
  const Retrieved bad = source.Look();
  EXPECT_EQ(bad.outcome, Outcome::kBad);
  ASSERT_THAT(bad.problems, SizeIs(1));
  EXPECT_EQ(bad.problems[0].ToString(), (folder() / "b.yaml").string() +
                                            ": the rules of namespace 'shop' are in " +
                                            (folder() / "a.yaml").string() +
                                            " already; put all rules of a namespace into one file");
}

// --- with a retriever: what is written comes into force
// -------------------------------------------

class FileSourceConcurrentTest : public FileSourceTest {
 protected:
  std::unique_ptr<Retriever> Make(const fs::path& path, const FileWatchOptions& watch = {},
                                  milliseconds interval = std::chrono::hours(1)) {
    return std::make_unique<Retriever>(
        std::make_unique<FileSource>(path, watch),
        RetrieverOptions{.interval = interval, .longest = interval},
        [this](const std::vector<rule::RuleSet>& sets, const std::string&) {
          return in_force_.Publish(sets);
        });
  }
  RulesInForce in_force_;
};

// The interval is an hour: only the kernel's notification can make these pass.
TEST_F(FileSourceConcurrentTest, WhatIsRenamedOverComesIntoForceAtOnce) {
  Write(file_, FileOf("shop", "r0"));
  const auto retriever = Make(file_);
  EXPECT_EQ(retriever->Start().state(), State::kInForce);
  for (int i = 1; i <= 3; ++i) {
    const std::string rule = "r" + std::to_string(i);
    Write(folder() / "draft", FileOf("shop", rule));
    fs::rename(folder() / "draft", file_);
    ASSERT_TRUE(in_force_.Await({"shop/" + rule}));
  }
}

TEST_F(FileSourceConcurrentTest, TheSwapOfAConfigMapComesIntoForceAtOnce) {
  const auto publish = [this](const std::string& version, const std::string& rule) {
    fs::create_directory(folder() / version);
    Write(folder() / version / "rules.yaml", FileOf("shop", rule));
    fs::create_directory_symlink(version, folder() / "..data_tmp");
    fs::rename(folder() / "..data_tmp", folder() / "..data");
  };
  publish("..2026_01_01", "r1");
  fs::create_symlink("..data/rules.yaml", file_);
  const auto retriever = Make(file_);
  EXPECT_EQ(retriever->Start().state(), State::kInForce);
  publish("..2026_01_02", "r2");
  ASSERT_TRUE(in_force_.Await({"shop/r2"}));
  fs::remove_all(folder() / "..2026_01_01");
  publish("..2026_01_03", "r3");
  ASSERT_TRUE(in_force_.Await({"shop/r3"}));
}

TEST_F(FileSourceConcurrentTest, FilesOfADirectoryComeAndGo) {
  Write(folder() / "a.yaml", FileOf("shop", "login"));
  const auto retriever = Make(folder());
  EXPECT_EQ(retriever->Start().state(), State::kInForce);
  Write(folder() / "b.yml", FileOf("bank", "api"));
  ASSERT_TRUE(in_force_.Await({"shop/login", "bank/api"}));
  fs::rename(folder() / "b.yml", folder() / "0.yml");
  ASSERT_TRUE(in_force_.Await({"bank/api", "shop/login"}));
  fs::remove(folder() / "a.yaml");
  ASSERT_TRUE(in_force_.Await({"bank/api"}));
}

TEST_F(FileSourceConcurrentTest, AFileThatComesLaterBadAndGoneAndBackIsFollowed) {
  const auto retriever = Make(file_);
  EXPECT_EQ(retriever->Start().state(), State::kAway);
  Write(file_, FileOf("shop", "r1"));
  ASSERT_TRUE(in_force_.Await({"shop/r1"}));
  Write(file_, "nonsense");
  RetrieverStatus status = retriever->LookNow(kLong);
  EXPECT_EQ(status.state(), State::kBad);
  EXPECT_EQ(status.published, 1);
  EXPECT_THAT(status.problems, SizeIs(1));
  fs::remove(file_);
  status = retriever->LookNow(kLong);
  EXPECT_EQ(status.state(), State::kAway);
  EXPECT_TRUE(in_force_.Await({"shop/r1"}));
  Write(file_, FileOf("shop", "r2"));
  ASSERT_TRUE(in_force_.Await({"shop/r2"}));
}

TEST_F(FileSourceConcurrentTest, WithoutNotificationsLookingIsEnough) {
  Write(file_, FileOf("shop", "r1"));
  const auto retriever =
      Make(file_, {.notifications = FileWatchOptions::Notifications::kNone}, milliseconds(5));
  retriever->Start();
  Write(folder() / "draft", FileOf("shop", "r2"));
  fs::rename(folder() / "draft", file_);
  ASSERT_TRUE(in_force_.Await({"shop/r2"}));
}

// Whoever renames over never lets anybody see half a file.
TEST_F(FileSourceConcurrentTest, AnotherVersionEveryMomentIsNeverBad) {
  Write(file_, FileOf("shop", "r0"));
  const auto retriever = Make(file_, {.settle = milliseconds(0)}, milliseconds(1));
  retriever->Start();
  for (int i = 1; i <= 300; ++i) {
    Write(folder() / "draft", FileOf("shop", "r" + std::to_string(i)));
    fs::rename(folder() / "draft", file_);
  }
  ASSERT_TRUE(in_force_.Await({"shop/r300"}));
  EXPECT_FALSE(retriever->status().bad_since.has_value());
  EXPECT_FALSE(retriever->status().away_since.has_value());
}

}  // namespace
}  // namespace weir::catalog
