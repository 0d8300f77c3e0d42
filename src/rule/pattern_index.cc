#include "rule/pattern_index.h"

#include <utility>
#include <vector>

namespace weir::rule {

PatternIndex::PatternIndex(std::span<const Entry> entries) {
  LiteralTable::Builder literals;
  const LiteralTable::SetNumber exacts = literals.NewSet();
  const LiteralTable::SetNumber prefixes = literals.NewSet();
  GlobTree::Builder globs(literals);
  RegexSet::Builder regexes(literals);
  std::vector<std::uint32_t> present;
  for (const auto& [pattern, number] : entries) {
    const std::string& text = pattern->text;
    switch (pattern->kind) {
      case PatternKind::kExact:
        literals.Add(exacts, text, number);
        break;
      case PatternKind::kPrefix:
        literals.Add(prefixes, text, number);
        break;
      case PatternKind::kGlob: {
        const GlobParts parts(text);
        const bool open_end =
            parts.wildcards == std::vector{Wildcard{}} && parts.literals[1].empty();
        if (parts.wildcards.empty()) {
          literals.Add(exacts, text, number);
        } else if (open_end) {  // "/api/**"
          literals.Add(prefixes, parts.literals[0], number);
        } else {
          globs.Add(parts, number);
        }
        break;
      }
      case PatternKind::kRegex:
        regexes.Add(text, number);
        break;
      case PatternKind::kCidr:
        networks_.Add(Network::Parse(text).value(), number, literals);
        break;
      case PatternKind::kPresent:
        present.push_back(number);
        break;
    }
  }
  present_ = literals.Pack(present);
  globs.AddLiterals();
  regexes.Pack();
  table_ = std::move(literals).Build();
  exacts_ = table_.set(exacts);
  prefixes_ = table_.set(prefixes);
  globs_ = std::move(globs).Build(table_);
  regexes_ = std::move(regexes).Build(table_);
}

void PatternIndex::Find(std::string_view value, Hits& hits) const {
  FindTexts(value, hits);
  if (networks_.empty()) return;
  if (const auto address = Address::Parse(value)) networks_.Find(table_, *address, hits);
}

void PatternIndex::Find(std::string_view value, const std::optional<Address>& address,
                        Hits& hits) const {
  FindTexts(value, hits);
  if (address && !networks_.empty()) networks_.Find(table_, *address, hits);
}

void PatternIndex::FindTexts(std::string_view value, Hits& hits) const {
  table_.Append(present_, hits);
  if (!exacts_.empty()) table_.Append(table_.Find(exacts_.number, value).packed, hits);
  table_.ForEachPrefixOf(value, prefixes_, [&](std::size_t, const LiteralTable::Found& found) {
    table_.Append(found.packed, hits);
  });
  if (!globs_.empty()) globs_.Find(table_, value, hits);
  if (!regexes_.empty()) regexes_.Find(table_, value, hits);
}

}  // namespace weir::rule
