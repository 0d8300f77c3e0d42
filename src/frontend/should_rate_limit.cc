#include "frontend/should_rate_limit.h"

#include <array>
#include <charconv>

#include "frontend/dynamic_metadata.h"
#include "frontend/rate_limit_fields.h"
#include "rule/utf8.h"
#include "wire/protobuf.h"

namespace weir {
namespace {

using wire::GrpcCode;
using wire::GrpcStatus;
using wire::ProtoField;
using wire::ProtoReader;
using wire::ProtoWriter;

// The numbers of the fields, as proto/envoy/ has them.
namespace request_field {
constexpr std::uint32_t kDomain = 1;
constexpr std::uint32_t kDescriptors = 2;
constexpr std::uint32_t kHits = 3;
}  // namespace request_field
namespace descriptor_field {
constexpr std::uint32_t kEntries = 1;
constexpr std::uint32_t kLimit = 2;
constexpr std::uint32_t kHits = 3;
constexpr std::uint32_t kNegativeHits = 4;
}  // namespace descriptor_field
namespace response_field {
constexpr std::uint32_t kOverallCode = 1;
constexpr std::uint32_t kStatuses = 2;
constexpr std::uint32_t kResponseHeaders = 3;
constexpr std::uint32_t kDynamicMetadata = 6;
}  // namespace response_field

constexpr std::uint64_t kCodeOk = 1;
constexpr std::uint64_t kCodeOverLimit = 2;

// What is wrong with a request, in the words that clients of envoyproxy/ratelimit know.
GrpcStatus NotProtobuf() {
  return {GrpcCode::kInternal,
          "grpc: error unmarshalling request: proto: cannot parse invalid wire-format data"};
}
GrpcStatus NotUtf8() {
  return {GrpcCode::kInternal,
          "grpc: error unmarshalling request: string field contains invalid UTF-8"};
}
GrpcStatus Unusable(std::string message) { return {GrpcCode::kUnknown, std::move(message)}; }
GrpcStatus TooMany(std::string_view what, std::size_t most) {
  return {GrpcCode::kResourceExhausted,
          "a request may have " + std::to_string(most) + " " + std::string(what) + ": send fewer"};
}

GrpcStatus NoUnit(std::size_t descriptor) {
  return {GrpcCode::kInvalidArgument,
          "the limit of descriptor " + std::to_string(descriptor) +
              " has no unit that is known: send SECOND, MINUTE, HOUR, DAY, WEEK, MONTH or YEAR"};
}

// Text of protobuf may hold NUL, other than text of rules.
bool IsText(std::string_view text) {
  while (true) {
    const std::size_t stop = rule::FirstInvalidUtf8(text);
    if (stop == std::string_view::npos) return true;
    if (text[stop] != '\0') return false;
    text.remove_prefix(stop + 1);
  }
}

GrpcStatus ReadEntry(std::string_view message, rule::RequestEntry& entry) {
  ProtoReader reader(message);
  for (ProtoField field; reader.Next(field);) {
    if (!field.IsBytes(1) && !field.IsBytes(2)) continue;
    if (!IsText(field.bytes)) return NotUtf8();
    (field.number == 1 ? entry.key : entry.value) = field.bytes;
  }
  return reader.ok() ? GrpcStatus{} : NotProtobuf();
}

GrpcStatus ReadOverride(std::string_view message, std::optional<LimitOverride>& limit) {
  if (!limit) limit = {0, LimitUnit::kUnknown};
  ProtoReader reader(message);
  for (ProtoField field; reader.Next(field);) {
    if (field.IsNumber(1)) limit->requests = static_cast<std::uint32_t>(field.value);
    if (!field.IsNumber(2)) continue;
    limit->unit = field.value < kLimitUnits ? static_cast<LimitUnit>(field.value)  //
                                            : LimitUnit::kUnknown;
  }
  return reader.ok() ? GrpcStatus{} : NotProtobuf();
}

GrpcStatus ReadHits(std::string_view message, std::optional<std::uint64_t>& hits) {
  if (!hits) hits = 0;
  ProtoReader reader(message);
  for (ProtoField field; reader.Next(field);) {
    if (field.IsNumber(1)) hits = field.value;
  }
  return reader.ok() ? GrpcStatus{} : NotProtobuf();
}

void WriteStatus(const DescriptorStatus& status, ProtoWriter& out) {
  out.Number(1, status.over ? kCodeOverLimit : kCodeOk);
  if (status.limit) {
    out.Message(2, [&] {
      out.Number(1, status.limit->requests);
      out.Number(2, static_cast<std::uint64_t>(status.limit->unit));
      out.Text(3, status.limit->name);
    });
  }
  out.Number(3, status.remaining);
  if (status.until_reset) {
    out.Message(4, [&] {  //
      out.Number(1, static_cast<std::uint64_t>(SecondsUp(*status.until_reset)));
    });
  }
}

void WriteHeader(std::string_view name, std::uint64_t value, ProtoWriter& out) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.Message(response_field::kResponseHeaders, [&] {
    out.Text(1, name);
    out.Text(2, {digits.data(), end.ptr});
  });
}

}  // namespace

