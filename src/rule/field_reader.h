// Reads the fields of a YAML map into values of ours, and reports those that do not fit.
//
// A reader is told the names it may hold, and reports the others at once. A field that is wrong is
// reported and leaves its value as it was, so that reading goes on and finds the rest.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rule/report.h"
#include "rule/yaml.h"

namespace weir::rule {

// Reads a value that stands alone; `name` is what it is called in messages. False, and reported, if
// it does not fit.
bool ReadCount(const YamlNode& node, std::string_view name, std::uint64_t least, std::uint64_t most,
               std::uint64_t& into, Report& report);
// Any scalar, quoted or not: who writes `plan: 1` means the text "1".
bool ReadText(const YamlNode& node, std::string_view name, std::size_t longest, std::string& into,
              Report& report);
// Letters, digits and `punctuation`, at least one of them, at most `longest`.
bool ReadName(const YamlNode& node, std::string_view name, std::string_view punctuation,
              std::size_t longest, std::string& into, Report& report);
// "10%": the number in front of the sign.
bool ReadPercent(const YamlNode& node, std::string_view name, std::uint32_t most,
                 std::uint32_t& into, Report& report);
bool ReadFlag(const YamlNode& node, std::string_view name, bool& into, Report& report);
// "2027-01-31" (its beginning, in UTC) or "2027-01-31T12:00:00Z".
bool ReadInstant(const YamlNode& node, std::string_view name, std::chrono::sys_seconds& into,
                 Report& report);
// Expects a list of 1 to `most` things; `example` shows what to write instead.
bool IsList(const YamlNode& node, std::string_view name, std::string_view things, std::size_t most,
            const std::string& example, Report& report);
bool IsMap(const YamlNode& node, std::string_view name, const std::string& example, Report& report);
// One of the words of `known`. Returns its index, or nothing.
std::optional<std::size_t> ReadWord(const YamlNode& node, std::string_view name,
                                    std::span<const std::string_view> known, Report& report);

class Fields {
 public:
  // REQUIRES: `map` is one; all arguments outlive this
  Fields(const YamlNode& map, std::span<const std::string_view> known, Report& report);

  // The value of a field, or null if it is not given.
  [[nodiscard]] const YamlNode* Find(std::string_view name) const { return map_.Find(name); }
  [[nodiscard]] bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // Where its name stands; that of the map if it is not given.
  [[nodiscard]] Place PlaceOf(std::string_view name) const;
  [[nodiscard]] Place place() const { return map_.place; }
  [[nodiscard]] const std::vector<YamlNode::Entry>& entries() const { return map_.map; }

  // These read a field if it is given, and say whether it is and fits.
  bool Count(std::string_view name, std::uint64_t least, std::uint64_t most,
             std::uint64_t& into) const;
  bool Text(std::string_view name, std::size_t longest, std::string& into) const;
  bool Percent(std::string_view name, std::uint32_t most, std::uint32_t& into) const;
  bool Flag(std::string_view name, bool& into) const;
  // `words` are those of the enumeration, in its order from 0.
  template <typename Enum>
  bool Word(std::string_view name, std::span<const std::string_view> words, Enum& into) const {
    const YamlNode* node = Find(name);
    const auto index =
        node != nullptr ? ReadWord(*node, name, words, report_) : std::optional<std::size_t>();
    if (index) into = static_cast<Enum>(*index);
    return index.has_value();
  }

 private:
  const YamlNode& map_;
  Report& report_;
};

}  // namespace weir::rule
