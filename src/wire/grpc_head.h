// What the header fields of a call say, as far as gRPC asks. They come compressed (HPACK, RFC
// 7541), which is libnghttp2's work.
//
// A client says the same in every call, and nearly always in the same bytes: such a block means
// what it meant before, as long as nothing came in between that changed the table it refers to. So
// the last ones are remembered, and decoded once.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "wire/grpc_service.h"

struct nghttp2_hd_inflater;

namespace weir::wire {

struct GrpcHead {
  GrpcMethod method = {};
  std::size_t bytes = 0;  // of all fields, as RFC 9113 counts them
  bool is_post = false;
  bool is_grpc = false;       // by its content type
  bool is_malformed = false;  // RFC 9113, 8.1.1: not to be answered
};

class GrpcHeadReader {
 public:
  GrpcHeadReader();
  ~GrpcHeadReader();
  GrpcHeadReader(const GrpcHeadReader&) = delete;
  GrpcHeadReader& operator=(const GrpcHeadReader&) = delete;

  // Every block of a connection has to be read, in order. The path is looked up in `service`,
  // unless the fields have more than `most` bytes. Nothing: it cannot be decoded, nor can any that
  // follows.
  std::optional<GrpcHead> Read(std::string_view block, std::size_t most, GrpcService& service);

 private:
  struct Known {
    std::string block;  // empty: none
    GrpcHead head;
  };
  std::optional<GrpcHead> Decode(std::string_view block, std::size_t most, GrpcService& service);
  void Remember(std::string_view block, const GrpcHead& head);

  nghttp2_hd_inflater* inflater_;
  std::array<Known, 4> known_;
  std::size_t oldest_ = 0;
};

}  // namespace weir::wire
