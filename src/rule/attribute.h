// What is known of a request, and how rules look it up.
//
// A caller tells attributes by name. The rules of a namespace ask for a few of them, again and
// again; a Schema gives each a number when rules are compiled, and a request's values are put in
// that order once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "rule/address.h"

namespace weir::rule {

struct Attribute {
  std::string_view name;
  std::string_view value;
  const Address* address = nullptr;  // of `ip`, if the caller has it: its text is then not read
};

inline constexpr std::string_view kIp = "ip";

class Schema {
 public:
  using Number = std::uint8_t;
  static constexpr std::size_t kMost = 64;
  static constexpr Number kIpNumber = 0;  // is in every schema

  Schema() : names_{std::string(kIp)} {}

  // The number of `name`, a new one if need be; nothing if there are kMost already.
  std::optional<Number> Add(std::string_view name);
  [[nodiscard]] std::optional<Number> Find(std::string_view name) const;
  [[nodiscard]] std::span<const std::string> names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

// Values of a request by number. Views: what they look at must outlive them.
class Values {
 public:
  // What is longer is cut off: a client's input takes bounded work.
  static constexpr std::size_t kLongest = 4096;

  // All absent.
  explicit Values(const Schema& schema) : size_(schema.names().size()) {
    for (std::size_t i = 0; i < size_; ++i) values_[i] = std::string_view();
  }
  // Those of `attributes` that `schema` knows; of one given twice, the first.
  Values(const Schema& schema, std::span<const Attribute> attributes);

  void Set(Schema::Number number, std::string_view value, const Address* address = nullptr);
  [[nodiscard]] bool Has(Schema::Number number) const { return values_[number].data() != nullptr; }
  // Empty if absent.
  [[nodiscard]] std::string_view operator[](Schema::Number number) const { return values_[number]; }
  // `ip` as an address, if it is one.
  [[nodiscard]] const std::optional<Address>& ip() const { return ip_; }

 private:
  std::size_t size_;
  std::array<std::string_view, Schema::kMost> values_;
  std::optional<Address> ip_;
};

}  // namespace weir::rule
