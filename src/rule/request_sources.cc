#include "rule/request_sources.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace weir::rule {

WantedHeaders::WantedHeaders(std::vector<NamedSource> names) : names_(std::move(names)) {
  static_assert(Schema::kMost <= UINT8_MAX);
  const auto row_of = [this](const NamedSource& source) {
    return source.name.size() % rows_.size();
  };
  std::stable_sort(names_.begin(), names_.end(), [&](const NamedSource& a, const NamedSource& b) {
    return row_of(a) < row_of(b);
  });
  for (std::size_t i = 0; i < names_.size(); ++i) {
    Row& row = rows_[row_of(names_[i])];
    if (row.end == 0) row.begin = static_cast<std::uint8_t>(i);
    row.end = static_cast<std::uint8_t>(i + 1);
  }
}

RequestSources RequestSources::Of(const Schema& schema) {
  RequestSources sources;
  std::vector<NamedSource> headers;
  for (std::size_t i = 0; i < schema.names().size(); ++i) {
    const auto number = static_cast<Schema::Number>(i);
    const std::string_view name = schema.names()[i];
    const std::size_t dot = name.find('.');
    if (name == "path") {
      sources.path = number;
    } else if (name == "method") {
      sources.method = number;
    } else if (name == "host") {
      sources.host = number;
    } else if (name == "user") {
      sources.user = number;
    } else if (dot != std::string_view::npos) {
      const std::string_view family = name.substr(0, dot);
      NamedSource source{number, std::string(name.substr(dot + 1))};
      if (family == "header")
        headers.push_back(std::move(source));
      else if (family == "cookie")
        sources.cookies.push_back(std::move(source));
      else if (family == "query")
        sources.query.push_back(std::move(source));
    }
  }
  sources.headers = WantedHeaders(std::move(headers));
  return sources;
}

}  // namespace weir::rule
