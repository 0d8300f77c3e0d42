// Who changed what: every change is written down before it is made, or it is not made.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "weir/result.h"

namespace weir {

struct AuditEntry {
  std::string who;     // the name of a caller
  std::string action;  // "rules.put", "token.revoke"
  std::string what;    // the thing: "shop/login"
  std::string detail;  // whatever else helps to understand it
};

// Thread safety: may be called by any number of threads.
class Audit {
 public:
  virtual ~Audit() = default;
  // A change that cannot be recorded is to be refused.
  virtual std::optional<Error> Record(const AuditEntry& entry) = 0;
  // Lines of JSON, the newest first.
  [[nodiscard]] virtual std::vector<std::string> Latest(std::size_t count) const = 0;
};

}  // namespace weir
