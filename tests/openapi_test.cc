// The OpenAPI document is one, as far as it can be told without a library for it.
#include "frontend/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/pointer.h>

#include <set>
#include <string>

#include "frontend/admin_routes.h"

namespace weir {
namespace {

using rapidjson::Value;

class OpenApiTest : public testing::Test {
 protected:
  OpenApiTest() {
    document_.Parse(OpenApiText("1.2").c_str());
    EXPECT_FALSE(document_.HasParseError());
  }
  // Calls `use` with every reference to a schema.
  template <typename Use>
  void ForEachReference(const Value& value, const Use& use) {
    if (value.IsArray()) {
      for (const Value& element : value.GetArray()) ForEachReference(element, use);
    } else if (value.IsObject()) {
      for (const auto& member : value.GetObject()) {
        if (member.name == "$ref") use(std::string(member.value.GetString()));
        ForEachReference(member.value, use);
      }
    }
  }

  rapidjson::Document document_;
};

TEST_F(OpenApiTest, HasWhatEveryDocumentMustHave) {
  EXPECT_STREQ(document_["openapi"].GetString(), "3.1.0");
  EXPECT_STREQ(document_["info"]["version"].GetString(), "1.2");
  EXPECT_TRUE(document_["info"].HasMember("title"));
  EXPECT_STREQ(document_["components"]["securitySchemes"]["token"]["scheme"].GetString(), "bearer");
}

TEST_F(OpenApiTest, DescribesEveryCallAndNoOther) {
  std::size_t operations = 0;
  for (const auto& path : document_["paths"].GetObject()) operations += path.value.MemberCount();
  EXPECT_EQ(operations, AdminRoutes().size());
  for (const AdminRoute& route : AdminRoutes()) {
    EXPECT_TRUE(document_["paths"].HasMember(std::string(route.path).c_str())) << route.path;
  }
}

TEST_F(OpenApiTest, EveryParameterOfAPathIsDescribed) {
  for (const auto& path : document_["paths"].GetObject()) {
    const std::string text = path.name.GetString();
    for (const auto& operation : path.value.GetObject()) {
      std::set<std::string> names;
      for (const Value& parameter : operation.value["parameters"].GetArray()) {
        if (std::string(parameter["in"].GetString()) != "path") continue;
        EXPECT_TRUE(parameter["required"].GetBool());
        names.insert(parameter["name"].GetString());
      }
      std::set<std::string> wanted;
      for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
        wanted.insert(text.substr(at + 1, text.find('}', at) - at - 1));
      }
      EXPECT_EQ(names, wanted) << text;
      EXPECT_TRUE(operation.value["responses"].HasMember("200")) << text;
      EXPECT_GT(operation.value["summary"].GetStringLength(), 0U) << text;
    }
  }
}

TEST_F(OpenApiTest, EveryReferenceLeadsToASchemaAndEverySchemaIsUsed) {
  std::set<std::string> used;
  ForEachReference(document_, [&](const std::string& reference) {
    EXPECT_NE(rapidjson::Pointer(reference.c_str()).Get(document_), nullptr) << reference;
    used.insert(reference);
  });
  for (const auto& schema : document_["components"]["schemas"].GetObject()) {
    EXPECT_TRUE(used.contains("#/components/schemas/" + std::string(schema.name.GetString())))
        << schema.name.GetString() << " is never used";
  }
}

}  // namespace
}  // namespace weir
