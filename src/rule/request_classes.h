// Requests by what rules can know of them: which rules match, which overrides count and which keys
// there are is the same for all requests of one class.
//
// A class is told by which attributes are there at all, the class of each value that a rule asks
// about (value_classes.h), and the networks that the address is in:
//
//     {ip, path, user} --path 3--> 17 --user 2--> 20 --networks 2--> class 5
//
// Each step is a look into one table, which is made as requests come. There are few: what rules can
// tell apart, and somebody has sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
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
  using State = std::uint32_t;  // of fewer than 16 bits
  struct Asked {
    Schema::Number attribute;
    ValueClasses classes;
  };
  // Requests that have the same attributes.
  struct Shape {
    std::uint64_t present = 0;
    State start = 0;
    std::vector<Asked*> asked;
  };
  struct Step {
    std::uint32_t from = kNone;  // a state, and the class that is added to what it knows
    std::uint32_t to = 0;        // another, or after the last step the class of the request
  };
  static constexpr std::size_t kPlaces = 4096;
  static constexpr std::size_t kMostSteps = kPlaces / 4 * 3;

  // False if there are too many. `numbers`: where the next one is from if it is new.
  bool Go(std::uint32_t& state, Class known, std::uint32_t& numbers);
  static std::size_t PlaceOf(std::uint32_t from) {
    static_assert(kPlaces == std::size_t{1} << 12);
    return from * 0x9E3779B1U >> (32 - 12);
  }
  [[gnu::noinline]] std::uint32_t Learn(std::size_t place, std::uint32_t from,
                                        std::uint32_t& numbers);
  // Null if there are too many.
  [[gnu::noinline]] const Shape* Open(std::uint64_t present);
  [[nodiscard]] Class NetworksOf(const Values& values);

  const ClassScheme& scheme_;
  const Shape* last_ = nullptr;  // never is, once it is made
  std::vector<Step> steps_;
  std::vector<Asked> asked_;
  std::unordered_map<std::uint64_t, Shape> shapes_;  // by what is present
  std::map<std::vector<std::uint32_t>, Class> by_networks_;
  std::vector<std::uint32_t> in_networks_;  // of the request at hand
  std::size_t step_count_ = 0;
  State next_state_ = 0;
  std::uint32_t next_class_ = 0;
  bool is_full_ = false;
};

}  // namespace weir::rule
