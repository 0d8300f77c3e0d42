#include "rule/compiled_condition.h"

#include <algorithm>

#include "base/same_few.h"
#include "rule/pattern.h"

namespace weir::rule {
namespace {

// A longer list is looked up rather than tried one by one.
constexpr std::size_t kMany = 8;

}  // namespace

CompiledCondition::CompiledCondition(const Condition& condition, Schema::Number attribute)
    : attribute_(attribute), negated_(condition.negated) {
  if (condition.any_of.size() <= kMany) {
    for (const Pattern& pattern : condition.any_of) any_of_.emplace_back(pattern);
    return;
  }
  std::vector<PatternIndex::Entry> entries;
  for (const Pattern& pattern : condition.any_of) entries.push_back({&pattern, 0});
  many_ = std::make_unique<const PatternIndex>(entries);
}

CompiledCondition::Prepared::Prepared(const Pattern& from) : pattern(from) {
  if (from.kind == PatternKind::kRegex) regex = std::move(Regex::Compile(from.text)).value();
  if (from.kind == PatternKind::kCidr) network = Network::Parse(from.text).value();
}

bool CompiledCondition::Prepared::Matches(std::string_view value) const {
  if (pattern.kind == PatternKind::kExact) return SameFew(value, pattern.text);  // `method: GET`
  if (regex) return regex->Matches(RegexValue(value));
  if (network) {
    const std::optional<Address> address = Address::Parse(value);
    return address && network->Contains(*address);
  }
  // Given, and empty: rule::Matches() takes a text that is nowhere for one that is absent.
  return rule::Matches(pattern, value.data() != nullptr ? value : std::string_view(""));
}

bool CompiledCondition::AnyMatches(const Values& values) const {
  const std::string_view value = values[attribute_];
  if (many_) {
    Hits hits;
    many_->Find(value, hits);
    return !hits.empty();
  }
  return std::any_of(any_of_.begin(), any_of_.end(),
                     [&](const Prepared& prepared) { return prepared.Matches(value); });
}

}  // namespace weir::rule