RateLimitMethod::RateLimitMethod(Checker& checker, const RateLimitOptions& options)
    : checker_(checker, options.modes), options_(options) {}

std::optional<GrpcStatus> RateLimitMethod::Answer(std::string_view message, Instant now,
                                                  DescriptorReply& reply, std::string& response) {
  if (GrpcStatus status = Read(message); !status.ok()) return status;
  if (request_.domain.empty()) return Unusable("rate limit domain must not be empty");
  if (descriptors_.empty()) return Unusable("rate limit descriptor list must not be empty");
  checker_.Check(request_, now, reply);
  if (reply.is_waiting()) return std::nullopt;
  const bool has_rules = reply.has_rules();
  if (has_rules) Write(reply, response);
  reply.Release();
  return has_rules ? GrpcStatus{} : Unusable("no rate limit configuration loaded");
}

GrpcStatus RateLimitMethod::Read(std::string_view message) {
  request_ = {};
  descriptors_.clear();
  entries_.clear();
  spans_.clear();
  ProtoReader reader(message);
  for (ProtoField field; reader.Next(field);) {
    if (field.IsBytes(request_field::kDomain)) {
      if (!IsText(field.bytes)) return NotUtf8();
      request_.domain = field.bytes;
    } else if (field.IsBytes(request_field::kDescriptors)) {
      if (GrpcStatus status = ReadDescriptor(field.bytes); !status.ok()) return status;
    } else if (field.IsNumber(request_field::kHits)) {
      request_.hits = static_cast<std::uint32_t>(field.value);
    }
  }
  if (!reader.ok()) return NotProtobuf();
  // Only now do the entries stay where they are.
  for (std::size_t i = 0; i < descriptors_.size(); ++i) {
    if (descriptors_[i].limit && descriptors_[i].limit->unit == LimitUnit::kUnknown) {
      return NoUnit(i);
    }
    descriptors_[i].entries = std::span(entries_).subspan(spans_[i].first, spans_[i].count);
  }
  request_.descriptors = descriptors_;
  return {};
}

GrpcStatus RateLimitMethod::ReadDescriptor(std::string_view message) {
  if (descriptors_.size() == kMostDescriptors) return TooMany("descriptors", kMostDescriptors);
  DescriptorAsk& ask = descriptors_.emplace_back();
  const std::size_t first = entries_.size();
  ProtoReader reader(message);
  for (ProtoField field; reader.Next(field);) {
    GrpcStatus status;
    if (field.IsBytes(descriptor_field::kEntries)) {
      if (entries_.size() == kMostEntries) return TooMany("entries", kMostEntries);
      status = ReadEntry(field.bytes, entries_.emplace_back());
    } else if (field.IsBytes(descriptor_field::kLimit)) {
      status = ReadOverride(field.bytes, ask.limit);
    } else if (field.IsBytes(descriptor_field::kHits)) {
      status = ReadHits(field.bytes, ask.hits);
    } else if (field.IsNumber(descriptor_field::kNegativeHits)) {
      ask.hits_are = field.value != 0 ? HitsAre::kGivenBack : HitsAre::kTaken;
    }
    if (!status.ok()) return status;
  }
  if (!reader.ok()) return NotProtobuf();
  spans_.push_back({first, entries_.size() - first});
  return {};
}

void RateLimitMethod::Write(const DescriptorReply& reply, std::string& response) const {
  ProtoWriter out(response);
  out.Number(response_field::kOverallCode, reply.allowed() ? kCodeOk : kCodeOverLimit);
  for (const DescriptorStatus& status : reply.statuses()) {
    out.Message(response_field::kStatuses, [&] { WriteStatus(status, out); });
  }
  const DescriptorStatus* decisive = reply.decisive();
  if (options_.response_headers && decisive != nullptr) {
    WriteHeader(options_.limit_header, decisive->limit->requests, out);
    WriteHeader(options_.remaining_header, decisive->remaining, out);
    if (decisive->until_reset) {
      WriteHeader(options_.reset_header,
                  static_cast<std::uint64_t>(SecondsUp(*decisive->until_reset)), out);
    }
  }
  if (options_.dynamic_metadata) {
    const std::string metadata = DynamicMetadata(request_, reply);
    out.Message(response_field::kDynamicMetadata, [&] { out.Bytes(metadata); });
  }
}

}  // namespace weir
