#include "rule/json.h"

#include <array>
#include <cstdint>

#include "base/hex.h"

namespace weir::rule {
namespace {

// The rest of `text` behind the digits it begins with.
std::string_view SkipDigits(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  return end == std::string_view::npos ? std::string_view() : text.substr(end);
}

// As JSON has it: no leading zeros or plus, no lone dot.
bool IsNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  std::string_view rest = SkipDigits(text);
  const std::size_t digits = text.size() - rest.size();
  if (digits == 0 || (digits > 1 && text[0] == '0')) return false;
  if (rest.starts_with('.')) {
    const std::string_view fraction = rest.substr(1);
    rest = SkipDigits(fraction);
    if (rest.size() == fraction.size()) return false;
  }
  if (rest.starts_with('e') || rest.starts_with('E')) {
    rest.remove_prefix(1);
    if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
    const std::string_view exponent = rest;
    rest = SkipDigits(exponent);
    if (rest.size() == exponent.size()) return false;
  }
  return rest.empty();
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (c == '\n') {
      json += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      json += "\\u00";
      AppendHex(byte, json);
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::string ToJson(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kScalar: {
      const bool word = node.scalar == "true" || node.scalar == "false" || IsNumber(node.scalar);
      return word && !node.quoted ? node.scalar : JsonString(node.scalar);
    }
    case YamlNode::Kind::kList: {
      std::string json;
      for (const YamlNode& element : node.list) json += (json.empty() ? "" : ",") + ToJson(element);
      return "[" + json + "]";
    }
    case YamlNode::Kind::kMap: {
      std::string json;
      for (const YamlNode::Entry& entry : node.map) {
        json += (json.empty() ? "" : ",") + JsonString(entry.key) + ":" + ToJson(entry.value);
      }
      return "{" + json + "}";
    }
  }
  return {};
}

}  // namespace weir::rule
