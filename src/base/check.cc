#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace weir::internal {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: bug in weir: %s does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace weir::internal
