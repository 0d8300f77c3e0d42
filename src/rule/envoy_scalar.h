// What a scalar means to envoyproxy/ratelimit: `yes` is true, `010` is eight, `1_000` a thousand.
//
// Their files are YAML 1.1 as Go's yaml.v2 reads it, ours are stricter. Whoever brings such a file
// along must get what it meant there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "rule/yaml.h"

namespace weir::rule {

struct NullScalar {
  bool operator==(const NullScalar&) const = default;
};
// Integers above the largest std::int64_t are unsigned; text is as it was written.
using EnvoyScalar =
    std::variant<NullScalar, bool, std::int64_t, std::uint64_t, double, std::string_view>;

// REQUIRES: nothing or a scalar. The text looks into `node`.
EnvoyScalar Resolve(const YamlNode& node);

// `node` as JSON on one line, or the node in it that JSON cannot express (a number that is none).
std::variant<std::string, const YamlNode*> MetadataJson(const YamlNode& node);

}  // namespace weir::rule
