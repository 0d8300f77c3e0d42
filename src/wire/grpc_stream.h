// One call on a connection: what came of it, and what it is told. A part of wire/grpc_connection.h,
// for its own use.
#pragma once

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
  [[nodiscard]] std::uint8_t method() const override { return head.method.number; }

  void Open(std::uint32_t its_id, const GrpcHead& its_head, std::int64_t window);
  // The answer to a unary call, unless that comes later.
  void Answer();
  // An answer that is a status of HTTP and nothing else: this is no call of gRPC.
  void FinishHttp(std::string_view http_status);
  // Says what the windows have room for, and the end behind it.
  void Flush();
  // For another call; the memory of small messages stays.
  void Clear();

  // What is kept of it may have changed.
  void CountKept();
  // So many bytes came.
  void Receive(std::uint32_t bytes);
  // So many bytes more, or less, may be said. False: more than there can be.
  bool MoveWindow(std::int64_t by);

  std::uint32_t id = 0;
  GrpcHead head;

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
  // Bytes that may be said at once.
  [[nodiscard]] std::int64_t Room() const;
  void Queue(std::string_view bytes);
  void SayTrailers();
  void Close();
  std::string& out() { return *connection_.out_; }

  GrpcConnection& connection_;
  std::size_t kept_ = 0;        // as the connection counts it
  std::int64_t window_ = 0;     // bytes that we may send
  std::uint32_t received_ = 0;  // bytes that the client was not given back
  // Messages with their prefixes, for which there was no window; then the status.
  std::string unsent_;
  std::size_t sent_ = 0;  // of these
  GrpcCode code_ = GrpcCode::kOk;
  std::string text_;          // of the status, encoded
  bool is_begun_ = false;     // the fields of the answer are said
  bool is_finished_ = false;  // nothing more can be said
  bool is_closed_ = false;    // all is said
  bool is_late_ = false;
};

}  // namespace weir::wire
