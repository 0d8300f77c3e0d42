// What a key is called where hosts share it: the same on every host, and readable.
//
//     {shop/login:a41c6e0f5d2b7783:198.51.100.7|anna}:0
//      namespace/rule : counter   : values           : which of the rule's limits
//
// The braces make Redis Cluster keep all limits of one key together, so that they can be decided in
// one call. What a client sends goes into it with everything but plain characters escaped, and as a
// digest if it is long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rule/attribute.h"
#include "rule/rulebook.h"

namespace weir {

struct SharedName {
  const rule::Space* space = nullptr;
  const rule::CompiledRule* rule = nullptr;
  const rule::Counter* counter = nullptr;
  std::uint64_t salt = 0;  // of the allowance
  const rule::Values* values = nullptr;
  std::size_t limit = 0;  // which of the rule's

  // REQUIRES: the request has the values of the counter's key
  void AppendTo(std::string& out) const;
};

}  // namespace weir
