#include "rule/regex_set.h"

#include <algorithm>
#include <utility>

namespace weir::rule {
namespace {

// So many expressions that begin alike are quicker asked in one pass.
constexpr std::size_t kMostAlike = 4;
// RE2 remembers what it has learnt of a group. With more expressions that begin with `.*`, that no
// longer fits into the memory and is learnt again for every value.
constexpr std::size_t kMostInGroup = 1000;
constexpr std::int64_t kMemoryOfGroup = std::int64_t{64} << 20;

// Nothing if they do not fit into the memory.
std::unique_ptr<const RE2::Set> MakeSet(const std::vector<std::string>& texts) {
  auto set = std::make_unique<RE2::Set>(Regex::Options(kMemoryOfGroup), RE2::ANCHOR_BOTH);
  for (const std::string& text : texts) {
    if (set->Add(text, nullptr) < 0) return nullptr;
  }
  if (!set->Compile()) return nullptr;
  std::vector<int> found;
  RE2::Set::ErrorInfo error{};
  set->Match("", &found, &error);  // the first match finds out whether there is room to work in
  if (error.kind == RE2::Set::kOutOfMemory) return nullptr;
  return set;
}

}  // namespace

void RegexSet::FindSingles(LiteralTable::Packed singles, const LiteralTable& table,
                           std::string_view value, Hits& hits) const {
  const RegexValue text(value);
  table.Unpack(singles, [&](std::uint32_t i) {
    if (singles_[i].regex.Matches(text)) table.Append(singles_[i].numbers, hits);
  });
}

void RegexSet::FindInGroups(const LiteralTable& table, std::string_view value, Hits& hits) const {
  const RegexValue text(value);
  for (const Group& group : groups_) Find(table, group, text, hits);
}

void RegexSet::Find(const LiteralTable& table, const Group& group, const RegexValue& value,
                    Hits& hits) {
  std::vector<int> found;
  RE2::Set::ErrorInfo error{};
  if (group.set && group.set->Match(value.text(), &found, &error)) {
    for (const int i : found) table.Append(group.numbers[static_cast<std::size_t>(i)], hits);
  } else if (!group.set || error.kind != RE2::Set::kNoError) {
    // RE2 could not say. Rare enough to compile each again rather than to keep them all.
    for (std::size_t i = 0; i < group.texts.size(); ++i) {
      if (Regex::Compile(group.texts[i]).value().Matches(value)) {
        table.Append(group.numbers[i], hits);
      }
    }
  }
}

std::map<std::string, LiteralTable::Packed> RegexSet::Builder::Pack() {
  std::map<std::string, LiteralTable::Packed> beginnings;
  std::map<std::string, Texts> by_prefix;
  for (const auto& [text, numbers] : texts_) {
    by_prefix[RequiredPrefix(text)].emplace_back(text, literals_.Pack(numbers));
  }
  Texts others;
  for (const auto& [prefix, texts] : by_prefix) {
    if (prefix.empty() || texts.size() > kMostAlike) {
      others.insert(others.end(), texts.begin(), texts.end());
      continue;
    }
    std::vector<std::uint32_t> singles;
    for (const auto& [text, numbers] : texts) {
      singles.push_back(static_cast<std::uint32_t>(made_.singles_.size()));
      made_.singles_.push_back({Regex::Compile(text).value(), numbers});
    }
    beginnings[prefix] = literals_.Pack(singles);
  }
  for (std::size_t i = 0; i < others.size(); i += kMostInGroup) {
    AddGroups(std::span(others).subspan(i, std::min(kMostInGroup, others.size() - i)));
  }
  return beginnings;
}

void RegexSet::Builder::AddGroups(std::span<const Texts::value_type> texts) {
  Group group;
  for (const auto& [text, numbers] : texts) {
    group.texts.push_back(text);
    group.numbers.push_back(numbers);
  }
  group.set = MakeSet(group.texts);
  if (group.set || texts.size() == 1) {
    made_.groups_.push_back(std::move(group));
    return;
  }
  AddGroups(texts.first(texts.size() / 2));
  AddGroups(texts.subspan(texts.size() / 2));
}

}  // namespace weir::rule
