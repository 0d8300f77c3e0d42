#include "server/json_table.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <vector>

#include "rule/utf8.h"
#include "server/text_table.h"

namespace weir {
namespace {

// As rule::Shown(), however long it is.
std::string Printable(const std::string& text) {
  std::string shown = rule::Valid(text);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return shown;
}

std::string Heading(const std::string& name) {
  std::string heading = name;
  for (char& c : heading) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (c == '_') c = ' ';
  }
  return Printable(heading);
}

}  // namespace

std::string ShownValue(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return "";
    case JsonValue::Kind::kFlag:
      return value.is_true() ? "yes" : "no";
    case JsonValue::Kind::kNumber:
    case JsonValue::Kind::kText:
      return Printable(value.text);
    case JsonValue::Kind::kList:
    case JsonValue::Kind::kObject:
      break;
  }
  std::string shown;
  for (const JsonValue& item : value.items) shown += (shown.empty() ? "" : ", ") + ShownValue(item);
  for (const auto& [name, member] : value.members) {
    shown += (shown.empty() ? "" : " ") + Printable(name) + "=" + ShownValue(member);
  }
  return shown;
}

std::string ShownMillis(const JsonValue& millis) {
  if (millis.is_null()) return "";
  const std::int64_t all = millis.number();
  if (all < 0) return "never";
  if (all < 1000) return std::to_string(all) + "ms";
  if (all < 10'000) {
    const std::string tenth = std::to_string(all % 1000 / 100);
    return std::to_string(all / 1000) + (tenth == "0" ? "" : "." + tenth) + "s";
  }
  // The two largest units that there are any of: beyond that nobody reads.
  struct Unit {
    std::int64_t seconds;
    char name;
  };
  static constexpr std::array<Unit, 4> kUnits = {{{86'400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}}};
  std::int64_t left = all / 1000;
  std::string shown;
  int told = 0;
  for (const Unit& unit : kUnits) {
    const std::int64_t count = left / unit.seconds;
    left %= unit.seconds;
    if (count == 0 && told == 0) continue;
    if (count > 0) shown += std::to_string(count) + unit.name;
    if (++told == 2) break;
  }
  return shown;
}

void PrintObjects(const JsonValue& list, const std::string& nothing, std::ostream& out) {
  if (list.items.empty()) {
    out << nothing << "\n";
    return;
  }
  std::vector<std::string> names;
  for (const JsonValue& item : list.items) {
    for (const auto& member : item.members) {
      if (std::find(names.begin(), names.end(), member.first) == names.end()) {
        names.push_back(member.first);
      }
    }
  }
  std::vector<TextRow> rows(1);
  for (const std::string& name : names) rows[0].push_back(Heading(name));
  for (const JsonValue& item : list.items) {
    TextRow row;
    for (const std::string& name : names) row.push_back(ShownValue(item[name]));
    rows.push_back(std::move(row));
  }
  PrintTable(rows, out);
}

}  // namespace weir
