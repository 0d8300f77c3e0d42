#include "wire/grpc_answer_fields.h"

#include <array>
#include <cstddef>

#include "wire/http2_frame.h"

namespace weir::wire {
namespace {

// Places in the table: the fixed ones, then what was kept last, then what was kept before.
constexpr char kStatus200 = static_cast<char>(0x80 | 8);
constexpr char kNewest = static_cast<char>(0x80 | 62);
constexpr char kSecondNewest = static_cast<char>(0x80 | 63);
// A literal: to be kept or not, and where its name is, if it is not said.
constexpr char kKeep = 0x40;
constexpr char kDoNotKeep = 0x00;
constexpr char kNameOfStatus = 8;
constexpr char kKeepContentType = kKeep | 31;
constexpr std::string_view kDoNotKeepContentType = "\x0F\x10";  // 31, in a number of 4 bits
constexpr char kNoTable = 0x20;                                 // its size is 0 from now on

constexpr std::uint32_t kDefaultTableSize = 4096;

void PutText(std::string_view text, std::string& out) {
  constexpr std::size_t kMost = 0x7F;
  if (text.size() < kMost) {
    out += static_cast<char>(text.size());
  } else {
    out += static_cast<char>(kMost);
    std::size_t rest = text.size() - kMost;
    for (; rest >= 0x80; rest >>= 7) out += static_cast<char>(rest | 0x80);
    out += static_cast<char>(rest);
  }
  out += text;
}

void PutLiteral(char how, std::string_view name, std::string_view value, std::string& out) {
  out += how;
  PutText(name, out);
  PutText(value, out);
}

std::string_view NumberOf(GrpcCode code) {
  constexpr std::array<std::string_view, 17> kNumbers = {
      "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
  return kNumbers[static_cast<std::size_t>(code)];
}

// HEADERS around what `put` appends. Its longest text has some 3 KiB: it fits into one frame.
template <typename Put>
void AppendHeaders(std::uint32_t stream, std::uint8_t flags, std::string& out, const Put& put) {
  const std::size_t begin = out.size();
  out.append(kFrameHeaderSize, '\0');
  put();
  const auto length = static_cast<std::uint32_t>(out.size() - begin - kFrameHeaderSize);
  flags |= frame_flag::kEndHeaders;
  PutFrameHeader({length, FrameType::kHeaders, flags, stream}, out.data() + begin);
}

}  // namespace

void GrpcAnswerFields::SetTableSize(std::uint32_t size) {
  // Whoever has a small one needs ours least: from now on it is empty.
  if (size >= kDefaultTableSize || !keeps_) return;
  keeps_ = false;
  owes_update_ = true;
}

void GrpcAnswerFields::PutUpdate(std::string& out) {
  if (owes_update_) out += kNoTable;
  owes_update_ = false;
}

void GrpcAnswerFields::PutHead(std::string& out) {
  out += kStatus200;
  if (keeps_ && knows_type_) {
    out += knows_status_ ? kSecondNewest : kNewest;
    return;
  }
  if (keeps_) {
    out += kKeepContentType;
  } else {
    out += kDoNotKeepContentType;
  }
  PutText("application/grpc", out);
  knows_type_ = true;
}

void GrpcAnswerFields::PutStatus(GrpcCode code, std::string_view message, std::string& out) {
  const bool is_usual = code == GrpcCode::kOk && keeps_ && knows_type_;
  if (is_usual && knows_status_) {
    out += kNewest;
  } else {
    PutLiteral(is_usual ? kKeep : kDoNotKeep, "grpc-status", NumberOf(code), out);
    if (is_usual) knows_status_ = true;
  }
  if (!message.empty()) PutLiteral(kDoNotKeep, "grpc-message", message, out);
}

void GrpcAnswerFields::AppendHead(std::uint32_t stream, std::string& out) {
  AppendHeaders(stream, frame_flag::kNone, out, [&] {
    PutUpdate(out);
    PutHead(out);
  });
}

void GrpcAnswerFields::AppendTrailers(std::uint32_t stream, GrpcCode code, std::string_view message,
                                      std::string& out) {
  AppendHeaders(stream, frame_flag::kEndStream, out, [&] {
    PutUpdate(out);
    PutStatus(code, message, out);
  });
}

void GrpcAnswerFields::AppendTrailersOnly(std::uint32_t stream, GrpcCode code,
                                          std::string_view message, std::string& out) {
  AppendHeaders(stream, frame_flag::kEndStream, out, [&] {
    PutUpdate(out);
    PutHead(out);
    PutStatus(code, message, out);
    if (code == GrpcCode::kUnimplemented) {
      PutLiteral(kDoNotKeep, "grpc-accept-encoding", "identity", out);
    }
  });
}

void GrpcAnswerFields::AppendHttpStatus(std::uint32_t stream, std::string_view status,
                                        std::string& out) {
  AppendHeaders(stream, frame_flag::kEndStream, out, [&] {
    PutUpdate(out);
    out += kNameOfStatus;
    PutText(status, out);
  });
}

}  // namespace weir::wire
