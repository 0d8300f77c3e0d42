// The header fields and trailers of answers, compressed (HPACK, RFC 7541). An answer says nearly
// always the same two things, so the table that both sides keep has just these:
//
//   content-type: application/grpc      the first that is kept
//   grpc-status: 0                      the second
//
// Everything else is said in full. It is a small value: to take back what was appended, take back
// the fields as they were before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/grpc_status.h"

namespace weir::wire {

class GrpcAnswerFields {
 public:
  // The client has said how large the table may be.
  void SetTableSize(std::uint32_t size);

  // All append a frame to `out`.
  void AppendHead(std::uint32_t stream, std::string& out);
  void AppendTrailers(std::uint32_t stream, GrpcCode code, std::string_view message,
                      std::string& out);
  // Head and trailers in one: there is nothing between them.
  void AppendTrailersOnly(std::uint32_t stream, GrpcCode code, std::string_view message,
                          std::string& out);
  // A status of HTTP and nothing else.
  void AppendHttpStatus(std::uint32_t stream, std::string_view status, std::string& out);

 private:
  void PutUpdate(std::string& out);
  void PutHead(std::string& out);
  void PutStatus(GrpcCode code, std::string_view message, std::string& out);

  bool keeps_ = true;          // the table is used
  bool owes_update_ = false;   // the client is to be told that it is not, before anything else
  bool knows_type_ = false;    // the client has it in its table
  bool knows_status_ = false;  // and this before it
};

}  // namespace weir::wire
