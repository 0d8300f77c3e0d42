// Any bytes as answers of Redis, in any pieces: nothing crashes, the answers are those of all bytes
// at once, texts lie in the buffer, and no list has more or fewer parts than it says.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/resp_value.h"

namespace {

using namespace weir::wire;

// Small, so that the fuzzer meets them.
constexpr RespValueLimits kLimits{.bytes = 256, .parts = 16, .depth = 3};

void Demand(bool holds) {
  if (!holds) std::abort();
}

bool LiesIn(std::string_view part, std::string_view whole) {
  return !std::less<>()(part.data(), whole.data()) &&
         !std::less<>()(whole.data() + whole.size(), part.data() + part.size());
}

// Also checks it. `parts` counts them.
std::string Show(RespValue value, std::string_view buffer, std::size_t& parts) {
  ++parts;
  std::string shown(1, static_cast<char>('a' + static_cast<int>(value.kind())));
  if (!value.text().empty()) Demand(LiesIn(value.text(), buffer));
  shown += std::to_string(value.integer());
  shown += value.text();
  std::size_t below = 0;
  for (const RespValue part : value) {
    ++below;
    shown += '(' + Show(part, buffer, parts) + ')';
  }
  Demand(below == value.size());
  return shown;
}

// The pieces are as long as `sizes` says, over and over; the buffer is a new one at each call.
std::vector<std::string> Feed(std::string_view bytes, const std::vector<std::uint8_t>& sizes) {
  RespValueReader reader(kLimits);
  std::vector<std::string> answers;
  std::string buffer;
  for (std::size_t at = 0, turn = 0; at < bytes.size(); ++turn) {
    const std::size_t size = sizes.empty() ? bytes.size() : 1 + sizes[turn % sizes.size()];
    buffer += bytes.substr(at, size);
    at += size;
    for (;;) {
      // Exactly as large as what is in it: the sanitizer sees who reads behind it.
      const std::vector<char> exact(buffer.begin(), buffer.end());
      const std::string_view view(exact.data(), exact.size());
      const RespAnswer answer = reader.Read(view);
      if (answer.status == RespValueStatus::kBad) {
        Demand(!answer.problem.empty());
        answers.emplace_back("bad");
        return answers;
      }
      if (answer.status == RespValueStatus::kNeedMore) break;
      Demand(answer.consumed > 0 && answer.consumed <= view.size());
      Demand(answer.consumed <= kLimits.bytes);
      std::size_t parts = 0;
      answers.push_back(Show(answer.value, view, parts));
      Demand(parts <= kLimits.parts);
      buffer.erase(0, answer.consumed);
    }
  }
  return answers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider provider(data, size);
  std::vector<std::uint8_t> sizes(provider.ConsumeIntegralInRange<std::size_t>(1, 4));
  for (std::uint8_t& each : sizes) each = provider.ConsumeIntegralInRange<std::uint8_t>(0, 40);
  const std::string bytes = provider.ConsumeRemainingBytesAsString();
  const std::vector<std::string> whole = Feed(bytes, {});
  Demand(Feed(bytes, sizes) == whole);
  Demand(Feed(bytes, {0}) == whole);  // byte by byte
  return 0;
}
