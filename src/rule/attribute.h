// What is known of a request, and how rules look it up.
//
// A caller tells attributes by name. The rules of a namespace ask for a few of them, again and
// again; a Schema gives each a number when rules are compiled, and a request's values are put in
// that order once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

  Schema() { Add(kIp); }

  // The number of `name`, a new one if need be; nothing if there are kMost already.
  std::optional<Number> Add(std::string_view name);
  [[nodiscard]] std::optional<Number> Find(std::string_view name) const {
    const std::uint64_t head = HeadOf(name);
    for (std::size_t i = PlaceOf(head, name.size()); places_[i].used; i = (i + 1) % kPlaces) {
      const Place& place = places_[i];
      const bool may_be = place.head == head && place.size == name.size();
      if (may_be && (name.size() <= sizeof head || names_[place.number] == name)) {
        return place.number;
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::span<const std::string> names() const { return names_; }

 private:
  // Every request has all its names looked up, and most of them are short.
  struct Place {
    std::uint64_t head = 0;
    std::size_t size = 0;
    Number number = 0;
    bool used = false;
  };
  static constexpr std::size_t kPlaces = 4 * kMost;

  // All of a text of up to eight characters, and the beginning of a longer one.
  static std::uint64_t HeadOf(std::string_view text) {
    const char* at = text.data();
    const std::size_t size = text.size();
    const auto four = [](const char* from) {
      std::uint32_t bytes = 0;
      std::memcpy(&bytes, from, sizeof bytes);
      return std::uint64_t{bytes};
    };
    const auto one = [](char c) { return std::uint64_t{static_cast<unsigned char>(c)}; };
    if (size > 8) return four(at) | four(at + 4) << 32;
    if (size >= 4) return four(at) | four(at + size - 4) << 32;
    return size == 0 ? 0 : one(at[0]) | one(at[size / 2]) << 8 | one(at[size - 1]) << 16;
  }
  static std::size_t PlaceOf(std::uint64_t head, std::size_t size) {
    return ((head ^ size) * 0x9E3779B97F4A7C15 >> 32) % kPlaces;
  }

  std::vector<std::string> names_;
  std::array<Place, kPlaces> places_{};
};

// Values of a request by number. Views: what they look at must outlive them.
class Values {
 public:
  // What is longer is cut off: a client's input takes bounded work.
  static constexpr std::size_t kLongest = 4096;

  // All absent.
  explicit Values(const Schema& schema) : size_(schema.names().size()) {
    for (std::size_t i = 0; i < size_; ++i) values_[i].data = nullptr;
  }
  // Those of `attributes` that `schema` knows; of one given twice, the first.
  Values(const Schema& schema, std::span<const Attribute> attributes);

  // `address`: if the caller knows which `value` is.
  void Set(Schema::Number number, std::string_view value, const Address* address = nullptr) {
    WEIR_CHECK(number < size_);
    // One that is given is there, though it may be empty.
    values_[number] = {value.data() != nullptr ? value.data() : "",
                       std::min(value.size(), kLongest)};
    if (number != Schema::kIpNumber) return;
    ip_ = address != nullptr ? *address : Address::Parse(value);
  }
  [[nodiscard]] bool Has(Schema::Number number) const { return values_[number].data != nullptr; }
  // Empty if absent.
  [[nodiscard]] std::string_view operator[](Schema::Number number) const {
    const View& view = values_[number];
    return view.data != nullptr ? std::string_view(view.data, view.size) : std::string_view();
  }
  // `ip` as an address, if it is one.
  [[nodiscard]] const std::optional<Address>& ip() const { return ip_; }

 private:
  // As std::string_view, but not cleared when it is made: a schema has fewer than kMost names.
  struct View {
    const char* data;
    std::size_t size;
  };

  std::size_t size_;
  std::array<View, Schema::kMost> values_;  // NOLINT(*-member-init): the first size_ are set
  std::optional<Address> ip_;
};

}  // namespace weir::rule
