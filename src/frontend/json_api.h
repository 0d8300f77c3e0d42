// The API in JSON, without HTTP: a path and a body in, a status and a body out.
//
//   /check    {"namespace": "shop", "attributes": {"path": "/login"}, "cost": 1}
//             {"requests": [{...}, ...]}     up to 1,000, answered by {"replies": [...]}
//   /peek     the same as /check, and nothing is taken
//   /report   the same, with "outcome": "failed" or "succeeded"
//   /charge   the same, with "cost": charged afterwards, and may leave a debt
//   /refund   the same, with "cost": given back
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/check_series.h"
#include "service/checker.h"

namespace weir {

struct JsonAnswer {
  std::uint16_t status = 200;
  std::string body;
  bool waits = false;  // for a cluster, and is nothing yet
};

// What /check answers for one request.
void AppendDecision(const CheckReply& reply, std::string& out);

// `checks` is room to work in. If the answer waits, ask the same again with the same checks when
// their waiter is told.
JsonAnswer AnswerJson(Checker& checker, std::string_view path, std::string_view body, Instant now,
                      CheckSeries& checks);

}  // namespace weir
