// A value of JSON against a JSON Schema: as much of it as our OpenAPI document uses. A keyword that
// is not known here is reported, so that nothing of a schema is passed over in silence.
#pragma once

#include <rapidjson/document.h>
#include <rapidjson/pointer.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

class JsonSchema {
 public:
  // References are looked up in `document`.
  explicit JsonSchema(const rapidjson::Value& document) : document_(document) {}

  // What is wrong with `value`, a line each; nothing if it is as the schema says.
  std::vector<std::string> Check(const rapidjson::Value& schema, const rapidjson::Value& value) {
    wrong_.clear();
    CheckAt("$", schema, value);
    return wrong_;
  }

 private:
  using Value = rapidjson::Value;

  static std::string TypeOf(const Value& value) {
    if (value.IsNull()) return "null";
    if (value.IsBool()) return "boolean";
    if (value.IsString()) return "string";
    if (value.IsArray()) return "array";
    if (value.IsObject()) return "object";
    return value.IsInt64() || value.IsUint64() ? "integer" : "number";
  }
  static bool HasType(const Value& types, const std::string& type) {
    if (types.IsString()) return types.GetString() == type;
    return std::any_of(types.Begin(), types.End(),
                       [&](const Value& one) { return one.GetString() == type; });
  }

  void CheckAt(const std::string& place, const Value& schema, const Value& value) {
    for (const auto& keyword : schema.GetObject()) {
      const std::string name = keyword.name.GetString();
      const Value& says = keyword.value;
      if (name == "$ref") {
        const Value* found = rapidjson::Pointer(says.GetString()).Get(document_);
        found != nullptr ? CheckAt(place, *found, value)
                         : wrong_.push_back(place + ": no such schema: " + says.GetString());
      } else if (name == "type") {
        if (!HasType(says, TypeOf(value))) wrong_.push_back(place + ": is a " + TypeOf(value));
      } else if (name == "enum") {
        const bool known =
            std::any_of(says.Begin(), says.End(), [&](const Value& one) { return one == value; });
        if (!known) wrong_.push_back(place + ": is none of the values that are listed");
      } else if (name == "required") {
        for (const Value& member : says.GetArray()) {
          if (value.IsObject() && !value.HasMember(member)) {
            wrong_.push_back(place + ": lacks " + member.GetString());
          }
        }
      } else if (name == "items") {
        for (rapidjson::SizeType i = 0; value.IsArray() && i < value.Size(); ++i) {
          CheckAt(place + "[" + std::to_string(i) + "]", says, value[i]);
        }
      } else if (name == "properties") {
        // With those that are not listed, below.
      } else if (name == "additionalProperties") {
        if (value.IsObject()) CheckOthers(place, schema, says, value);
      } else if (name != "format") {
        wrong_.push_back(place + ": the schema has an unknown keyword, " + name);
      }
    }
    if (!schema.HasMember("properties") || !value.IsObject()) return;
    for (const auto& property : schema["properties"].GetObject()) {
      const auto member = value.FindMember(property.name);
      if (member == value.MemberEnd()) continue;
      CheckAt(place + "." + property.name.GetString(), property.value, member->value);
    }
  }

  void CheckOthers(const std::string& place, const Value& schema, const Value& others,
                   const Value& value) {
    for (const auto& member : value.GetObject()) {
      if (schema.HasMember("properties") && schema["properties"].HasMember(member.name)) continue;
      const std::string at = place + "." + member.name.GetString();
      if (others.IsObject()) {
        CheckAt(at, others, member.value);
      } else if (!others.GetBool()) {
        wrong_.push_back(at + ": is not in the schema");
      }
    }
  }

  const rapidjson::Value& document_;
  std::vector<std::string> wrong_;
};

}  // namespace weir
