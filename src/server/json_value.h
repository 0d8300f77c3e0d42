// JSON that a server answered, as a tree: for commands that show it to people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/result.h"

namespace weir {

struct JsonValue {
  enum class Kind : std::uint8_t { kNull, kFlag, kNumber, kText, kList, kObject };
  static constexpr int kDeepest = 32;  // lists and objects within each other

  Kind kind = Kind::kNull;
  std::string text = {};  // of a number, as it was written; of a flag, "true" or "false"
  std::vector<JsonValue> items = {};
  std::vector<std::pair<std::string, JsonValue>> members = {};

  // Fails on what is no JSON, or too deep.
  static Result<JsonValue> Parse(std::string text);

  // The member; null (the value) if this is no object or has none.
  [[nodiscard]] const JsonValue& operator[](std::string_view name) const;
  [[nodiscard]] bool is_null() const { return kind == Kind::kNull; }
  [[nodiscard]] bool is_true() const { return kind == Kind::kFlag && text == "true"; }
  // 0 if it is no whole number that fits.
  [[nodiscard]] std::int64_t number() const;
};

}  // namespace weir
