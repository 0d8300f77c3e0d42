// What Envoy's other filters and its access log are told of a decision, as a
// google.protobuf.Struct:
//
//   {"domain": "shop", "descriptors": [{"entries": ["path=/login"], "limit": "...",
//    "hitsAddend": 2}], "hitsAddend": 1, "metadata": {...}}
//
// `metadata` is that of all rules whose descriptors passed, merged.
#pragma once

#include <string>

#include "service/descriptor_check.h"

namespace weir {

// The bytes of the Struct. It allocates: it is off unless asked for.
std::string DynamicMetadata(const DescriptorRequest& request, const DescriptorReply& reply);

}  // namespace weir
