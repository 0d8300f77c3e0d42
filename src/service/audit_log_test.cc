#include "service/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr AuditTime kNow{std::chrono::milliseconds(1'769'860'800'123)};

AuditEntry Entry(const std::string& what) { return {"ann", "rules.put", what, "limit: 5/min"}; }

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class AuditLogTest : public testing::Test {
 protected:
  std::unique_ptr<AuditLog> Open(std::uint64_t most_bytes = 1'000'000, int files = 3) {
    auto log = AuditLog::Open(
        {.path = path_, .most_bytes = most_bytes, .files = files, .now = [] { return kNow; }});
    EXPECT_TRUE(log) << log.error().message;
    return std::move(*log);
  }

  TemporaryFile folder_;
  std::string path_ = folder_.path();
};

TEST(AuditLineTest, IsOneObjectOfJson) {
  EXPECT_EQ(AuditLine(Entry("shop/login"), kNow),
            R"({"time":"2026-01-31T12:00:00.123Z","who":"ann","action":"rules.put",)"
            R"("what":"shop/login","detail":"limit: 5/min"})");
}

TEST(AuditLineTest, NothingInAnEntryCanEndItsLineOrItsValue) {
  const std::string line =
      AuditLine({"a\"}\n{\"who\":\"root", "x\r\n", std::string("\0\x1b[31m", 6), "\xFF\xFE"}, kNow);
  EXPECT_EQ(line.find_first_of(std::string("\n\r\0\x1b", 4)), std::string::npos);
  EXPECT_THAT(line, HasSubstr(R"("who":"a\"}\n{\"who\":\"root")"));
  EXPECT_THAT(line, HasSubstr(R"("detail":"??")"));
}

TEST(AuditLineTest, OfALongFieldTheBeginningIsKept) {
  const std::string line = AuditLine({"ann", "x", "y", std::string(1'000'000, 'z')}, kNow);
  EXPECT_LT(line.size(), 5000);
  EXPECT_THAT(line, HasSubstr("zzz...\"}"));
}

TEST_F(AuditLogTest, TheNewestIsToldFirst) {
  const auto log = Open();
  for (const char* what : {"one", "two", "three"}) EXPECT_FALSE(log->Record(Entry(what)));
  EXPECT_THAT(log->Latest(2),
              ElementsAre(AuditLine(Entry("three"), kNow), AuditLine(Entry("two"), kNow)));
  EXPECT_EQ(log->Latest(100).size(), 3);
  EXPECT_THAT(log->Latest(0), IsEmpty());
}

TEST_F(AuditLogTest, GoesOnWhereItWasAndIsReadByItsOwnerOnly) {
  EXPECT_FALSE(Open()->Record(Entry("one")));
  const auto log = Open();
  EXPECT_FALSE(log->Record(Entry("two")));
  EXPECT_EQ(log->Latest(9).size(), 2);
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(AuditLogTest, ALineThatACrashLeftTornStandsAloneAndIsPassedOver) {
  const std::string whole = AuditLine(Entry("one"), kNow);
  // Cut at every byte: also where it looks like the end of a line.
  const std::string line = AuditLine({"a\"}", "b\\", "c\\\"}", "d\"}\\"}, kNow);
  for (std::size_t cut = 1; cut < line.size(); ++cut) {
    std::ofstream(path_) << whole << "\n" << line.substr(0, cut);
    const auto log = Open();
    EXPECT_THAT(log->Latest(9), ElementsAre(whole)) << cut;
    EXPECT_FALSE(log->Record({"a\"}", "b\\", "c\\\"}", "d\"}\\"}));
    EXPECT_THAT(log->Latest(9), ElementsAre(line, whole)) << cut;
    EXPECT_EQ(Contents(path_), whole + "\n" + line.substr(0, cut) + "\n" + line + "\n");
  }
}

TEST_F(AuditLogTest, AFullFileIsRenamedAndTheOldestGoes) {
  const std::size_t line = AuditLine(Entry("00"), kNow).size() + 1;
  const auto log = Open(2 * line, 3);
  for (int i = 10; i < 20; ++i) EXPECT_FALSE(log->Record(Entry(std::to_string(i))));
  EXPECT_EQ(Contents(path_).size(), 2 * line);
  EXPECT_EQ(Contents(path_ + ".1").size(), 2 * line);
  EXPECT_THAT(Contents(path_ + ".2"), HasSubstr(R"("what":"14")"));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".3"));
  // Over the ends of files too.
  const std::vector<std::string> latest = log->Latest(100);
  ASSERT_EQ(latest.size(), 6);
  for (int i = 0; i < 6; ++i) {
    EXPECT_THAT(latest[i], HasSubstr("\"what\":\"" + std::to_string(19 - i) + "\""));
  }
}

