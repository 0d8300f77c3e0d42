#include "wire/http_values.h"

#include <algorithm>

#include "wire/percent.h"

namespace weir::wire {
namespace {

struct Pair {
  std::string_view name;
  std::string_view value;
};

// The entry before the next `separator`, which is taken too, split at its first '='.
Pair TakePair(std::string_view& list, char separator) {
  const std::string_view entry = list.substr(0, list.find(separator));
  list.remove_prefix(std::min(list.size(), entry.size() + 1));
  const std::size_t equals = std::min(entry.find('='), entry.size());
  return {entry.substr(0, equals), entry.substr(std::min(entry.size(), equals + 1))};
}

std::string_view WithoutQuotes(std::string_view value) {
  const bool quoted = value.size() >= 2 && value.starts_with('"') && value.ends_with('"');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

std::optional<std::string_view> FindQueryParameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const Pair pair = TakePair(query, '&');
    if (pair.name.empty() && pair.value.empty()) continue;  // "a=1&&b=2"
    if (PercentDecodesTo(pair.name, Plus::kBlank, name)) return pair.value;
  }
  return std::nullopt;
}

std::optional<std::string_view> FindCookie(rule::HeaderFields fields, std::string_view name) {
  for (const rule::HeaderField& field : fields) {
    if (!rule::SameIgnoringCase(field.name, "cookie")) continue;
    for (std::string_view list = field.value; !list.empty();) {
      const bool is_pair = list.substr(0, list.find(';')).find('=') != std::string_view::npos;
      const Pair pair = TakePair(list, ';');
      if (is_pair && rule::Trimmed(pair.name) == name) {
        return WithoutQuotes(rule::Trimmed(pair.value));
      }
    }
  }
  return std::nullopt;
}

}  // namespace weir::wire
