// Any text as a limit: what can be read is written in a way that reads as the same limit.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "weir/limit.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto limit = weir::Limit::Parse(text);
  if (!limit) {
    if (limit.error().message.empty()) std::abort();
    return 0;
  }
  const std::string written = limit->ToString();
  const auto again = weir::Limit::Parse(written);
  if (!again || *again != *limit || again->ToString() != written) std::abort();
  if (limit->WhatIsWrong()) std::abort();
  return 0;
}
