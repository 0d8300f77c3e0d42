// Requests by what rules can know of them: which rules match, which overrides count and which keys
// there are is the same for all requests of one class.
//
// A class is told by the class of each value that a rule asks about (value_classes.h), the networks
// that the address is in, and which attributes are there at all. There are few: what rules can tell
// apart, and somebody has sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "rule/attribute.h"
#include "rule/class_scheme.h"
#include "rule/value_classes.h"

namespace weir::rule {

// Thread safety: none; a thread has its own.
class RequestClasses {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::size_t kMost = 512;

  // `scheme` is usable and outlives it.
  explicit RequestClasses(const ClassScheme& scheme);

  // The number of a request's class, from 0 up in the order they come; kNone if it cannot be told.
  [[nodiscard]] std::uint32_t Of(const Values& values);
  // No more can be told apart: to begin anew, make another.
  [[nodiscard]] bool is_full() const { return is_full_; }

 private:
  using Class = ValueClasses::Class;
  // Which attributes there are, and the classes of those that are asked about.
  struct Signs {
    std::uint64_t present = 0;
    std::array<std::uint64_t, ClassScheme::kMostAsked / 4 + 1> classes{};  // the last: networks

    bool operator==(const Signs& other) const {
      std::uint64_t difference = present ^ other.present;
      for (std::size_t i = 0; i < classes.size(); ++i) difference |= classes[i] ^ other.classes[i];
      return difference == 0;
    }
  };
  struct Entry {
    Signs signs;
    std::uint32_t number = kNone;
  };
  struct Asked {
    Schema::Number attribute;
    ValueClasses classes;
  };
  static constexpr std::size_t kEntries = 2 * kMost;

  static std::size_t PlaceOf(const Signs& signs);
  [[nodiscard]] Class NetworksOf(const Values& values);
  [[gnu::noinline]] std::uint32_t Add(const Signs& signs);

  const ClassScheme& scheme_;
  std::vector<Asked> asked_;
  std::map<std::vector<std::uint32_t>, Class> by_networks_;
  std::vector<std::uint32_t> in_networks_;  // of the request at hand
  std::vector<Entry> entries_;
  std::uint32_t count_ = 0;
  bool is_full_ = false;
};

}  // namespace weir::rule
