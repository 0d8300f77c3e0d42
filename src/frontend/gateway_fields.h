// What a gateway says in header fields of its own about the request that it asks about.
//
// All of them are found in one pass over the request's fields. Of one that is there twice, the
// first counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "rule/header_field.h"

namespace weir {

class GatewayFields {
 public:
  enum class Name : std::uint8_t {
    kWeirNamespace,
    kWeirCost,
    kForwardedUri,
    kForwardedMethod,
    kForwardedHost,
    kOriginalUri,
    kOriginalUrl,
    kOriginalMethod,
  };

  GatewayFields() = default;  // nothing: of a peer that is not believed
  explicit GatewayFields(rule::HeaderFields fields);

  [[nodiscard]] const std::optional<std::string_view>& operator[](Name name) const {
    return values_[static_cast<std::size_t>(name)];
  }
  // The first of `names` that says anything.
  template <typename... Names>
  [[nodiscard]] std::string_view FirstOf(std::string_view otherwise, Names... names) const {
    std::string_view first;
    static_cast<void>(
        ((first = (*this)[names].value_or(std::string_view()), !first.empty()) || ...));
    return first.empty() ? otherwise : first;
  }

 private:
  std::array<std::optional<std::string_view>, 8> values_;
};

}  // namespace weir
