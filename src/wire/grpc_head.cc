#include "wire/grpc_head.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace weir::wire {
namespace {

// What a header field counts for besides its bytes (RFC 9113, 6.5.2).
constexpr std::size_t kFieldOverhead = 32;
// A client that repeats itself does so in far less.
constexpr std::size_t kLongestRemembered = 512;

std::string_view View(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// "application/grpc", "application/grpc+proto", but not "application/grpc-web".
bool IsGrpc(std::string_view type) {
  constexpr std::string_view kGrpc = "application/grpc";
  if (!type.starts_with(kGrpc)) return false;
  type.remove_prefix(kGrpc.size());
  return type.empty() || type[0] == '+' || type[0] == ';';
}

// RFC 9113, 8.2.2: these speak of a connection of HTTP/1.1.
bool IsOfConnection(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 5> kNames = {
      "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"};
  return (name == "te" && value != "trailers") ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// The fields of one block, as they come.
class Fields {
 public:
  Fields(std::size_t most, GrpcService& service) : most_(most), service_(service) {}

  void Add(std::string_view name, std::string_view value) {
    head_.bytes += name.size() + value.size() + kFieldOverhead;
    if (head_.bytes > most_) return;  // nobody will ask what they say
    const bool is_right = name.starts_with(':') ? AddPseudo(name, value) : AddOrdinary(name, value);
    if (!is_right) head_.is_malformed = true;
  }
  [[nodiscard]] GrpcHead Conclude() const {
    GrpcHead head = head_;
    if (head.bytes <= most_ && (seen_ & kRequired) != kRequired) head.is_malformed = true;
    return head;
  }

 private:
  enum Pseudo : unsigned { kMethod = 1, kScheme = 2, kPath = 4, kAuthority = 8, kRequired = 7 };

  static bool IsValue(std::string_view value) {
    return nghttp2_check_header_value(reinterpret_cast<const std::uint8_t*>(value.data()),
                                      value.size()) != 0;
  }
  bool AddPseudo(std::string_view name, std::string_view value) {
    unsigned which = 0;
    if (name == ":method") which = kMethod;
    if (name == ":scheme") which = kScheme;
    if (name == ":path") which = kPath;
    if (name == ":authority") which = kAuthority;
    if (which == 0 || (seen_ & which) != 0 || has_ordinary_ || !IsValue(value)) return false;
    seen_ |= which;
    if (which == kMethod) head_.is_post = value == "POST";
    if (which == kPath) head_.method = service_.Find(value);
    return true;
  }
  bool AddOrdinary(std::string_view name, std::string_view value) {
    has_ordinary_ = true;
    if (nghttp2_check_header_name(reinterpret_cast<const std::uint8_t*>(name.data()),
                                  name.size()) == 0 ||
        !IsValue(value) || IsOfConnection(name, value)) {
      return false;
    }
    if (name == "content-type") head_.is_grpc = IsGrpc(value);
    return true;
  }

  const std::size_t most_;
  GrpcService& service_;
  GrpcHead head_;
  unsigned seen_ = 0;
  bool has_ordinary_ = false;
};

// A walk over what a block that could be decoded consists of.
class BlockWalk {
 public:
  explicit BlockWalk(std::string_view block) : rest_(block) {}

  // Whether the compression table is the same after it: it has only references, and literals that
  // are not to be kept.
  bool KeepsTable() {
    while (!rest_.empty()) {
      const auto first = static_cast<unsigned char>(rest_[0]);
      if ((first & 0x80) != 0) {
        SkipNumber(7);
      } else if ((first & 0x60) != 0) {
        return false;  // to be kept, or a new size of the table
      } else {
        if (SkipNumber(4) == 0) SkipText();
        SkipText();
      }
    }
    return !ran_out_;
  }

 private:
  std::size_t SkipNumber(unsigned bits) {
    if (rest_.empty()) return RunOut();
    const std::size_t most = (std::size_t{1} << bits) - 1;
    std::size_t number = static_cast<unsigned char>(rest_[0]) & most;
    rest_.remove_prefix(1);
    if (number < most) return number;
    for (unsigned shift = 0;; shift += 7) {
      if (rest_.empty() || shift > 28) return RunOut();
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      number += std::size_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return number;
    }
  }
  void SkipText() {
    const std::size_t size = SkipNumber(7);
    if (size > rest_.size()) {
      RunOut();
    } else {
      rest_.remove_prefix(size);
    }
  }
  std::size_t RunOut() {
    ran_out_ = true;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool ran_out_ = false;
};

}  // namespace

GrpcHeadReader::GrpcHeadReader() : inflater_(nullptr) {
  if (nghttp2_hd_inflate_new(&inflater_) != 0) throw std::bad_alloc();
}

GrpcHeadReader::~GrpcHeadReader() { nghttp2_hd_inflate_del(inflater_); }

std::optional<GrpcHead> GrpcHeadReader::Read(std::string_view block, std::size_t most,
                                             GrpcService& service) {
  for (const Known& known : known_) {
    if (known.block == block && !block.empty()) return known.head;
  }
  const std::optional<GrpcHead> head = Decode(block, most, service);
  if (!head) return head;
  if (!BlockWalk(block).KeepsTable()) {
    for (Known& known : known_) known.block.clear();
  } else if (block.size() <= kLongestRemembered) {
    Remember(block, *head);
  }
  return head;
}

std::optional<GrpcHead> GrpcHeadReader::Decode(std::string_view block, std::size_t most,
                                               GrpcService& service) {
  Fields fields(most, service);
  const auto* at = reinterpret_cast<const std::uint8_t*>(block.data());
  std::size_t left = block.size();
  for (;;) {
    nghttp2_nv field;
    int flags = 0;
    const ssize_t read = nghttp2_hd_inflate_hd2(inflater_, &field, &flags, at, left, 1);
    if (read == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
    if (read < 0) return std::nullopt;
    at += read;
    left -= static_cast<std::size_t>(read);
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      fields.Add(View(field.name, field.namelen), View(field.value, field.valuelen));
    } else if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) {
      nghttp2_hd_inflate_end_headers(inflater_);
      return fields.Conclude();
    } else if (left == 0) {
      return std::nullopt;  // it breaks off
    }
  }
}

void GrpcHeadReader::Remember(std::string_view block, const GrpcHead& head) {
  Known& known = known_[oldest_];
  known.block.assign(block);  // its memory is used again: some clients never repeat themselves
  known.head = head;
  oldest_ = (oldest_ + 1) % known_.size();
}

}  // namespace weir::wire
