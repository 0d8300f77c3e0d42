// Who calls, and what they may do: asked by whatever lets people change or look into a server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir {

// Each may do what those before it may.
enum class Role : std::uint8_t {
  kNone,    // nothing: unknown, expired, revoked
  kViewer,  // look
  kEditor,  // change rules and keys
  kAdmin,   // see who changed what, and who may
};

struct Caller {
  std::string name;
  Role role = Role::kNone;
};

// Thread safety: may be asked by any number of threads.
class Access {
 public:
  virtual ~Access() = default;
  // kNone: unknown, expired, revoked.
  [[nodiscard]] virtual Caller Identify(std::string_view token) const = 0;
};

}  // namespace weir
