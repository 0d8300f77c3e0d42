// Answers that go out when the turn of the loop ends, one behind the other in one piece of memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weir::net {

class PutOffAnswers {
 public:
  // Longer ones are not worth being copied.
  static constexpr std::size_t kLongest = std::size_t{16} << 10;

  struct Place {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  // Nothing if there is nothing to say, or too much, of this or of all.
  std::optional<Place> Add(std::string_view answer) {
    if (answer.empty() || answer.size() > kLongest || bytes_.size() > kKept) return std::nullopt;
    const Place place{bytes_.size(), answer.size()};
    bytes_ += answer;
    ++count_;
    return place;
  }
  // Good until the next is added or the last is dropped.
  [[nodiscard]] std::string_view At(Place place) const {
    return std::string_view(bytes_).substr(place.begin, place.size);
  }
  // One of them is not needed any more. When none is, a crowd's memory is given back.
  void Drop() {
    if (--count_ > 0) return;
    if (bytes_.capacity() > kKept) bytes_ = std::string();
    bytes_.clear();
  }

 private:
  static constexpr std::size_t kKept = std::size_t{1} << 20;

  std::string bytes_;
  std::size_t count_ = 0;
};

}  // namespace weir::net
