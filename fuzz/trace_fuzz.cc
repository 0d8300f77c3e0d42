// Any text as a trace: it is read or refused with file and line, and what is read can be run.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "algorithm/plan.h"
#include "trace/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongest = 4096;
  if (size > kLongest) return -1;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto trace = weir::trace::Parse(text, "fuzz");
  if (!trace) {
    if (!trace.error().message.starts_with("fuzz:")) std::abort();
    return 0;
  }
  // A log of a million entries is fine, a hundred of them in a row are only slow.
  std::size_t words = 0;
  for (const weir::trace::Step& step : *trace) {
    if (step.limit) words += weir::algorithm::Plan::Of(*step.limit)->words();
  }
  if (words > 100'000) return -1;
  weir::trace::LimiterMaker maker;
  weir::trace::Run(*trace, maker);
  return 0;
}
