#include "rule/attribute_name.h"

#include <algorithm>
#include <string>

#include "rule/utf8.h"

namespace weir::rule {
namespace {

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

bool IsAllowed(char c) {
  return (c >= 'a' && c <= 'z') || IsUpper(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (IsUpper(c)) c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace

bool IsFamily(std::string_view name) {
  return name == "header" || name == "query" || name == "cookie";
}

bool CheckAttributeName(std::string_view name, Place place, Report& report) {
  const std::string shown = "attribute '" + Shown(name) + "'";
  if (name.empty()) {
    report.Add(place, "the name of an attribute is empty", "write one such as user");
  } else if (name.size() > kLongestAttributeName) {
    report.Add(place,
               shown + " is longer than " + std::to_string(kLongestAttributeName) + " characters");
  } else if (!std::all_of(name.begin(), name.end(), IsAllowed)) {
    report.Add(place, shown + " holds characters that it may not", "use letters, digits - _ .");
  } else if (IsFamily(name) || (name.ends_with('.') && IsFamily(name.substr(0, name.size() - 1)))) {
    report.Add(place, shown + " lacks the name of what is meant",
               "write it as " + std::string(name.substr(0, name.find('.'))) + ".NAME");
  } else if (name.starts_with("header.") && std::any_of(name.begin(), name.end(), IsUpper)) {
    report.Add(place, shown + " is not in lower case, as the names of headers are",
               "write " + Lower(name));
  } else {
    return true;
  }
  return false;
}

}  // namespace weir::rule
