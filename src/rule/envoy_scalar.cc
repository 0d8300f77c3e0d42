#include "rule/envoy_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "rule/json.h"

namespace weir::rule {
namespace {

bool OneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<EnvoyScalar> Word(std::string_view text) {
  if (OneOf(text, {"", "~", "null", "Null", "NULL"})) return NullScalar{};
  if (OneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    return true;
  }
  if (OneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    return false;
  }
  if (OneOf(text, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
  if (OneOf(text, {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"})) {
    return std::numeric_limits<double>::infinity();
  }
  if (OneOf(text, {"-.inf", "-.Inf", "-.INF"})) return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

// Digits after their prefix: 0x, 0b, 0o and, as in C, 0 alone.
std::optional<std::uint64_t> Magnitude(std::string_view digits) {
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char prefix = static_cast<char>(digits[1] | 0x20);
    base = prefix == 'x' ? 16 : prefix == 'b' ? 2 : 8;
    digits.remove_prefix(prefix == 'x' || prefix == 'b' || prefix == 'o' ? 2 : 1);
  }
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::optional<EnvoyScalar> Integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  const bool has_sign = negative || text.starts_with('+');
  const auto value = Magnitude(text.substr(has_sign ? 1 : 0));
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (!value || (has_sign && *value > kMost + (negative ? 1 : 0))) return std::nullopt;
  if (negative) return static_cast<std::int64_t>(~*value + 1);
  if (*value > kMost) return *value;
  return static_cast<std::int64_t>(*value);
}

// Digits with at most one point, and an exponent; not "inf", "nan" or "0x1p3".
std::optional<EnvoyScalar> Fraction(std::string_view text) {
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  const std::string_view digits = text.substr(has_sign ? 1 : 0);
  const std::size_t first = digits.starts_with('.') ? 1 : 0;
  if (first >= digits.size() || digits[first] < '0' || digits[first] > '9') return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

template <typename Number>
void AppendNumber(Number number, std::string& json) {
  std::array<char, 32> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  json.append(digits.data(), result.ptr);
}

bool AppendScalar(const EnvoyScalar& scalar, std::string& json) {
  if (const double* number = std::get_if<double>(&scalar)) {
    if (!std::isfinite(*number)) return false;
    AppendNumber(*number, json);
  } else if (const bool* truth = std::get_if<bool>(&scalar)) {
    json += *truth ? "true" : "false";
  } else if (const auto* integer = std::get_if<std::int64_t>(&scalar)) {
    AppendNumber(*integer, json);
  } else if (const auto* large = std::get_if<std::uint64_t>(&scalar)) {
    AppendNumber(*large, json);
  } else if (const auto* text = std::get_if<std::string_view>(&scalar)) {
    json += JsonString(*text);
  } else {
    json += "null";
  }
  return true;
}

// The node that cannot be expressed, or null.
const YamlNode* Append(const YamlNode& node, std::string& json) {
  switch (node.kind) {
    case YamlNode::Kind::kMap:
      json += '{';
      for (const YamlNode::Entry& entry : node.map) {
        if (json.back() != '{') json += ',';
        json += JsonString(entry.key);
        json += ':';
        if (const YamlNode* bad = Append(entry.value, json)) return bad;
      }
      json += '}';
      return nullptr;
    case YamlNode::Kind::kList:
      json += '[';
      for (const YamlNode& element : node.list) {
        if (json.back() != '[') json += ',';
        if (const YamlNode* bad = Append(element, json)) return bad;
      }
      json += ']';
      return nullptr;
    case YamlNode::Kind::kNull:
    case YamlNode::Kind::kScalar:
      return AppendScalar(Resolve(node), json) ? nullptr : &node;
  }
  return nullptr;
}

}  // namespace

EnvoyScalar Resolve(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kNull) return NullScalar{};
  const std::string_view text = node.scalar;
  if (node.quoted) return text;
  if (const auto word = Word(text)) return *word;
  if (text[0] == '.') return Fraction(text).value_or(text);
  const bool numeric = (text[0] >= '0' && text[0] <= '9') || text[0] == '-' || text[0] == '+';
  if (!numeric) return text;
  std::string plain(text);
  std::erase(plain, '_');
  if (const auto integer = Integer(plain)) return *integer;
  return Fraction(plain).value_or(text);
}

std::variant<std::string, const YamlNode*> MetadataJson(const YamlNode& node) {
  std::string json;
  if (const YamlNode* bad = Append(node, json)) return bad;
  return json;
}

}  // namespace weir::rule
