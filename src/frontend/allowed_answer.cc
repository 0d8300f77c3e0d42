#include "frontend/allowed_answer.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "base/text_row.h"
#include "frontend/rate_limit_fields.h"
#include "wire/http_date.h"

namespace weir {

bool AppendAllowed(const CheckReply& reply, std::uint64_t rules, std::string_view date,
                   std::string& out) {
  constexpr std::size_t kDate = wire::HttpDate::kSize;
  constexpr std::size_t kRoomAround = 256;
  if (date.size() != kDate) return false;
  // In shadow, it may have been refused.
  for (const Finding& finding : reply.findings()) {
    if (!finding.enforced) return false;
  }
  std::array<char, kRoomForFewDraft10 + kRoomAround> text;
  char* to = Put(text.data(), "HTTP/1.1 200 OK\r\n");
  std::memcpy(to, date.data(), kDate);
  to = PutFewDraft10(reply, rules, to + kDate);
  if (to == nullptr) return false;
  to = Put(to, "X-Weir-Decision: allow\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n");
  out.append(text.data(), static_cast<std::size_t>(to - text.data()));
  return true;
}

}  // namespace weir
