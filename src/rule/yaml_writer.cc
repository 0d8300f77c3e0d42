#include "rule/yaml_writer.h"

#include <algorithm>

#include "rule/json.h"

namespace weir::rule {
namespace {

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Errs towards quotes: YAML gives a meaning to most punctuation somewhere.
bool CanBePlain(std::string_view text) {
  if (text.empty() || text.back() == ' ') return false;
  if (!IsLetterOrDigit(text[0]) && text[0] != '/' && text[0] != '_') return false;
  for (std::string_view word : {"null", "Null", "NULL", "true", "false"}) {
    if (text == word) return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    return IsLetterOrDigit(c) || std::string_view(" -_./+%@=").find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string YamlScalar(std::string_view text) {
  return CanBePlain(text) ? std::string(text) : JsonString(text);
}

std::string FlowList(const std::vector<std::string>& elements) {
  std::string inner;
  for (const std::string& element : elements) inner += (inner.empty() ? "" : ", ") + element;
  return "[" + inner + "]";
}

FlowMap& FlowMap::Add(std::string_view name, std::string_view value) {
  if (!inner_.empty()) inner_ += ", ";
  inner_ += name;
  inner_ += ": ";
  inner_ += value;
  return *this;
}

}  // namespace weir::rule
