// Where a request came from, as the proxies in front of us say it.
//
// Each proxy adds the address it was called from at the right end of a header, and passes on what
// it found there. So an entry is as good as whoever wrote it, and the entries at the left may be
// the client's own invention. They are therefore read from right to left, and nothing to the left
// of an entry changes how it is read: neither a quote that is never closed nor a megabyte of
// commas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "rule/address.h"
#include "rule/header_field.h"

namespace weir::rule {

enum class ForwardedHeader : std::uint8_t {
  kNone,
  kXForwardedFor,  // X-Forwarded-For: 203.0.113.7, 10.0.0.2
  kForwarded,      // RFC 7239: Forwarded: for=203.0.113.7;proto=https, for="[2001:db8::1]:4711"
};

// Allocates nothing. Looks at what it was given: that must outlive it.
class ForwardedWalk {
 public:
  static constexpr int kMostEntries = 32;
  static constexpr std::size_t kLongestEntry = 1024;  // bytes

  // Several lines of the header are one list, in their order.
  ForwardedWalk(ForwardedHeader header, HeaderFields fields);

  // The address of the next entry to the left. Nothing at the end of the list or of the bounds
  // above, and where an entry names no address: "unknown", a name such as _hidden, garbage, or an
  // entry that is empty. After that, nothing more comes: who cannot say where a request came from
  // cannot vouch for what stands left of it either. (Lists of HTTP otherwise ignore empty entries;
  // here one may be a proxy that knew no address.)
  std::optional<Address> Next();

 private:
  bool FindLine();
  std::optional<std::string_view> TakeEntry();

  ForwardedHeader header_;
  HeaderFields fields_;  // those not looked at yet
  std::optional<std::string_view> line_;
  int entries_left_;
};

}  // namespace weir::rule