TEST_F(AuditLogTest, OneFileAloneBeginsAnew) {
  const std::size_t line = AuditLine(Entry("00"), kNow).size() + 1;
  const auto log = Open(line, 1);
  for (int i = 10; i < 13; ++i) EXPECT_FALSE(log->Record(Entry(std::to_string(i))));
  EXPECT_THAT(log->Latest(9), ElementsAre(AuditLine(Entry("12"), kNow)));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".1"));
}

TEST_F(AuditLogTest, AFileThatSomebodyElseRenamedIsMadeAnew) {
  const auto log = Open();
  EXPECT_FALSE(log->Record(Entry("one")));
  std::filesystem::rename(path_, path_ + ".1");
  EXPECT_FALSE(log->Record(Entry("two")));
  EXPECT_EQ(Contents(path_), AuditLine(Entry("two"), kNow) + "\n");
  EXPECT_EQ(log->Latest(9).size(), 2);
}

TEST_F(AuditLogTest, AFullDiskIsAnError) {
  const auto log = AuditLog::Open({.path = "/dev/full"});
  ASSERT_TRUE(log) << log.error().message;
  const auto problem = (*log)->Record(Entry("one"));
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->message, "cannot write /dev/full: No space left on device");
  EXPECT_THAT((*log)->Latest(9), IsEmpty());
}

TEST_F(AuditLogTest, AFolderThatIsNotThereIsAnError) {
  const auto log = AuditLog::Open({.path = path_ + "/no/audit.jsonl"});
  ASSERT_FALSE(log);
  EXPECT_THAT(log.error().message, HasSubstr("/no/audit.jsonl: No such file or directory"));
}

TEST(AuditMemoryTest, KeepsTheLatestOnly) {
  AuditMemory audit([] { return kNow; });
  for (std::size_t i = 0; i < AuditMemory::kMost + 5; ++i) {
    EXPECT_FALSE(audit.Record(Entry(std::to_string(i))));
  }
  EXPECT_THAT(audit.Latest(2), ElementsAre(HasSubstr("\"1004\""), HasSubstr("\"1003\"")));
  const auto all = audit.Latest(100'000);
  EXPECT_EQ(all.size(), AuditMemory::kMost);
  EXPECT_THAT(all.back(), Not(HasSubstr("\"4\"")));
}

using AuditLogConcurrentTest = AuditLogTest;

TEST_F(AuditLogConcurrentTest, SeveralWritersLoseNoLineAndTearNone) {
  const std::size_t line = AuditLine(Entry("0.00"), kNow).size() + 1;
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i) {
    // Each with a log of its own, as processes have.
    writers.emplace_back([this, line, i] {
      const auto log = Open(10 * line, 20);
      for (int j = 10; j < 40; ++j) {
        EXPECT_FALSE(log->Record(Entry(std::to_string(i) + "." + std::to_string(j))));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(Open(10 * line, 20)->Latest(1000).size(), 90);
  EXPECT_EQ(Contents(path_ + ".8").size(), 10 * line);
  EXPECT_FALSE(std::filesystem::exists(path_ + ".9"));
}

}  // namespace
}  // namespace weir
