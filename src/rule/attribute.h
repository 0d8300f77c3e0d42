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
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_words.h"
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
    const Number* number = Look(name);
    return number != nullptr ? std::optional(*number) : std::nullopt;
  }
  // The same for who asks again and again; null: there is no such name.
  [[nodiscard]] const Number* Look(std::string_view name) const {
    const std::uint64_t head = HeadOf(name);
    const std::uint64_t tail = TailOf(name);
    for (std::size_t i = PlaceOf(head, tail, name.size()); places_[i].used; i = (i + 1) % kPlaces) {
      const Place& place = places_[i];
      const bool may_be = place.head == head && place.tail == tail && place.size == name.size();
      if (may_be && (name.size() <= 2 * kWordBytes || names_[place.number] == name)) {
        return &place.number;
      }
    }
    return nullptr;
  }
  [[nodiscard]] std::span<const std::string> names() const { return names_; }

 private:
  // Every request has all its names looked up, and most of them are short.
  struct Place {
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    std::uint32_t size = 0;
    Number number = 0;
    bool used = false;
  };
  static constexpr std::size_t kPlaces = 4 * kMost;

  // All of a text of up to eight characters, and the beginning of a longer one.
  static std::uint64_t HeadOf(std::string_view text) {
    return text.size() < kWordBytes ? LoadUpToWord(text) : LoadWord(text.data());
  }
  // The end of a text of more than eight characters: all of up to sixteen are in one or the other.
  static std::uint64_t TailOf(std::string_view text) {
    return text.size() <= kWordBytes ? 0 : LoadWord(text.data() + text.size() - kWordBytes);
  }
  static std::size_t PlaceOf(std::uint64_t head, std::uint64_t tail, std::size_t size) {
    return ((head ^ tail ^ size) * 0x9E3779B97F4A7C15 >> 32) % kPlaces;
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
  explicit Values(const Schema& schema) : size_(schema.names().size()) {}
  // Those of `attributes` that `schema` knows.
  Values(const Schema& schema, std::span<const Attribute> attributes);
  // For who gives attributes of the same names again and again, and has looked up their numbers:
  // all that `present` has a bit for will be Put(), and then Finish() is called. REQUIRES: these
  // are numbers of the schema.
  explicit Values(std::uint64_t present) : size_(0), present_(present) {}

  // If `schema`, which it was made for, knows the name; of one given twice, the first counts.
  void Add(const Schema& schema, std::string_view name, std::string_view value,
           const Address* address = nullptr) {
    const Schema::Number* number = schema.Look(name);
    if (number != nullptr && !Has(*number)) Set(*number, value, address);
  }
  // `address`: if the caller knows which `value` is.
  void Set(Schema::Number number, std::string_view value, const Address* address = nullptr) {
    WEIR_CHECK(number < size_);
    present_ |= std::uint64_t{1} << number;  // though it may be empty
    values_[number] = {value.data(), std::min(value.size(), kLongest)};
    if (number != Schema::kIpNumber) return;
    ip_ = address != nullptr ? *address : Address::Parse(value);
  }
  // What nobody asks for can be put there.
  static constexpr Schema::Number kNowhere = Schema::kMost;
  // REQUIRES: at most kLongest characters.
  void Put(Schema::Number number, std::string_view value) {
    values_[number] = {value.data(), value.size()};
  }
  void Finish() {
    if (!Has(Schema::kIpNumber)) return;
    const std::string_view text = Present(Schema::kIpNumber);
    if (!Address::ParseV4(text, ip_.emplace())) ip_ = Address::Parse(text);
  }
  [[nodiscard]] bool Has(Schema::Number number) const { return (present_ >> number & 1) != 0; }
  // A bit for each that is there.
  [[nodiscard]] std::uint64_t present() const { return present_; }
  // Empty if absent.
  [[nodiscard]] std::string_view operator[](Schema::Number number) const {
    return Has(number) ? Present(number) : std::string_view();
  }
  // REQUIRES: it is there.
  [[nodiscard]] std::string_view Present(Schema::Number number) const {
    return {values_[number].data, values_[number].size};
  }
  // `ip` as an address, if it is one.
  [[nodiscard]] const std::optional<Address>& ip() const { return ip_; }

 private:
  // As std::string_view, but not cleared when it is made: a request has fewer than kMost.
  struct View {
    const char* data;
    std::size_t size;
  };

  static_assert(Schema::kMost <= 64);
  std::size_t size_;
  std::uint64_t present_ = 0;  // a bit for each that is there
  // And one that is nowhere.
  std::array<View, Schema::kMost + 1> values_;  // NOLINT(*-member-init): only those are looked at
  std::optional<Address> ip_;
};

}  // namespace weir::rule
