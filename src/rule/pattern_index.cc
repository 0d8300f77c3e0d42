#include "rule/pattern_index.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weir::rule {

PatternIndex::PatternIndex(std::span<const Entry> entries) {
  LiteralTable::Builder literals;
  const LiteralTable::SetNumber exacts = literals.NewSet();
  GlobTree::Builder globs(literals);
  RegexSet::Builder regexes(literals);
  std::vector<std::uint32_t> present;
  std::map<std::string, std::vector<std::uint32_t>> prefixes;
  for (const auto& [pattern, number] : entries) {
    const std::string& text = pattern->text;
    has_texts_ |= pattern->kind != PatternKind::kCidr;
    switch (pattern->kind) {
      case PatternKind::kExact:
        literals.Add(exacts, text, number);
        break;
      case PatternKind::kPrefix:
        prefixes[text].push_back(number);
        break;
      case PatternKind::kGlob: {
        const GlobParts parts(text);
        const bool open_end =
            parts.wildcards == std::vector{Wildcard{}} && parts.literals[1].empty();
        if (parts.wildcards.empty()) {
          literals.Add(exacts, text, number);
        } else if (open_end) {  // "/api/**"
          prefixes[parts.literals[0]].push_back(number);
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
  std::map<std::string, Beginning> beginnings;
  for (const auto& [text, numbers] : prefixes) beginnings[text].prefixes = literals.Pack(numbers);
  std::uint32_t head = 0;
  for (const std::string& text : globs.AddLiterals()) beginnings[text].glob_head = head++;
  for (const auto& [text, singles] : regexes.Pack()) beginnings[text].regexes = singles;
  table_ = std::move(literals).Build();
  exacts_ = table_.set(exacts);
  globs_ = std::move(globs).Build(table_);
  regexes_ = std::move(regexes).Build();

  std::vector<std::string> texts;
  for (const auto& [text, beginning] : beginnings) {
    texts.push_back(text);
    beginnings_.push_back(beginning);
  }
  tree_ = BeginningTree(texts);
}

void PatternIndex::Find(std::string_view value, Hits& hits) const {
  FindTexts(value, hits);
  if (networks_.empty()) return;
  if (const auto address = Address::Parse(value)) networks_.Find(table_, *address, hits);
}

void PatternIndex::Find(std::string_view value, const std::optional<Address>& address,
                        Hits& hits) const {
  if (has_texts_) FindTexts(value, hits);
  if (address && !networks_.empty()) networks_.Find(table_, *address, hits);
}

void PatternIndex::FindTexts(std::string_view value, Hits& hits) const {
  table_.Append(present_, hits);
  if (exacts_.MayHold(value)) table_.Append(table_.Find(exacts_.number, value).packed, hits);
  tree_.ForEachBeginningOf(value, [&](std::uint32_t text, std::size_t at) {
    FindByBeginning(beginnings_[text], at, value, hits);
  });
  regexes_.FindOthers(table_, value, hits);
}

void PatternIndex::FindByBeginning(const Beginning& beginning, std::size_t at,
                                   std::string_view value, Hits& hits) const {
  table_.Append(beginning.prefixes, hits);
  if (beginning.glob_head != Beginning::kNoHead) {
    globs_.Find(beginning.glob_head, at, table_, value, hits);
  }
  if (beginning.regexes != LiteralTable::kNothing) {
    regexes_.FindSingles(beginning.regexes, table_, value, hits);
  }
}

}  // namespace weir::rule
