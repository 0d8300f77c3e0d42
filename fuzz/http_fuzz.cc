// Any bytes as HTTP requests, in any pieces: nothing crashes, what is read is what is read of all
// at once, views lie in the buffer, a head has one meaning, and what is decoded or answered holds
// nothing that it must not.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/http_body.h"
#include "wire/http_reader.h"
#include "wire/http_reply.h"
#include "wire/http_request.h"
#include "wire/http_values.h"
#include "wire/percent.h"

namespace {

using namespace weir::wire;

// Small, so that the fuzzer meets them.
constexpr HttpLimits kLimits{.request_line = 128, .head = 512, .fields = 8, .body = 256};
constexpr ChunkLimits kChunkLimits{.body = 256, .extensions = 32, .trailers = 64};

using Sizes = std::vector<std::uint8_t>;

void Demand(bool holds) {
  if (!holds) std::abort();
}

bool LiesIn(std::string_view part, std::string_view whole) {
  return part.empty() || (!std::less<>()(part.data(), whole.data()) &&
                          !std::less<>()(whole.data() + whole.size(), part.data() + part.size()));
}

bool Has(std::string_view text, std::string_view any_of) {
  return text.find_first_of(any_of) != std::string_view::npos;
}

void CheckRequest(const HttpRequest& request, std::string_view head) {
  constexpr std::string_view kLineEnds("\r\n\0", 3);
  Demand(!request.method.empty() && LiesIn(request.method, head));
  Demand(!request.target.empty() && LiesIn(request.target, head));
  Demand(!Has(request.target, " \t\r\n#"));
  Demand(request.path == "*" || request.path.starts_with('/'));
  Demand(request.path == "/" || LiesIn(request.path, request.target));
  Demand(LiesIn(request.query, request.target));
  Demand(LiesIn(request.authority, head) && !Has(request.authority, " /?#@\r\n"));
  Demand(request.fields.size() <= kLimits.fields);
  Demand(request.body == HttpBody::kLength || request.content_length == 0);
  Demand(request.content_length <= kLimits.body);
  Demand(request.version == HttpVersion::k10 || request.Field("host").has_value());
  Demand(!(request.Field("content-length") && request.Field("transfer-encoding")));
  for (const weir::rule::HeaderField& field : request.fields) {
    Demand(!field.name.empty() && LiesIn(field.name, head) && !Has(field.name, " \t\r\n:"));
    Demand(LiesIn(field.value, head) && !Has(field.value, kLineEnds));
  }
  std::string storage;
  for (const Plus plus : {Plus::kItself, Plus::kBlank}) {
    const auto decoded = PercentDecode(request.target, plus, storage);
    if (!decoded) continue;
    Demand(decoded->size() <= request.target.size());
    Demand(PercentDecodesTo(request.target, plus, *decoded));
  }
  if (const auto value = FindQueryParameter(request.query, "a")) Demand(LiesIn(*value, head));
  if (const auto value = FindCookie(request.fields, "a")) Demand(LiesIn(*value, head));
}

// A connection: heads and their bodies, until something is wrong. What was seen, as text.
std::string Feed(std::string_view bytes, const Sizes& sizes) {
  std::string seen;
  HttpReader heads(kLimits);
  ChunkReader chunks(kChunkLimits);
  HttpRequest request;
  std::string buffer;
  std::string body;
  HttpBody awaited = HttpBody::kNone;
  std::size_t length = 0;
  for (std::size_t at = 0, turn = 0; at < bytes.size(); ++turn) {
    const std::size_t size = sizes.empty() ? bytes.size() : 1 + sizes[turn % sizes.size()];
    buffer += bytes.substr(at, size);
    at += size;
    for (bool more = true; more;) {
      // Exactly as large as what is in it: the sanitizer sees who reads behind it.
      const std::vector<char> exact(buffer.begin(), buffer.end());
      const std::string_view view(exact.data(), exact.size());
      std::size_t consumed = 0;
      if (awaited == HttpBody::kNone) {
        const HttpRead read = heads.Read(view, request);
        if (read.status == HttpStatus::kBad) return seen += "bad " + std::string(read.reason);
        more = read.status == HttpStatus::kHead;
        consumed = read.consumed;
        Demand(consumed <= view.size() && (consumed > 0) == more);
        if (!more) continue;
        CheckRequest(request, view.substr(0, consumed));
        seen += std::string(request.method) + ' ' + std::string(request.path) + ' ' +
                std::to_string(request.fields.size()) + '\n';
        awaited = request.body;
        length = static_cast<std::size_t>(request.content_length);
        chunks = ChunkReader(kChunkLimits);
        body.clear();
      } else if (awaited == HttpBody::kLength) {
        more = view.size() >= length;
        if (!more) continue;
        consumed = length;
        seen += std::string(view.substr(0, length)) + '\n';
        awaited = HttpBody::kNone;
      } else {
        const ChunkRead read = chunks.Read(view, body);
        if (read.status == ChunkStatus::kBad) return seen += "bad " + std::string(read.reason);
        consumed = read.consumed;
        Demand(body.size() <= kChunkLimits.body && consumed <= view.size());
        more = read.status == ChunkStatus::kDone;
        if (more) {
          seen += body + '\n';
          awaited = HttpBody::kNone;
        }
      }
      buffer.erase(0, consumed);
    }
    Demand(buffer.size() < kLimits.head);
  }
  return seen + "unread " + std::to_string(buffer.size());
}

void ReadAnything(FuzzedDataProvider& data) {
  Sizes sizes(data.ConsumeIntegralInRange<std::size_t>(1, 4));
  for (std::uint8_t& size : sizes) size = data.ConsumeIntegralInRange<std::uint8_t>(0, 60);
  const std::string bytes = data.ConsumeRemainingBytesAsString();
  const std::string whole = Feed(bytes, {});
  Demand(Feed(bytes, sizes) == whole);
  Demand(Feed(bytes, {0}) == whole);  // byte by byte
}

void WriteAnything(FuzzedDataProvider& data) {
  const HttpReplyTo to{.version = HttpVersion::k11,
                       .keep_alive = data.ConsumeBool(),
                       .head_only = data.ConsumeBool()};
  const std::string type = data.ConsumeRandomLengthString(64);
  const std::string value = data.ConsumeRemainingBytesAsString();
  std::string out;
  HttpReply reply(out, 200, to);
  reply.Field("X-Value", value);
  reply.Finish(type, "body");
  // The lines are those that were written, whatever stands in them.
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = out.find_first_of("\r\n", at)) != std::string::npos; at += 2) {
    Demand(std::string_view(out).substr(at, 2) == "\r\n");
    ++lines;
  }
  Demand(lines == 4U + (to.keep_alive ? 0 : 1) + (type.empty() ? 0 : 1));
  Demand(out.ends_with(to.head_only ? "\r\n\r\n" : "\r\n\r\nbody"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  if (bytes.ConsumeIntegralInRange(0, 7) == 0) {
    WriteAnything(bytes);
  } else {
    ReadAnything(bytes);
  }
  return 0;
}
