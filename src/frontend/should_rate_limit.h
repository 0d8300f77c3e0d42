// ShouldRateLimit, the one method of Envoy's rate limit service: bytes of a message in, bytes of a
// message out, as envoyproxy/ratelimit answers. docs/envoy.md
//
// The request is read in place and the response is written straight away (wire/protobuf.h): a call
// allocates nothing, but for the dynamic metadata if that is asked for.
//
// Thread safety: one object for each thread, or each connection.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "service/checker.h"
#include "service/descriptor_check.h"
#include "wire/grpc_status.h"

namespace weir {

// The same for all connections. As with envoyproxy/ratelimit, all of it is off at first.
struct RateLimitOptions {
  DescriptorOptions modes;
  // Adds header fields to what Envoy answers its client, from the descriptor closest to its limit.
  bool response_headers = false;
  std::string limit_header = "RateLimit-Limit";
  std::string remaining_header = "RateLimit-Remaining";
  std::string reset_header = "RateLimit-Reset";
  // Tells Envoy's filters and access log what was asked, and the metadata of rules that passed.
  bool dynamic_metadata = false;
};

class RateLimitMethod {
 public:
  static constexpr std::string_view kPath =
      "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
  // More than that is refused: nothing that a client sends may grow our memory.
  static constexpr std::size_t kMostDescriptors = 256;
  static constexpr std::size_t kMostEntries = 4096;  // of all descriptors together

  // Both must outlive this.
  RateLimitMethod(Checker& checker, const RateLimitOptions& options);

  // Appends the response. If the status is not OK there is none.
  //
  // Nothing: `reply`, which has joined a cluster, has to wait. Ask the same again with the same
  // reply when its waiter is told, or give it back. It is released when all is said.
  std::optional<wire::GrpcStatus> Answer(std::string_view message, Instant now,
                                         DescriptorReply& reply, std::string& response);
  // The same in no cluster: nothing ever waits, and there is one reply, used again and again.
  wire::GrpcStatus Answer(std::string_view message, Instant now, std::string& response) {
    return *Answer(message, now, reply_, response);
  }
  [[nodiscard]] DescriptorReply& reply() { return reply_; }
  // Nobody is there any more to be told what `reply` waits for.
  void GiveBack(DescriptorReply& reply, Instant now) const {
    checker_.GiveBack(reply, now);
    reply.Release();
  }

 private:
  struct Span {
    std::size_t first;
    std::size_t count;
  };
  wire::GrpcStatus Read(std::string_view message);
  wire::GrpcStatus ReadDescriptor(std::string_view message);
  void Write(const DescriptorReply& reply, std::string& response) const;

  DescriptorChecker checker_;
  const RateLimitOptions& options_;
  DescriptorReply reply_;

  // The request; its texts lie in the message.
  DescriptorRequest request_;
  std::vector<DescriptorAsk> descriptors_;
  std::vector<rule::RequestEntry> entries_;
  std::vector<Span> spans_;  // of `entries_`, for each descriptor
};

}  // namespace weir
