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

  // Which of a request's fields each of them is.
  static constexpr std::uint8_t kNone = 0xFF;
  using Places = std::array<std::uint8_t, 8>;
  static constexpr Places kNowhere = {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
  // REQUIRES: fewer than kNone fields
  static Places Find(rule::HeaderFields fields);

  GatewayFields() = default;  // nothing: of a peer that is not believed
  // `fields` must outlive it.
  explicit GatewayFields(rule::HeaderFields fields) : GatewayFields(fields, Find(fields)) {}
  // If it is known where they are.
  GatewayFields(rule::HeaderFields fields, const Places& places)
      : fields_(fields.data()), places_(places) {}

  [[nodiscard]] std::optional<std::string_view> operator[](Name name) const {
    const std::uint8_t place = places_[static_cast<std::size_t>(name)];
    if (place == kNone) return std::nullopt;
    return fields_[place].value;
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
  const rule::HeaderField* fields_ = nullptr;
  Places places_ = kNowhere;
};

}  // namespace weir
