// Reads the fields of a map in a file of envoyproxy/ratelimit.
//
// A field that does not fit is reported and then counts as absent, so that reading goes on. What
// CheckEnvoyKeys has reported is not reported again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rule/report.h"
#include "rule/yaml.h"

namespace weir::rule {

class EnvoyFields {
 public:
  // REQUIRES: `map` is one; both outlive this
  EnvoyFields(const YamlNode& map, Report& problems) : map_(map), problems_(problems) {}

  // Empty, false, 0, none or null if absent.
  [[nodiscard]] std::string Text(std::string_view field) const;
  [[nodiscard]] bool Flag(std::string_view field) const;
  [[nodiscard]] std::uint32_t Count(std::string_view field) const;
  [[nodiscard]] std::vector<const YamlNode*> Maps(std::string_view field) const;
  [[nodiscard]] const YamlNode* Map(std::string_view field, const std::string& remedy) const;

  // Where its value stands; the map if it is not given.
  [[nodiscard]] Place PlaceOf(std::string_view field) const;
  // Whether it is a list or a map where text is expected, or no whole number: reported by now.
  [[nodiscard]] bool IsNoText(std::string_view field) const;

 private:
  // Null if absent, and also if it says `null`.
  [[nodiscard]] const YamlNode* Find(std::string_view field) const;
  void DoesNotFit(std::string_view field, const YamlNode& node, const std::string& expected,
                  const std::string& remedy) const;

  const YamlNode& map_;
  Report& problems_;
};

}  // namespace weir::rule
