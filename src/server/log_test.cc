#include "server/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "rule/json_object.h"
#include "server/log_options.h"

namespace weir {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr Log::Time kNoon{seconds(1'772'366'400)};  // 2026-03-01T12:00:00Z

std::vector<std::string> Lines(const std::ostringstream& out) {
  std::vector<std::string> lines;
  std::istringstream in(out.str());
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(LogTest, TextHasTimeLevelEventMessageAndFields) {
  std::ostringstream out;
  Log log(out, LogFormat::kText, LogLevel::kInfo);
  log.Write(Event::kRulesReplaced, "newer rules are in force",
            {{"source", "the file a.yaml"}, {"version", "7"}, {"before", ""}},
            kNoon + milliseconds(42));
  EXPECT_EQ(out.str(),
            "2026-03-01T12:00:00.042Z info    rules_replaced: newer rules are in force "
            "source=\"the file a.yaml\" version=7 before=\"\"\n");
}

TEST(LogTest, JsonHasTheSameAsMembers) {
  std::ostringstream out;
  Log log(out, LogFormat::kJson, LogLevel::kInfo);
  log.Write(Event::kSourceLost, "it is away", {{"source", "db"}}, kNoon);
  EXPECT_EQ(out.str(),
            "{\"time\":\"2026-03-01T12:00:00.000Z\",\"level\":\"error\",\"event\":\"source_lost\","
            "\"message\":\"it is away\",\"source\":\"db\"}\n");
}

TEST(LogTest, NothingThatIsLoggedLeavesItsLine) {
  const std::string nasty =
      "a\nb\r\x1b[31m\x7f \"}{ \\ %v {} \xff\xc3\xa9" + std::string(1, '\0') + "\t";
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    std::ostringstream out;
    Log log(out, format, LogLevel::kInfo);
    log.Write(Event::kReloadFailed, nasty, {{"file", nasty}}, kNoon);
    const std::string line = out.str();
    ASSERT_THAT(line, EndsWith("\n"));
    for (const char letter : line.substr(0, line.size() - 1)) {
      EXPECT_TRUE(static_cast<unsigned char>(letter) >= ' ' && letter != '\x7f') << line;
    }
    EXPECT_THAT(line, HasSubstr("%v {} ?\xc3\xa9")) << "neither a pattern nor bytes of no text";
    if (format == LogFormat::kJson) {
      EXPECT_TRUE(rule::JsonObject::Parse(line).ok()) << line;
    }
  }
}

TEST(LogTest, LinesBelowTheLevelAreNotWrittenAndTheLevelCanChange) {
  std::ostringstream out;
  Log log(out, LogFormat::kText, LogLevel::kWarning);
  log.Write(Event::kStarted, "one", {}, kNoon);
  log.Write(Event::kNote, "two", {}, kNoon);
  log.SetLevel(LogLevel::kInfo);
  log.Write(Event::kStarted, "three", {}, kNoon);
  log.SetLevel(LogLevel::kOff);
  log.Write(Event::kReloadFailed, "four", {}, kNoon);
  EXPECT_THAT(Lines(out), testing::ElementsAre(EndsWith("two"), EndsWith("three")));
}

TEST(LogTest, AKindOfEventThatComesTooOftenIsLimitedByItselfAndItsNumberTold) {
  std::ostringstream out;
  Log log(out, LogFormat::kText, LogLevel::kInfo);
  for (int i = 0; i < 100; ++i) log.Write(Event::kRulesRefused, "bad", {}, kNoon);
  EXPECT_EQ(Lines(out).size(), 20U);
  log.Write(Event::kSourceLost, "another kind", {}, kNoon);
  EXPECT_THAT(Lines(out).back(), EndsWith("another kind"));
  log.Write(Event::kRulesRefused, "bad", {}, kNoon + seconds(9));
  EXPECT_EQ(Lines(out).size(), 21U);
  log.Write(Event::kRulesRefused, "bad", {}, kNoon + seconds(10));
  EXPECT_THAT(Lines(out).back(), EndsWith("bad suppressed=81"));
  log.Write(Event::kRulesRefused, "bad", {}, kNoon + seconds(20));
  EXPECT_THAT(Lines(out).back(), EndsWith("rules_refused: bad")) << "told once";
}

TEST(LogTest, AtTheEndItIsToldWhatWasLeftOut) {
  std::ostringstream out;
  Log log(out, LogFormat::kText, LogLevel::kInfo);
  log.TellSuppressed(kNoon);
  EXPECT_EQ(out.str(), "");
  for (int i = 0; i < 23; ++i) log.Write(Event::kNote, "n", {}, kNoon);
  log.TellSuppressed(kNoon);
  EXPECT_THAT(Lines(out).back(), EndsWith("note: lines like this were left out suppressed=3"));
  EXPECT_EQ(Lines(out).size(), 21U);
}

TEST(LogTest, EveryEventHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kEvents; ++i) names.insert(NameOf(static_cast<Event>(i)));
  EXPECT_EQ(names.size(), kEvents);
}

TEST(LogConcurrentTest, LinesOfManyThreadsStayWhole) {
  std::ostringstream out;
  {
    Log log(out, LogFormat::kJson, LogLevel::kInfo);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
      threads.emplace_back([&log, i] {
        for (int j = 0; j < 100; ++j) log.Write(static_cast<Event>(i), "hello", {}, kNoon);
      });
    }
    threads.clear();
    log.TellSuppressed(kNoon);
  }
  EXPECT_EQ(Lines(out).size(), 4 * (20U + 1));
  for (const std::string& line : Lines(out)) {
    EXPECT_TRUE(rule::JsonObject::Parse(line).ok()) << line;
  }
}

TEST(LogOptionsTest, AFormatOrLevelThatDoesNotExistIsNamed) {
  EXPECT_EQ(Read(LogOptions{.format = "json", .level = "error"})->level, LogLevel::kError);
  EXPECT_EQ(Read(LogOptions{.format = "xml"}).error().message,
            "--log-format: there is text and json, got 'xml'");
  EXPECT_EQ(Read(LogOptions{.level = "loud"}).error().message,
            "--log-level: there is debug, info, warning, error and off, got 'loud'");
}

}  // namespace
}  // namespace weir
