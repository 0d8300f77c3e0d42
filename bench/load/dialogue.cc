#include "bench/load/dialogue.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/byte_block.h"

namespace weir::bench {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// Behind the line feed of the line at `at`; kNone if it has not come yet. Lines are short.
inline std::size_t NextLine(std::string_view bytes, std::size_t at) {
  while (at < bytes.size() && bytes[at] != '\n') ++at;
  return at < bytes.size() ? at + 1 : kNone;
}

// --- requests without numbers: both protocols answer in order ------------------------------------

class InOrder : public Dialogue {
 public:
  InOrder(const Questions& questions, std::size_t first) : questions_(questions), next_(first) {}
  void Ask(std::size_t count, std::string& out) override {
    while (count > 0) {
      const std::size_t some = std::min(count, questions_.count() - next_);
      out += questions_.Bytes(next_, some);
      next_ = (next_ + some) % questions_.count();
      count -= some;
    }
  }

 private:
  const Questions& questions_;
  std::size_t next_;
};

class RespDialogue final : public InOrder {
 public:
  // `refusal`: the first number of an array that says no.
  RespDialogue(const Questions& questions, std::size_t first, char refusal)
      : InOrder(questions, first), refusal_(refusal) {}

  Heard Hear(std::string_view bytes, std::string& /*out*/) override {
    Heard heard = HearAllButLast(bytes);
    for (;;) {
      const std::size_t end = EndOf(bytes, heard.consumed);
      if (end == kNone) return heard;
      const char type = bytes[heard.consumed];
      if (type == '-') ++heard.failed;
      if (type == '*' && bytes[heard.consumed + kFirstNumber] == refusal_) ++heard.refused;
      ++heard.answers;
      heard.consumed = end;
    }
  }

 private:
  static constexpr std::size_t kFirstNumber = 5;  // behind "*5\r\n:"

  // Where each answer is an array or an error, and nothing in them looks like the beginning of one,
  // they are counted sixteen bytes at a time: who read each would be slower than a server that
  // answers 64 at once. The last of them is left to be read. REQUIRES: there are bytes
  [[nodiscard]] Heard HearAllButLast(std::string_view bytes) const {
    if (bytes[0] != '*') return {};
    const std::size_t last = bytes.rfind('*');
    Heard heard;
    const char* at = bytes.data();
    for (; at + ByteBlock::kSize + kFirstNumber <= bytes.data() + last; at += ByteBlock::kSize) {
      const ByteBlock block(at);
      const ByteMarks arrays = block.Equal('*');
      const ByteMarks errors = block.Equal('\n') & ByteBlock(at + 1).Equal('-');
      const ByteMarks refusals = arrays & ByteBlock(at + kFirstNumber).Equal(refusal_);
      heard.answers += static_cast<unsigned>(std::popcount(arrays) + std::popcount(errors));
      heard.failed += static_cast<unsigned>(std::popcount(errors));
      heard.refused += static_cast<unsigned>(std::popcount(refusals));
    }
    for (; at < bytes.data() + last; ++at) {
      const bool is_error = at[0] == '\n' && at[1] == '-';
      if (*at == '*' || is_error) ++heard.answers;
      if (is_error) ++heard.failed;
      if (*at == '*' && at[kFirstNumber] == refusal_) ++heard.refused;
    }
    heard.consumed = last;
    return heard;
  }

  static std::size_t EndOf(std::string_view bytes, std::size_t at) {
    for (std::size_t left = 1; left > 0; --left) {
      const std::size_t line = at;
      at = NextLine(bytes, at);
      if (at == kNone) return kNone;
      const char type = bytes[line];
      if (type == ':' || type == '+' || type == '-') continue;
      std::int64_t number = 0;
      std::from_chars(bytes.data() + line + 1, bytes.data() + at, number);
      if (number <= 0 && type == '*') continue;
      if (type == '*') left += static_cast<std::size_t>(number);
      if (type == '$' && number >= 0) at += static_cast<std::size_t>(number) + 2;
      if (at > bytes.size()) return kNone;
    }
    return at;
  }

  char refusal_;
};

class HttpDialogue final : public InOrder {
 public:
  using InOrder::InOrder;

  Heard Hear(std::string_view bytes, std::string& /*out*/) override {
    Heard heard;
    for (;;) {
      const std::size_t end = EndOf(bytes, heard.consumed);
      if (end == kNone) return heard;
      constexpr std::size_t kCode = 9;  // behind "HTTP/1.1 "
      const std::string_view code = bytes.substr(heard.consumed + kCode, 3);
      if (code == "429") {
        ++heard.refused;
      } else if (code[0] != '2') {
        ++heard.failed;
      }
      ++heard.answers;
      heard.consumed = end;
    }
  }

 private:
  static std::size_t EndOf(std::string_view bytes, std::size_t at) {
    constexpr std::string_view kLength = "Content-Length: ";
    std::size_t body = 0;
    for (;;) {
      const void* feed = std::memchr(bytes.data() + at, '\n', bytes.size() - at);
      if (feed == nullptr) return kNone;
      const auto next = static_cast<std::size_t>(static_cast<const char*>(feed) - bytes.data()) + 1;
      const std::string_view line = bytes.substr(at, next - at);
      at = next;
      if (line == "\r\n") break;
      if (line[0] == 'C' && line.starts_with(kLength)) {
        std::from_chars(line.data() + kLength.size(), line.data() + line.size(), body);
      }
    }
    return at + body <= bytes.size() ? at + body : kNone;
  }
};

}  // namespace

Questions::Questions(const std::vector<ClientRequest>& requests, Dialect dialect,
                     std::string_view script)
    : dialect_(dialect) {
  for (const ClientRequest& request : requests) {
    bytes_ += Encode(request, dialect, script);
    ends_.push_back(bytes_.size());
  }
}

std::unique_ptr<Dialogue> MakeDialogue(const Questions& questions, std::size_t first) {
  switch (questions.dialect()) {
    case Dialect::kIncr:
    case Dialect::kEvalSha:
    case Dialect::kCellThrottle:
      return std::make_unique<RespDialogue>(questions, first, '1');
    case Dialect::kWeirCheck:
    case Dialect::kPageCheck:
      return std::make_unique<RespDialogue>(questions, first, '0');
    case Dialect::kHttp:
    case Dialect::kPageHttp:
      return std::make_unique<HttpDialogue>(questions, first);
    case Dialect::kGrpc:
      break;
  }
  return MakeGrpcDialogue(questions, first);
}

}  // namespace weir::bench
