// Any bytes as a gRPC connection, in any pieces: nothing crashes, memory has a bound, and the same
// is asked of the service, and said to the client, as by all bytes at once. And any calls, sent by
// a client that speaks HTTP/2 right, in any pieces: every call is answered as in one.
#include <fuzzer/FuzzedDataProvider.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "../tests/grpc_test_client.h"
#include "wire/grpc_connection.h"
#include "wire/http2_frame.h"

namespace {

using namespace weir;
using namespace weir::wire;

using Sizes = std::vector<std::uint8_t>;

// Small, so that the fuzzer meets them.
constexpr GrpcLimits kLimits{.fields = 1024, .message = 256, .waiting = 512};
constexpr Instant kNow{std::chrono::hours(1)};

void Demand(bool holds) {
  if (!holds) std::abort();
}

// Answers with what it was asked; a message that begins with '!' fails.
class Mirror final : public GrpcService {
 public:
  GrpcMethod Find(std::string_view path) override {
    if (path == "/u") return {GrpcShape::kUnary, 1};
    if (path == "/s") return {GrpcShape::kStreams, 2};
    return {};
  }
  std::optional<GrpcStatus> Answer(GrpcCall& /*call*/, std::string_view message,
                                   std::string& response) override {
    asked.emplace_back("unary " + std::string(message));
    if (message.starts_with('!')) return GrpcStatus{GrpcCode::kUnknown, std::string(message)};
    response += message;
    return GrpcStatus{};
  }
  void OnMessage(GrpcCall& call, std::string_view message) override {
    asked.emplace_back("stream " + std::string(message));
    if (message.starts_with('!')) return call.Finish({GrpcCode::kUnknown, std::string(message)});
    call.Send(message);
  }
  void OnEnd(GrpcCall& call) override { call.Finish({}); }
  void OnGone(GrpcCall& /*call*/) override {}

  std::vector<std::string> asked;
};

// The pieces are as long as `sizes` says, over and over. What is written is appended to `out`.
std::vector<std::string> Feed(std::string_view bytes, const Sizes& sizes, std::string& out) {
  Mirror service;
  GrpcConnection connection(service, kLimits);
  std::string unread;
  for (std::size_t at = 0, turn = 0; at < bytes.size(); ++turn) {
    const std::size_t size = sizes.empty() ? bytes.size() : 1 + sizes[turn % sizes.size()];
    unread += bytes.substr(at, size);
    at += size;
    for (bool more = true; more && !unread.empty();) {
      // Exactly as large as what is in it: the sanitizer sees who reads behind it.
      const std::vector<char> exact(unread.begin(), unread.end());
      const auto progress = connection.Serve({exact.data(), exact.size()}, kNow, out);
      Demand(progress.consumed <= exact.size());
      if (progress.close) return service.asked;
      unread.erase(0, progress.consumed);
      more = progress.more;
      Demand(!more || progress.consumed > 0);
    }
    Demand(unread.size() < kFrameHeaderSize + kLongestPayload);
  }
  for (const std::string& message : service.asked) Demand(message.size() <= kLimits.message + 7);
  return service.asked;
}

Sizes AnySizes(FuzzedDataProvider& data) {
  Sizes sizes(data.ConsumeIntegralInRange<std::size_t>(1, 4));
  for (std::uint8_t& size : sizes) size = data.ConsumeIntegralInRange<std::uint8_t>(0, 60);
  return sizes;
}

void ReadAnything(FuzzedDataProvider& data) {
  const Sizes sizes = AnySizes(data);
  std::string bytes = data.ConsumeBool()
                          ? std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33)
                          : std::string();
  bytes += data.ConsumeRemainingBytesAsString();
  std::string said;
  const auto asked = Feed(bytes, {}, said);
  for (const Sizes& pieces : {sizes, Sizes{0}}) {  // byte by byte
    std::string again;
    Demand(Feed(bytes, pieces, again) == asked && again == said);
  }
}

std::int32_t MakeCall(FuzzedDataProvider& data, GrpcTestClient& client) {
  GrpcFields fields = CallFields(data.PickValueInArray({"/u", "/s", "/other"}));
  if (data.ConsumeIntegralInRange(0, 7) == 0) fields[0].second = "GET";
  if (data.ConsumeIntegralInRange(0, 7) == 0) fields[4].second = "text/plain";
  if (data.ConsumeIntegralInRange(0, 7) == 0) fields.emplace_back("x", std::string(1100, 'x'));
  std::string body;
  for (int i = data.ConsumeIntegralInRange(0, 3); i > 0; --i) {
    body += Framed(data.ConsumeRandomLengthString(300),
                   data.ConsumeIntegralInRange(0, 15) == 0 ? '\1' : '\0');
  }
  if (data.ConsumeIntegralInRange(0, 7) == 0) body += data.ConsumeRandomLengthString(10);
  return client.Call(fields, body);
}

// Everything that the client was told.
std::string AllHeard(GrpcTestClient& client, const std::vector<std::int32_t>& calls) {
  std::string all;
  for (const std::int32_t id : calls) {
    const GrpcHeard& heard = client.heard(id);
    all += std::to_string(id) + (heard.ended ? " ended" : "") + " [" + heard.body + "]";
    for (const auto& [name, value] : heard.fields) all += " " + name + "=" + value;
    all += "\n";
  }
  return all;
}

void AnswerCalls(FuzzedDataProvider& data) {
  const Sizes sizes = AnySizes(data);
  const std::string script = data.ConsumeRemainingBytesAsString();
  std::string first;
  for (const Sizes& pieces : {Sizes{}, sizes, Sizes{0}}) {
    FuzzedDataProvider calls_data(reinterpret_cast<const std::uint8_t*>(script.data()),
                                  script.size());
    GrpcTestClient client;
    std::vector<std::int32_t> calls;
    std::string bytes;
    while (calls_data.remaining_bytes() > 0 && calls.size() < 50) {
      calls.push_back(MakeCall(calls_data, client));
      if (calls_data.ConsumeBool()) bytes += client.Bytes();
    }
    bytes += client.Bytes();
    std::string out;
    Feed(bytes, pieces, out);
    client.Hear(out);
    const std::string heard = AllHeard(client, calls);
    if (pieces.empty()) first = heard;
    Demand(heard == first);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  if (bytes.ConsumeBool()) {
    ReadAnything(bytes);
  } else {
    AnswerCalls(bytes);
  }
  return 0;
}
