#include "server/json_value.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <charconv>

#include "rule/utf8.h"

namespace weir {
namespace {

// What RapidJSON calls while it reads; `false` ends it.
class TreeBuilder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TreeBuilder> {
 public:
  using Size = rapidjson::SizeType;
  using Kind = JsonValue::Kind;

  // NOLINTBEGIN(readability-identifier-naming): RapidJSON's names
  bool Null() { return Add({.kind = Kind::kNull}); }
  bool Bool(bool flag) { return Add({.kind = Kind::kFlag, .text = flag ? "true" : "false"}); }
  bool RawNumber(const char* text, Size size, bool /*copy*/) {
    return Add({.kind = Kind::kNumber, .text = std::string(text, size)});
  }
  bool String(const char* text, Size size, bool /*copy*/) {
    return Add({.kind = Kind::kText, .text = std::string(text, size)});
  }
  bool Key(const char* text, Size size, bool /*copy*/) {
    open_.back().members.emplace_back(std::string(text, size), JsonValue());
    return true;
  }
  bool StartObject() { return Open(Kind::kObject); }
  bool EndObject(Size /*members*/) { return Close(); }
  bool StartArray() { return Open(Kind::kList); }
  bool EndArray(Size /*elements*/) { return Close(); }
  // NOLINTEND(readability-identifier-naming)

  JsonValue Take() { return std::move(root_); }

 private:
  bool Open(Kind kind) {
    if (open_.size() >= JsonValue::kDeepest) return false;
    open_.push_back({.kind = kind});
    return true;
  }
  bool Close() {
    JsonValue value = std::move(open_.back());
    open_.pop_back();
    return Add(std::move(value));
  }
  bool Add(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().kind == Kind::kList) {
      open_.back().items.push_back(std::move(value));
    } else {
      open_.back().members.back().second = std::move(value);
    }
    return true;
  }

  std::vector<JsonValue> open_;  // from the outermost list or object to the innermost
  JsonValue root_;
};

}  // namespace

Result<JsonValue> JsonValue::Parse(std::string text) {
  // Not left to RapidJSON, which reads beyond the end of a text that is cut off.
  if (rule::FirstInvalidUtf8(text) != std::string_view::npos) return Error{"it is not UTF-8"};
  TreeBuilder builder;
  rapidjson::Reader reader;
  rapidjson::InsituStringStream stream(text.data());
  // It calls itself for each level, which the builder bounds.
  const rapidjson::ParseResult result =
      reader.Parse<rapidjson::kParseInsituFlag | rapidjson::kParseNumbersAsStringsFlag>(stream,
                                                                                        builder);
  if (result.IsError()) {
    return Error{"byte " + std::to_string(result.Offset()) + ": " +
                 rapidjson::GetParseError_En(result.Code())};
  }
  return builder.Take();
}

const JsonValue& JsonValue::operator[](std::string_view name) const {
  static const JsonValue kNothing;
  for (const auto& [key, value] : members) {
    if (key == name) return value;
  }
  return kNothing;
}

std::int64_t JsonValue::number() const {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return kind == Kind::kNumber && read.ec == std::errc() && read.ptr == end ? value : 0;
}

}  // namespace weir
