#include <iomanip>
#include <ostream>

#include "server/commands.h"
#include "weir/weir.h"

namespace weir {

// Six requests within half a second against a limit of three at once and two per second, on a clock
// of its own: a demo that sleeps is a demo that nobody watches.
int RunDemo(std::ostream& out) {
  using std::chrono::milliseconds;
  KeyedLimiter clients(Quota::PerSecond(2).Burst(3), {.max_keys = 1000});
  out << "user:7 may ask 2 times a second, 3 times at once.\n\n";
  const Instant start = Clock::now();
  for (const int at_ms : {0, 100, 200, 300, 400, 501}) {
    const Decision decision = clients.Take("user:7", Permits{1}, start + milliseconds(at_ms));
    out << std::setw(4) << at_ms << " ms  ";
    if (decision) {
      out << "200 OK                 remaining " << decision.remaining.count << "\n";
    } else {
      const auto retry = std::chrono::ceil<milliseconds>(decision.retry_after);
      out << "429 Too Many Requests  retry after " << retry.count() << " ms\n";
    }
  }
  out << "\nThe same in C++: README.md. What limits do, by example: weir trace FILE.\n";
  return 0;
}

}  // namespace weir
