#include "server/json_table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace weir {
namespace {

std::string Table(const std::string& json) {
  std::ostringstream out;
  PrintObjects(JsonValue::Parse(json).value(), "nothing", out);
  return out.str();
}

std::string Millis(const std::string& json) { return ShownMillis(JsonValue::Parse(json).value()); }

TEST(JsonTableTest, HasAColumnForEachName) {
  EXPECT_EQ(Table(R"([{"who": "ann", "retry_ms": 7}, {"who": "bob", "ok": true, "at": {"x": 1}}])"),
            "WHO  RETRY MS  OK   AT\n"
            "ann  7\n"
            "bob            yes  x=1\n");
  EXPECT_EQ(Table("[]"), "nothing\n");
  EXPECT_EQ(Table("null"), "nothing\n");
}

TEST(JsonTableTest, WhatAClientWroteCannotReachTheTerminal) {
  EXPECT_EQ(Table(R"([{"key": "a\u001b[31m\nb"}])"), "KEY\na?[31m?b\n");
}

TEST(JsonTableTest, TimesAreAsLongAsTheyAreRead) {
  EXPECT_EQ(Millis("null"), "");
  EXPECT_EQ(Millis("0"), "0ms");
  EXPECT_EQ(Millis("999"), "999ms");
  EXPECT_EQ(Millis("1000"), "1s");
  EXPECT_EQ(Millis("1250"), "1.2s");
  EXPECT_EQ(Millis("12345"), "12s");
  EXPECT_EQ(Millis("60000"), "1m");
  EXPECT_EQ(Millis("3725000"), "1h2m");
  EXPECT_EQ(Millis("3605000"), "1h");
  EXPECT_EQ(Millis("90000000"), "1d1h");
  EXPECT_EQ(Millis("-1"), "never");
}

}  // namespace
}  // namespace weir
