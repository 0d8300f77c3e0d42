// What calls about one request or one client have in their bodies: a namespace, perhaps a rule, and
// attributes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rule/attribute.h"
#include "rule/field_reader.h"
#include "rule/report.h"
#include "rule/yaml.h"

namespace weir {

// Keeps the texts that attributes look at.
class NamedValues {
 public:
  static constexpr std::size_t kMost = 256;

  // An object of texts; what is wrong is reported.
  void Read(const rule::YamlNode& node, rule::Report& report);
  [[nodiscard]] std::vector<rule::Attribute> attributes() const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// `name` must be there, and a text.
void ReadRequiredText(const rule::Fields& fields, std::string_view name, std::string& into,
                      rule::Report& report);

}  // namespace weir
