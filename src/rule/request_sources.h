// Where in an HTTP request the attributes of a schema are found.
//
// Worked out once, when rules are compiled: a request then has its fields compared with the few
// names that are as long as theirs, and its values put in the schema's order without a name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rule/attribute.h"
#include "rule/field_name.h"
#include "rule/header_field.h"

namespace weir::rule {

struct NamedSource {
  Schema::Number number;
  std::string name;  // that of "header.x-plan" is "x-plan"
};

// The header fields that rules ask for.
class WantedHeaders {
 public:
  WantedHeaders() = default;
  explicit WantedHeaders(std::vector<NamedSource> names);

  // Calls `use(number, field)` for each of `fields` that is wanted, in their order.
  template <typename Use>
  void Find(HeaderFields fields, const Use& use) const {
    for (const HeaderField& field : fields) {
      const Row row = rows_[field.name.size() % rows_.size()];
      for (std::size_t i = row.begin; i < row.end; ++i) {
        if (SameFieldName(field.name, names_[i].name)) use(names_[i].number, field);
      }
    }
  }

 private:
  struct Row {
    std::uint8_t begin = 0;
    std::uint8_t end = 0;
  };

  std::vector<NamedSource> names_;  // those of one length side by side
  std::array<Row, 64> rows_{};      // where, by length
};

// `ip` is in every schema. What is not here cannot be seen in a request.
struct RequestSources {
  std::optional<Schema::Number> path;
  std::optional<Schema::Number> method;
  std::optional<Schema::Number> host;
  std::optional<Schema::Number> user;
  std::vector<NamedSource> cookies;
  std::vector<NamedSource> query;
  WantedHeaders headers;

  static RequestSources Of(const Schema& schema);
};

}  // namespace weir::rule
