#include "frontend/json_body.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <charconv>
#include <cstdint>
#include <optional>

#include "rule/utf8.h"

namespace weir {
namespace {

// The parser calls itself for each level, so the depth is bounded while it runs.
class DepthGuard : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, DepthGuard> {
 public:
  bool StartObject() { return ++depth_ <= kDeepestJson; }
  bool StartArray() { return ++depth_ <= kDeepestJson; }
  bool EndObject(rapidjson::SizeType /*members*/) { return Leave(); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return Leave(); }

 private:
  bool Leave() {
    --depth_;
    return true;
  }
  int depth_ = 0;
};

std::optional<Error> WhatIsWrong(std::string_view json) {
  // The parser reads past the end of text that is cut off within a character.
  if (rule::FirstInvalidUtf8(json) != std::string_view::npos) {
    return Error{"this is not UTF-8; send JSON in UTF-8"};
  }
  rapidjson::MemoryStream stream(json.data(), json.size());
  rapidjson::Reader reader;
  DepthGuard guard;
  const rapidjson::ParseResult result = reader.Parse(stream, guard);
  if (!result.IsError()) return std::nullopt;
  if (result.Code() == rapidjson::kParseErrorTermination) {
    return Error{"this is nested too deep; " + std::to_string(kDeepestJson) +
                 " levels are allowed"};
  }
  return Error{"this is not JSON: " + std::string(rapidjson::GetParseError_En(result.Code())) +
               " (byte " + std::to_string(result.Offset()) + ")"};
}

// The number of an escape "\uXXXX" at `at`, if there is one.
std::optional<std::uint32_t> EscapeAt(std::string_view json, std::size_t at) {
  constexpr std::size_t kSize = 6;
  if (json.size() < at + kSize || json[at] != '\\' || json[at + 1] != 'u') return std::nullopt;
  std::uint32_t number = 0;
  const char* first = json.data() + at + 2;
  const auto [end, problem] = std::from_chars(first, first + 4, number, 16);
  if (problem != std::errc{} || end != first + 4) return std::nullopt;
  return number;
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void AppendFourBytes(std::uint32_t character, std::string& out) {
  out += static_cast<char>(0xF0 | character >> 18);
  out += static_cast<char>(0x80 | (character >> 12 & 0x3F));
  out += static_cast<char>(0x80 | (character >> 6 & 0x3F));
  out += static_cast<char>(0x80 | (character & 0x3F));
}

}  // namespace

Result<std::string> JsonAsYaml(std::string_view json) {
  if (auto wrong = WhatIsWrong(json)) return *std::move(wrong);
  std::string yaml;
  yaml.reserve(json.size());
  bool in_text = false;
  for (std::size_t at = 0; at < json.size();) {
    const auto high = EscapeAt(json, at);
    const auto low = high && *high >= 0xD800 && *high < 0xDC00 ? EscapeAt(json, at + 6)
                                                               : std::optional<std::uint32_t>();
    if (low && *low >= 0xDC00 && *low < 0xE000) {
      AppendFourBytes(0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00), yaml);
      at += 12;
    } else if (json[at] == '\\') {  // with what it escapes, which may be another one
      yaml += json.substr(at, 2);
      at += 2;
    } else {
      const char c = json[at++];
      if (c == '"') in_text = !in_text;
      // A name and its colon stand on one line in YAML, in JSON they need not.
      while (c == ':' && !in_text && IsBlank(yaml.back())) yaml.pop_back();
      yaml += c;
    }
  }
  return yaml;
}

bool ReadJsonObject(std::string_view json, rule::YamlNode& root, rule::Problems& problems) {
  const Result<std::string> yaml = JsonAsYaml(json);
  if (!yaml) {
    problems.push_back({"body", {}, "", yaml.error().message, ""});
    return false;
  }
  rule::YamlLimits limits;
  limits.bytes_ahead = limits.bytes;  // all of it stands in one pair of brackets
  if (!rule::ReadYaml(*yaml, "body", root, problems, limits)) return false;
  if (root.kind == rule::YamlNode::Kind::kMap) return true;
  problems.push_back({"body", root.place, "", "the body must be an object", "write {...}"});
  return false;
}

}  // namespace weir
