#include "frontend/metrics_reply.h"

namespace weir {

MetricsReply::MetricsReply(const MetricsSources& sources, Instant now, const wire::HttpReplyTo& to,
                           std::size_t request_bytes)
    : page_(sources, now),
      to_(to),
      in_chunks_(to.version == wire::HttpVersion::k11),
      request_bytes_(request_bytes) {
  // HTTP/1.0 knows no pieces: there the answer lasts until the connection ends.
  if (!in_chunks_) to_.keep_alive = false;
}

MetricsReply::Step MetricsReply::Append(std::string& out) {
  Step step{.is_last = true, .closes = !to_.keep_alive, .request_bytes = request_bytes_};
  if (!has_begun_) {
    has_begun_ = true;
    wire::HttpReply reply(out, 200, to_);
    if (in_chunks_) {
      reply.FinishChunked(wire::kPrometheusType);
    } else {
      reply.FinishUntilClose(wire::kPrometheusType);
    }
    if (to_.head_only) return step;
  }
  std::string piece;
  piece.reserve(kPiece + kPiece / 4);
  step.is_last = !page_.Append(kPiece, piece);
  if (in_chunks_) {
    wire::AppendHttpChunk(piece, out);
    if (step.is_last) wire::AppendHttpChunk({}, out);
  } else {
    out += piece;
  }
  return step;
}

}  // namespace weir
