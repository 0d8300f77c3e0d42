#include "server/json_output.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace weir {
namespace {

TEST(JsonOutputTest, PutsEachValueOnALineOfItsOwn) {
  std::ostringstream out;
  {
    JsonOutput json(out);
    json.Object([&json] {
      json.Key("text").Text("a \"b\"\n\\ \x01 \xC3\xA4");
      json.Key("number").Number(-7);
      json.Key("none").TextOrNull("");
      json.Key("empty").List(std::vector<int>(), [](int) {});
      json.Key("list").List(std::vector<int>{1, 2}, [&json](int i) { json.Number(i); });
      json.Key("object").Object([] {});
      json.Key("flag").Flag(true);
    });
  }
  EXPECT_EQ(out.str(),
            "{\n  \"text\": \"a \\\"b\\\"\\n\\\\ \\u0001 \xC3\xA4\",\n  \"number\": -7,\n"
            "  \"none\": null,\n  \"empty\": [],\n  \"list\": [\n    1,\n    2\n  ],\n"
            "  \"object\": {},\n  \"flag\": true\n}\n");
}

}  // namespace
}  // namespace weir
