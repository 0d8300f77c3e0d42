#include "catalog/file_watch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "tests/temporary_file.h"

namespace weir::catalog {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Reason = FileWatch::Reason;

// Long enough that only a change that went unnoticed gets there.
constexpr seconds kLong{60};
// Long enough for a notice that should not come.
constexpr milliseconds kShort{100};
constexpr FileWatchOptions kQuick{.settle = milliseconds(1), .settle_at_most = milliseconds(20)};

void Write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

class FileWatchTest : public testing::Test {
 protected:
  // Something changed, and nothing after it.
  static void ExpectAChange(FileWatch& watch) {
    ASSERT_EQ(watch.Wait(kLong), Reason::kChange);
    while (watch.Wait(kShort) == Reason::kChange) {
    }
  }
  static void ExpectNoChange(FileWatch& watch) { EXPECT_EQ(watch.Wait(kShort), Reason::kTime); }

  [[nodiscard]] fs::path folder() const { return temporary_.folder(); }

 private:
  TemporaryFile temporary_;
};

TEST_F(FileWatchTest, NoticesThatAFileIsWrittenTo) {
  const fs::path file = folder() / "rules.yaml";
  Write(file, "1");
  FileWatch watch(file, kQuick);
  EXPECT_TRUE(watch.is_immediate());
  ExpectNoChange(watch);
  Write(file, "2");
  ExpectAChange(watch);
  ExpectNoChange(watch);
}

TEST_F(FileWatchTest, NoticesAWriteByAnotherNameOfTheFile) {
  const fs::path file = folder() / "rules.yaml";
  Write(file, "1");
  fs::create_directory(folder() / "elsewhere");
  fs::create_hard_link(file, folder() / "elsewhere/same");
  FileWatch watch(file, kQuick);
  Write(folder() / "elsewhere/same", "2");
  ExpectAChange(watch);
}

TEST_F(FileWatchTest, NoticesThatAnotherFileIsRenamedOverAgainAndAgain) {
  const fs::path file = folder() / "rules.yaml";
  Write(file, "0");
  FileWatch watch(file, kQuick);
  for (int i = 0; i < 3; ++i) {
    Write(folder() / "draft", "new");
    fs::rename(folder() / "draft", file);
    ExpectAChange(watch);
  }
}

TEST_F(FileWatchTest, NoticesAFileThatDidNotExistAndOneThatIsGone) {
  const fs::path file = folder() / "not/there/yet/rules.yaml";
  FileWatch watch(file, kQuick);
  ExpectNoChange(watch);
  fs::create_directories(file.parent_path());
  ExpectAChange(watch);
  Write(file, "1");
  ExpectAChange(watch);
  fs::remove(file);
  ExpectAChange(watch);
  Write(file, "2");
  ExpectAChange(watch);
}

TEST_F(FileWatchTest, NoticesThatADirectoryOnTheWayIsAnotherOne) {
  fs::create_directories(folder() / "now/deep");
  fs::create_directories(folder() / "next/deep");
  Write(folder() / "now/deep/rules.yaml", "1");
  Write(folder() / "next/deep/rules.yaml", "2");
  FileWatch watch(folder() / "now/deep/rules.yaml", kQuick);
  fs::rename(folder() / "now", folder() / "before");
  fs::rename(folder() / "next", folder() / "now");
  ExpectAChange(watch);
  Write(folder() / "before/deep/rules.yaml", "3");
  ExpectNoChange(watch);
  Write(folder() / "now/deep/rules.yaml", "4");
  ExpectAChange(watch);
}

// As the kubelet does it: the new version is written in whole, then one link is swapped.
class ConfigMap {
 public:
  explicit ConfigMap(const fs::path& folder) : folder_(folder) {}
  void Publish(const std::string& version, const std::string& text) const {
    fs::create_directory(folder_ / version);
    Write(folder_ / version / "rules.yaml", text);
    fs::create_directory_symlink(version, folder_ / "..data_tmp");
    fs::rename(folder_ / "..data_tmp", folder_ / "..data");
    if (!fs::is_symlink(folder_ / "rules.yaml")) {
      fs::create_symlink("..data/rules.yaml", folder_ / "rules.yaml");
    }
  }
  void Remove(const std::string& version) const { fs::remove_all(folder_ / version); }

