#include "wire/http_answer.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/text.h"

namespace weir::wire {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

// "HTTP/1.1 200 OK": 200; 0 if it is none.
std::uint16_t StatusIn(std::string_view line) {
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return 0;
  const Result<std::uint64_t> status = ParseCount(line.substr(9, 3));
  return status && *status >= 100 && *status <= 599 ? static_cast<std::uint16_t>(*status) : 0;
}

}  // namespace

std::string_view HttpAnswer::Field(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (key == name) return value;
  }
  return {};
}

Result<bool> HttpAnswerReader::Read(std::string_view bytes) {
  if (until_ != Until::kHead) return ReadBody(bytes);
  head_ += bytes;
  return ReadHead();
}

Result<bool> HttpAnswerReader::ReadHead() {
  const std::size_t end = head_.find("\r\n\r\n");
  if (std::min(end, head_.size()) > kLongestHead) {
    return Error{"the header fields have more than " + std::to_string(kLongestHead) + " bytes"};
  }
  if (end == std::string::npos) return false;
  const std::string rest = head_.substr(end + 4);
  std::string_view lines = std::string_view(head_).substr(0, end);
  answer_ = {};
  for (bool first = true; !lines.empty() || first; first = false) {
    const std::size_t line_end = lines.find(kLineEnd);
    const std::string_view line = lines.substr(0, line_end);
    lines.remove_prefix(std::min(lines.size(), line.size() + kLineEnd.size()));
    const std::size_t colon = line.find(':');
    if (first) {
      answer_.status = StatusIn(line);
      if (answer_.status == 0) return Error{"it does not answer in HTTP/1.1"};
    } else if (colon != std::string_view::npos) {
      answer_.fields.emplace_back(Lower(line.substr(0, colon)), Trim(line.substr(colon + 1)));
    }
  }
  if (answer_.status < 200) {  // a word in between, such as 100 Continue
    head_ = rest;
    return ReadHead();
  }
  const std::string_view length = answer_.Field("content-length");
  if (SameIgnoringCase(answer_.Field("transfer-encoding"), "chunked")) {
    until_ = Until::kChunks;
  } else if (!length.empty()) {
    const Result<std::uint64_t> size = ParseCount(length);
    if (!size || *size > kLongestBody) return Error{"the answer says that it is too long"};
    length_ = *size;
    until_ = Until::kLength;
  } else {
    until_ = answer_.status == 204 || answer_.status == 304 ? Until::kLength : Until::kEnd;
  }
  return ReadBody(rest);
}

Result<bool> HttpAnswerReader::ReadBody(std::string_view bytes) {
  if (until_ == Until::kChunks) {
    const ChunkRead read = chunks_.Read(bytes, answer_.body);
    if (read.status == ChunkStatus::kBad) return Error{"its body: " + std::string(read.reason)};
    return read.status == ChunkStatus::kDone;
  }
  answer_.body += bytes;
  if (answer_.body.size() > kLongestBody) return Error{"the answer is too long"};
  if (until_ == Until::kEnd || answer_.body.size() < length_) return false;
  answer_.body.resize(length_);
  return true;
}

bool HttpAnswerReader::End() const { return until_ == Until::kEnd; }

}  // namespace weir::wire
