// A small JSON object from somebody who may mean harm, as much of it as a token's claims need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weir/result.h"

namespace weir::rule {

// Members whose values are texts, numbers or lists of texts. Values of other kinds are checked for
// form and otherwise ignored.
class JsonObject {
 public:
  static constexpr int kDeepest = 16;  // objects and lists within each other
  static constexpr std::size_t kMostMembers = 256;

  struct Ignored {};
  using Texts = std::vector<std::string>;
  using Value = std::variant<Ignored, std::string, std::int64_t, double, Texts>;

  // Fails on anything but one object in valid UTF-8, beyond the bounds above, and on a name given
  // twice: readers differ in which one they take. The error shows nothing of the text.
  static Result<JsonObject> Parse(std::string text);

  // Null if there is none.
  [[nodiscard]] const Value* Find(std::string_view name) const;
  // The text under `name`; null if there is none or it is no text.
  [[nodiscard]] const std::string* FindText(std::string_view name) const;

 private:
  friend class JsonObjectReader;
  struct Member {
    std::string name;
    Value value;
  };

  std::vector<Member> members_;
};

}  // namespace weir::rule
