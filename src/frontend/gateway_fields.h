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

  [[nodiscard]] std::optional<std::string_view> operator[](Name name) const {
    const auto number = static_cast<std::size_t>(name);
    if ((given_ >> number & 1) == 0) return std::nullopt;
    return std::string_view(values_[number].data, values_[number].size);
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
  // As std::string_view, but not cleared when it is made: most are not there.
  struct View {
    const char* data;
    std::size_t size;
  };

  void Give(Name name, std::string_view value) {
    const auto number = static_cast<std::size_t>(name);
    if ((given_ >> number & 1) != 0) return;
    given_ |= std::uint32_t{1} << number;
    values_[number] = {value.data(), value.size()};
  }

  std::uint32_t given_ = 0;     // a bit for each that is there
  std::array<View, 8> values_;  // NOLINT(*-member-init): only those are looked at
};

}  // namespace weir
