#include "wire/grpc_stream.h"

#include <algorithm>
#include <optional>

namespace weir::wire {

void GrpcConnection::Stream::Open(std::uint32_t its_id, const GrpcHead& its_head,
                                  std::int64_t window) {
  id = its_id;
  head = its_head;
  is_awaited = true;
  window_ = window;
}

void GrpcConnection::Stream::CountKept() {
  connection_.kept_ += reader.kept() - kept_;
  kept_ = reader.kept();
}

void GrpcConnection::Stream::Receive(std::uint32_t bytes) {
  received_ += bytes;
  if (received_ <= connection_.limits_.stream_window / 2) return;
  AppendNumberFrame(FrameType::kWindowUpdate, id, received_, out());
  received_ = 0;
}

bool GrpcConnection::Stream::MoveWindow(std::int64_t by) {
  window_ += by;
  return window_ <= kWidestWindow;
}

void GrpcConnection::Stream::Send(std::string_view message) {
  if (is_finished_) return;
  if (!is_begun_) connection_.fields_.AppendHead(id, out());
  is_begun_ = true;
  const auto prefix = GrpcPrefix(message.size());
  Queue({prefix.data(), prefix.size()});
  Queue(message);
  Flush();
}

void GrpcConnection::Stream::Finish(const GrpcStatus& status) {
  if (is_finished_) return;
  is_finished_ = true;
  if (is_late_) connection_.flood_.Earn(FloodGuard::kReset);
  code_ = status.code;
  text_ = EncodeGrpcMessage(status.message);
  if (is_begun_) return Flush();
  connection_.fields_.AppendTrailersOnly(id, code_, text_, out());
  Close();
}

void GrpcConnection::Stream::FinishHttp(std::string_view http_status) {
  is_finished_ = true;
  connection_.fields_.AppendHttpStatus(id, http_status, out());
  Close();
}

// The service writes where it goes out, behind what comes before a message. If there is none, or no
// window for it, that is taken back.
void GrpcConnection::Stream::Answer() {
  std::string& out = this->out();
  const std::size_t begin = out.size();
  const GrpcAnswerFields fields_before = connection_.fields_;
  connection_.fields_.AppendHead(id, out);
  const std::size_t data = out.size();
  const std::size_t body = data + kFrameHeaderSize;
  out.append(kFrameHeaderSize + kGrpcPrefix, '\0');

  const std::optional<GrpcStatus> status = connection_.service_.Answer(*this, question, out);
  if (status) connection_.flood_.Earn(FloodGuard::kReset);
  if (!status || !status->ok()) {
    out.resize(begin);
    connection_.fields_ = fields_before;
    if (status) return Finish(*status);
    reader.Clear();
    CountKept();
    is_late_ = true;
    return;
  }
  is_begun_ = is_finished_ = true;
  const auto size = static_cast<std::int64_t>(out.size() - body);
  const auto prefix = GrpcPrefix(out.size() - body - kGrpcPrefix);
  std::copy(prefix.begin(), prefix.end(), out.data() + body);
  if (size > Room()) {
    Queue(std::string_view(out).substr(body));
    out.resize(data);
    return Flush();
  }
  connection_.window_ -= size;
  PutFrameHeader({static_cast<std::uint32_t>(size), FrameType::kData, frame_flag::kNone, id},
                 out.data() + data);
  SayTrailers();
}

std::int64_t GrpcConnection::Stream::Room() const {
  return std::min({window_, connection_.window_, static_cast<std::int64_t>(kLongestPayload)});
}

void GrpcConnection::Stream::Queue(std::string_view bytes) {
  if (sent_ > unsent_.size() / 2) {
    unsent_.erase(0, sent_);
    sent_ = 0;
  }
  unsent_ += bytes;
  connection_.unsent_ += bytes.size();
}

void GrpcConnection::Stream::Flush() {
  if (!is_begun_ || is_closed_) return;
  while (sent_ < unsent_.size()) {
    if (Room() <= 0) return connection_.BoundAnswers();
    const std::size_t size = std::min(unsent_.size() - sent_, static_cast<std::size_t>(Room()));
    AppendFrame(FrameType::kData, frame_flag::kNone, id,
                std::string_view(unsent_).substr(sent_, size), out());
    sent_ += size;
    window_ -= static_cast<std::int64_t>(size);
    connection_.window_ -= static_cast<std::int64_t>(size);
    connection_.unsent_ -= size;
  }
  unsent_.clear();
  sent_ = 0;
  if (is_finished_) SayTrailers();
  connection_.BoundAnswers();
}

void GrpcConnection::Stream::SayTrailers() {
  connection_.fields_.AppendTrailers(id, code_, text_, out());
  Close();
}

void GrpcConnection::Stream::Close() {
  // Whatever the client has still to say, nobody will listen.
  if (!has_ended) {
    AppendNumberFrame(FrameType::kReset, id, static_cast<std::uint32_t>(Http2Error::kNone), out());
  }
  is_closed_ = true;
  connection_.done_.push_back(this);
}

void GrpcConnection::Stream::Clear() {
  connection_.unsent_ -= unsent_.size() - sent_;
  head = {};
  reader.Clear();
  CountKept();
  question = {};
  has_question = is_awaited = has_ended = false;
  received_ = 0;
  if (unsent_.capacity() > kGrpcRoomKept) unsent_ = std::string();
  unsent_.clear();
  sent_ = 0;
  code_ = GrpcCode::kOk;
  text_.clear();
  is_begun_ = is_finished_ = is_closed_ = is_late_ = false;
}

}  // namespace weir::wire
