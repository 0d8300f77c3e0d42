// Any bytes as Redis commands, in any pieces: nothing crashes, the commands are those of all bytes
// at once, arguments lie in the buffer, what is read of an array is what it was written from, and
// what fits a template is what is read there.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/resp_reply.h"
#include "wire/resp_request.h"
#include "wire/resp_template.h"

namespace {

using namespace weir::wire;

using Words = std::vector<std::string>;

// Small, so that the fuzzer meets them.
constexpr RespLimits kLimits{.arguments = 8, .bulk = 64, .line = 128, .command = 256};

void Demand(bool holds) {
  if (!holds) std::abort();
}

bool LiesIn(std::string_view part, std::string_view whole) {
  return !std::less<>()(part.data(), whole.data()) &&
         !std::less<>()(whole.data() + whole.size(), part.data() + part.size());
}

struct Outcome {
  std::vector<Words> commands;
  std::string problem;
  std::size_t unread = 0;

  bool operator==(const Outcome&) const = default;
};

// The pieces are as long as `sizes` says, over and over; the buffer is a new one at each call.
Outcome Feed(std::string_view bytes, const std::vector<std::uint8_t>& sizes) {
  RespReader reader(kLimits);
  Outcome outcome;
  std::vector<std::string_view> arguments;
  std::string buffer;
  for (std::size_t at = 0, turn = 0; at < bytes.size(); ++turn) {
    const std::size_t size = sizes.empty() ? bytes.size() : 1 + sizes[turn % sizes.size()];
    buffer += bytes.substr(at, size);
    at += size;
    RespRequest request;
    do {
      // Exactly as large as what is in it: the sanitizer sees who reads behind it.
      const std::vector<char> exact(buffer.begin(), buffer.end());
      const std::string_view view(exact.data(), exact.size());
      request = reader.Read(view, arguments);
      Demand(request.consumed <= view.size());
      if (request.status == RespStatus::kBad) {
        outcome.problem = request.problem;
        Demand(outcome.problem.starts_with("Protocol error: "));
        return outcome;
      }
      if (request.status == RespStatus::kCommand) {
        Demand(request.consumed > 0 && !arguments.empty());
        Demand(arguments.size() <= kLimits.arguments);
        const bool quoted = view.substr(0, request.consumed).find_first_of("\"'") < view.size();
        for (const std::string_view argument : arguments) {
          Demand(quoted || LiesIn(argument, view));
        }
        outcome.commands.emplace_back(arguments.begin(), arguments.end());
      }
      buffer.erase(0, request.consumed);
    } while (request.status != RespStatus::kNeedMore);
    Demand(buffer.size() <= kLimits.command + 32);
  }
  outcome.unread = buffer.size();
  return outcome;
}

void ReadAnything(FuzzedDataProvider& data) {
  std::vector<std::uint8_t> sizes(data.ConsumeIntegralInRange<std::size_t>(1, 4));
  for (std::uint8_t& size : sizes) size = data.ConsumeIntegralInRange<std::uint8_t>(0, 40);
  const std::string bytes = data.ConsumeRemainingBytesAsString();
  const Outcome whole = Feed(bytes, {});
  Demand(Feed(bytes, sizes) == whole);
  Demand(Feed(bytes, {0}) == whole);  // byte by byte
}

void ReadWhatWasWritten(FuzzedDataProvider& data) {
  Words words(data.ConsumeIntegralInRange<std::size_t>(1, 5));
  for (std::string& word : words) word = data.ConsumeRandomLengthString(30);
  std::string bytes;
  {
    RespWriter writer(bytes, RespVersion::k2);
    writer.Array(words.size());
    for (const std::string& word : words) writer.Bulk(word);
  }  // all of it is there when the writer is gone
  Demand(Feed(bytes, {}).commands == std::vector<Words>{words});

  std::string line;
  RespWriter(line, RespVersion::k3).Error(words.front());
  Demand(line.find_first_of("\r\n") == line.size() - 2);
}

// What fits a template is the command that is there, and differs from the one that was learned in
// gaps only.
void ReadWhatFits(FuzzedDataProvider& data) {
  Words words(data.ConsumeIntegralInRange<std::size_t>(1, 6));
  for (std::string& word : words) word = data.ConsumeRandomLengthString(30);
  const std::uint64_t gaps = data.ConsumeBool() ? 0b101010 : 0b10;
  RespTemplate learned;
  learned.Learn(std::vector<std::string_view>(words.begin(), words.end()), gaps);
  const std::vector<char> bytes = data.ConsumeRemainingBytes<char>();
  const std::string_view view(bytes.data(), bytes.size());
  Words in_gaps;
  const std::size_t size = learned.Read(view, [&](std::size_t, std::string_view word) {
    in_gaps.emplace_back(word);
    return true;
  });
  if (size == 0) return;
  RespReader reader;
  std::vector<std::string_view> arguments;
  const RespRequest request = reader.Read(view, arguments);
  Demand(request.status == RespStatus::kCommand && request.consumed == size);
  Demand(arguments.size() == words.size());
  std::size_t gap = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    Demand(arguments[i] == ((gaps >> i & 1) != 0 ? in_gaps.at(gap++) : words[i]));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  switch (bytes.ConsumeIntegralInRange(0, 3)) {
    case 0:
      ReadWhatWasWritten(bytes);
      break;
    case 1:
      ReadWhatFits(bytes);
      break;
    default:
      ReadAnything(bytes);
  }
  return 0;
}
