// What a key is called where hosts share it: the same on every host, and readable.
//
//     {shop/login:a41c6e0f5d2b7783:198.51.100.7|anna}:0
//      namespace/rule : counter   : values           : which of the rule's limits
//     {shop/user:02f5ad9b6c1e8d44:anna}:0            by a descriptor: the values of its entries
//     {shop/*:MINUTE:user|anna}:0                    by a limit that came with a descriptor
//
// The braces make Redis Cluster keep all limits of one key together, so that they can be decided in
// one call. What a client sends goes into it with everything but plain characters escaped, and as a
// digest if it is long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rule/attribute.h"
#include "rule/rulebook.h"

namespace weir {

struct SharedName {
  const rule::Space* space = nullptr;
  const rule::CompiledRule* rule = nullptr;      // null: the limit came with a request
  const rule::Counter* counter = nullptr;        // of the rule
  std::uint64_t salt = 0;                        // of the allowance
  const rule::Values* values = nullptr;          // null: by a descriptor
  std::size_t limit = 0;                         // which of the rule's
  std::span<const std::string_view> texts = {};  // what a descriptor is counted by
  std::string_view unit = {};                    // of a limit that came with a request

  // REQUIRES: the request has the values of the counter's key
  void AppendTo(std::string& out) const;

 private:
  void AppendValues(std::string& out) const;
};

}  // namespace weir
