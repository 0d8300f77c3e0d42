#include "frontend/admin_attributes.h"

#include "rule/utf8.h"

namespace weir {

using rule::YamlNode;

void NamedValues::Read(const YamlNode& node, rule::Report& report) {
  if (node.kind != YamlNode::Kind::kMap || node.map.size() > kMost) {
    report.Add(node.place,
               "attributes must be an object of at most " + std::to_string(kMost) + " texts",
               R"(write {"ip": "10.1.2.3", "user": "ann"})");
    return;
  }
  for (const YamlNode::Entry& entry : node.map) {
    if (entry.value.kind != YamlNode::Kind::kScalar || !entry.value.quoted) {
      report.Add(entry.value.place, "attribute '" + rule::Shown(entry.key) + "' must be a text",
                 "write it in quotes");
      continue;
    }
    values_.emplace_back(entry.key, entry.value.scalar);
  }
}

std::vector<rule::Attribute> NamedValues::attributes() const {
  std::vector<rule::Attribute> attributes;
  attributes.reserve(values_.size());
  for (const auto& [name, value] : values_) attributes.push_back({name, value});
  return attributes;
}

void ReadRequiredText(const rule::Fields& fields, std::string_view name, std::string& into,
                      rule::Report& report) {
  constexpr std::size_t kLongest = 256;
  if (fields.Text(name, kLongest, into) || fields.Has(name)) return;
  report.Add(fields.place(), "'" + std::string(name) + "' is missing",
             "write \"" + std::string(name) + "\": \"...\"");
}

}  // namespace weir