 private:
  fs::path folder_;
};

TEST_F(FileWatchTest, NoticesTheSwapOfAConfigMap) {
  const ConfigMap map(folder());
  map.Publish("..2026_01_01", "1");
  FileWatch file(folder() / "rules.yaml", kQuick);
  FileWatch directory(folder(), kQuick);
  for (const char* version : {"..2026_01_02", "..2026_01_03", "..2026_01_04"}) {
    map.Publish(version, "more");
    ExpectAChange(file);
    ExpectAChange(directory);
  }
  map.Remove("..2026_01_01");
  ExpectNoChange(file);
  ExpectNoChange(directory);
}

TEST_F(FileWatchTest, NoticesAFileAtTheEndOfLinksThatLeadElsewhere) {
  fs::create_directories(folder() / "a/b");
  fs::create_directories(folder() / "real");
  Write(folder() / "real/rules.yaml", "1");
  fs::create_symlink("../../real", folder() / "a/b/link");
  fs::create_symlink(folder() / "a/b/link/rules.yaml", folder() / "rules.yaml");
  FileWatch watch(folder() / "rules.yaml", kQuick);
  Write(folder() / "real/rules.yaml", "2");
  ExpectAChange(watch);
  fs::create_directories(folder() / "other");
  Write(folder() / "other/rules.yaml", "3");
  fs::create_symlink("../../other", folder() / "a/b/new");
  fs::rename(folder() / "a/b/new", folder() / "a/b/link");
  ExpectAChange(watch);
  Write(folder() / "other/rules.yaml", "4");
  ExpectAChange(watch);
}

TEST_F(FileWatchTest, LinksInACircleEnd) {
  fs::create_symlink("b.yaml", folder() / "a.yaml");
  fs::create_symlink("a.yaml", folder() / "b.yaml");
  FileWatch file(folder() / "a.yaml", kQuick);
  FileWatch directory(folder(), kQuick);
  ExpectNoChange(file);
  fs::remove(folder() / "a.yaml");
  Write(folder() / "a.yaml", "1");
  ExpectAChange(file);
  ExpectAChange(directory);
}

TEST_F(FileWatchTest, NoticesTheRuleFilesOfADirectoryAndNoOthers) {
  FileWatch watch(folder(), kQuick);
  Write(folder() / "a.yaml", "1");
  ExpectAChange(watch);
  Write(folder() / "a.yaml", "2");
  ExpectAChange(watch);
  fs::rename(folder() / "a.yaml", folder() / "b.yml");
  ExpectAChange(watch);
  Write(folder() / ".b.yml.swp", "1");
  Write(folder() / "notes.txt", "1");
  Write(folder() / ".hidden.yaml", "1");
  ExpectNoChange(watch);
  fs::remove(folder() / "b.yml");
  ExpectAChange(watch);
}

TEST_F(FileWatchTest, ABurstOfWritesIsToldOnce) {
  const fs::path file = folder() / "rules.yaml";
  Write(file, "1");
  FileWatch watch(file, {.settle = milliseconds(300), .settle_at_most = seconds(60)});
  for (int i = 0; i < 20; ++i) Write(file, std::to_string(i));
  EXPECT_EQ(watch.Wait(kLong), Reason::kChange);
  ExpectNoChange(watch);
}

TEST_F(FileWatchTest, WithoutNotificationsTheTimeEndsTheWait) {
  const fs::path file = folder() / "rules.yaml";
  Write(file, "1");
  FileWatch watch(file, {.notifications = FileWatchOptions::Notifications::kNone});
  EXPECT_FALSE(watch.is_immediate());
  Write(file, "2");
  ExpectNoChange(watch);
}

TEST_F(FileWatchTest, AWakeThatCameFirstEndsTheNextWaitAndNoOther) {
  FileWatch watch(folder() / "rules.yaml", kQuick);
  watch.Wake();
  watch.Wake();
  EXPECT_EQ(watch.Wait(kLong), Reason::kWoken);
  EXPECT_EQ(watch.Wait(milliseconds(0)), Reason::kTime);
}

TEST(FileWatchConcurrentTest, AFileThatIsWrittenToAllTheTimeIsStillTold) {
  const TemporaryFile temporary;
  const fs::path file = temporary.folder() / "rules.yaml";
  Write(file, "1");
  FileWatch watch(file, {.settle = seconds(60), .settle_at_most = milliseconds(50)});
  std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) Write(file, "more");
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(watch.Wait(kLong), Reason::kChange);
}

TEST(FileWatchConcurrentTest, AnotherThreadEndsTheWaitAlsoAmongNoise) {
  const TemporaryFile temporary;
  FileWatch watch(temporary.folder() / "rules.yaml", kQuick);
  std::jthread noise([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      Write(temporary.folder() / "other", "noise");
      fs::remove(temporary.folder() / "other");
    }
  });
  std::jthread waker([&] { watch.Wake(); });
  EXPECT_EQ(watch.Wait(kLong), Reason::kWoken);
}

}  // namespace
}  // namespace weir::catalog
