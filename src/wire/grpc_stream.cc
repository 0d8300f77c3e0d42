#include "wire/grpc_stream.h"

#include <algorithm>
#include <array>
#include <exception>
#include <stdexcept>

namespace weir::wire {
namespace {

constexpr std::size_t kRoomKept = 1024;

// nghttp2 copies neither name nor value: they must live until the frame is written.
nghttp2_nv Constant(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

std::string_view NumberOf(GrpcCode code) {
  constexpr std::array<std::string_view, 17> kNumbers = {
      "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
  return kNumbers[static_cast<std::size_t>(code)];
}

const nghttp2_nv kOk = Constant(":status", "200");
const nghttp2_nv kGrpc = Constant("content-type", "application/grpc");

// There is no memory, or nghttp2 and we disagree about the call: the connection is lost.
void Must(int result) {
  if (result != 0) throw std::runtime_error(nghttp2_strerror(result));
}

}  // namespace

void GrpcConnection::Stream::Send(std::string_view message) {
  if (is_finished_) return;
  const auto prefix = GrpcPrefix(message.size());
  out_.append(prefix.data(), prefix.size()).append(message);
  connection_.unsent_ += prefix.size() + message.size();
  if (!is_begun_) {
    SubmitFields();
  } else if (is_paused_) {
    is_paused_ = false;
    Must(nghttp2_session_resume_data(connection_.session_, id));
  }
  Count();
}

void GrpcConnection::Stream::Finish(const GrpcStatus& status) {
  if (is_finished_) return;
  is_finished_ = true;
  if (is_late_) connection_.flood_.Earn(FloodGuard::kReset);
  code_ = status.code;
  text_ = EncodeGrpcMessage(status.message);
  if (is_begun_) {
    if (is_paused_) Must(nghttp2_session_resume_data(connection_.session_, id));
    is_paused_ = false;
    return;
  }
  // Fields and trailers in one: there is nothing between them.
  std::array<nghttp2_nv, 5> fields = {kOk, kGrpc, Constant("grpc-status", NumberOf(code_))};
  std::size_t count = 3;
  if (!text_.empty()) fields[count++] = Constant("grpc-message", text_);
  if (code_ == GrpcCode::kUnimplemented) {
    fields[count++] = Constant("grpc-accept-encoding", "identity");
  }
  Must(nghttp2_submit_response(connection_.session_, id, fields.data(), count, nullptr));
  StopClient();
  Count();
}

void GrpcConnection::Stream::FinishHttp(std::string_view http_status) {
  is_finished_ = true;
  const nghttp2_nv field = Constant(":status", http_status);
  Must(nghttp2_submit_response(connection_.session_, id, &field, 1, nullptr));
  StopClient();
  Count();
}

void GrpcConnection::Stream::Answer() {
  out_.assign(kGrpcPrefix, '\0');
  const std::optional<GrpcStatus> status = connection_.service_.Answer(*this, question, out_);
  if (!status) {
    out_.clear();
    reader.Clear();
    is_late_ = true;
    return;
  }
  connection_.flood_.Earn(FloodGuard::kReset);
  if (!status->ok()) {
    out_.clear();
    return Finish(*status);
  }
  const auto prefix = GrpcPrefix(out_.size() - kGrpcPrefix);
  std::copy(prefix.begin(), prefix.end(), out_.begin());
  connection_.unsent_ += out_.size();
  is_finished_ = true;
  SubmitFields();
  Count();
}

void GrpcConnection::Stream::SubmitFields() {
  is_begun_ = true;
  const std::array<nghttp2_nv, 2> fields = {kOk, kGrpc};
  nghttp2_data_provider provider;
  provider.source.ptr = this;
  provider.read_callback = &Stream::Read;
  Must(nghttp2_submit_response(connection_.session_, id, fields.data(), fields.size(), &provider));
}

ssize_t GrpcConnection::Stream::Read(nghttp2_session* /*session*/, std::int32_t /*id*/,
                                     std::uint8_t* buffer, std::size_t room, std::uint32_t* flags,
                                     nghttp2_data_source* source, void* /*connection*/) {
  Stream& stream = *static_cast<Stream*>(source->ptr);
  const std::size_t size = stream.out_.copy(reinterpret_cast<char*>(buffer), room, stream.sent_);
  stream.sent_ += size;
  stream.connection_.unsent_ -= size;
  if (stream.sent_ < stream.out_.size()) return static_cast<ssize_t>(size);
  stream.out_.clear();
  stream.sent_ = 0;
  if (stream.is_finished_) {
    *flags = NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    try {
      stream.SubmitTrailers();
    } catch (...) {
      stream.connection_.thrown_ = std::current_exception();
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  } else if (size == 0) {
    stream.is_paused_ = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  return static_cast<ssize_t>(size);
}

void GrpcConnection::Stream::SubmitTrailers() {
  std::array<nghttp2_nv, 2> fields = {Constant("grpc-status", NumberOf(code_))};
  std::size_t count = 1;
  if (!text_.empty()) fields[count++] = Constant("grpc-message", text_);
  Must(nghttp2_submit_trailer(connection_.session_, id, fields.data(), count));
  StopClient();
}

// Whatever the client has still to say, nobody will listen.
void GrpcConnection::Stream::StopClient() {
  if (!has_ended) connection_.to_reset_.push_back(id);
}

void GrpcConnection::Stream::Count() {
  ++connection_.unwritten_;
  if (connection_.unsent_ > connection_.limits_.unsent) connection_.EndForFlood();
}

void GrpcConnection::Stream::Clear() {
  connection_.unsent_ -= out_.size() - sent_;
  found = {};
  field_bytes = 0;
  is_post = is_grpc = false;
  reader.Clear();
  question = {};
  has_question = is_awaited = has_ended = false;
  if (out_.capacity() > kRoomKept) out_ = std::string();
  out_.clear();
  sent_ = 0;
  code_ = GrpcCode::kOk;
  text_.clear();
  is_begun_ = is_finished_ = is_paused_ = is_late_ = false;
}

}  // namespace weir::wire
