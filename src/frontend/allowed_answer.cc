#include "frontend/allowed_answer.h"

#include <cstring>

#include "base/text_row.h"
#include "wire/http_date.h"

namespace weir {

char* PutAllowed(const CheckReply& reply, std::uint64_t rules, std::string_view date, char* to) {
  constexpr std::size_t kDate = wire::HttpDate::kSize;
  if (date.size() != kDate) return nullptr;
  to = Put(to, "HTTP/1.1 200 OK\r\n");
  std::memcpy(to, date.data(), kDate);
  to = PutFewDraft10(reply, rules, to + kDate);  // not if one is in shadow: that may have refused
  if (to == nullptr) return nullptr;
  return Put(to, "X-Weir-Decision: allow\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n");
}

}  // namespace weir
