// One call on a connection: what came of it, and what it is told. A part of wire/grpc_connection.h,
// for its own use.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "wire/grpc_connection.h"
#include "wire/grpc_message.h"

namespace weir::wire {

class GrpcConnection::Stream final : public GrpcCall {
 public:
  explicit Stream(GrpcConnection& connection) : connection_(connection) {}

  void Send(std::string_view message) override;
  void Finish(const GrpcStatus& status) override;
  [[nodiscard]] std::uint8_t method() const override { return found.number; }

  // The answer to a unary call, unless that comes later.
  void Answer();
  // An answer that is a status of HTTP and nothing else: this is no call of gRPC.
  void FinishHttp(std::string_view http_status);
  // For another call; the memory of small messages stays.
  void Clear();

  std::int32_t id = 0;
  std::size_t place = 0;  // in GrpcConnection::streams_

  // What its header fields said.
  GrpcMethod found;
  std::size_t field_bytes = 0;
  bool is_post = false;
  bool is_grpc = false;

  // What came.
  GrpcMessageReader reader;
  std::string_view question;  // of a unary call, until all of the request has come
  bool has_question = false;
  bool is_awaited = false;  // nothing can be answered before more has come
  bool has_ended = false;   // the client has said all
  [[nodiscard]] bool is_finished() const { return is_finished_; }
  // A unary call whose answer did not come at once.
  [[nodiscard]] bool is_late() const { return is_late_; }

 private:
  // nghttp2 asks for what is to be sent, as windows allow.
  static ssize_t Read(nghttp2_session* session, std::int32_t id, std::uint8_t* buffer,
                      std::size_t room, std::uint32_t* flags, nghttp2_data_source* source,
                      void* connection);
  void SubmitFields();
  void SubmitTrailers();
  void StopClient();
  void Count();

  GrpcConnection& connection_;
  // Messages with their prefixes, then the status.
  std::string out_;
  std::size_t sent_ = 0;
  GrpcCode code_ = GrpcCode::kOk;
  std::string text_;          // of the status, encoded
  bool is_begun_ = false;     // the fields of the answer are said
  bool is_finished_ = false;  // nothing more can be said
  bool is_late_ = false;
  bool is_paused_ = false;  // nghttp2 waits to be told that there is more
};

}  // namespace weir::wire
