// One limiter that everybody asks, by one and two threads, against the same bucket behind a mutex:
// while nothing is refused, and when nearly everything is.
#include <mutex>

#include "algorithm/bucket.h"
#include "bench/measure.h"
#include "weir/weir.h"

namespace weir::bench {
namespace {

constexpr std::uint64_t kOperations = 5'000'000;
volatile std::uint64_t g_sink;

class Guarded {
 public:
  explicit Guarded(const Limit& limit)
      : bucket_(*algorithm::Bucket::Make(std::get<TokenBucket>(limit.parts()[0]), 0)) {}
  Decision Take(Permits cost, Instant now) {
    const std::lock_guard lock(mutex_);
    return bucket_.Admit(word_, cost, now);
  }

 private:
  std::mutex mutex_;
  algorithm::Bucket bucket_;
  std::uint64_t word_ = 0;
};

template <typename L>
void Run(L& limiter) {
  const Instant now = Clock::now();
  std::uint64_t allowed = 0;
  for (std::uint64_t i = 0; i < kOperations; ++i) {
    allowed += InFull(limiter.Take(Permits{1}, now)).allowed();
  }
  g_sink = allowed;
}

void Compare(const char* what, const Limit& limit, bool refused) {
  for (const int threads : {1, 2}) {
    Guarded guarded(limit);
    Limiter limiter(limit);
    const std::vector<Contestant> contestants = {{"std::mutex", [&](int) { Run(guarded); }},
                                                 {"weir", [&](int) { Run(limiter); }}};
    const std::vector<Spread> times = Compete(contestants, threads, kOperations);
    std::printf("  %s, %d thread%s\n", what, threads, threads > 1 ? "s" : "");
    for (std::size_t i = 0; i < times.size(); ++i) {
      std::printf("    %-36s %7.1f [%.1f..%.1f]\n", contestants[i].name.c_str(), times[i].median,
                  times[i].least, times[i].most);
    }
    if (threads == 2) {
      Report("ns per decision", times[1].median, refused ? 5 : 75, false);
      Report("times the mutex", times[0].median / times[1].median, refused ? 20 : 1);
    }
  }
  std::printf("\n");
}

}  // namespace
}  // namespace weir::bench

int main() {
  using weir::Quota;
  std::printf("One limiter, ns per decision and thread.\n\n");
  weir::bench::Compare("nothing refused", Quota::PerSecond(1'000'000'000).Burst(1'000'000'000'000),
                       false);
  weir::bench::Compare("nearly all refused", Quota::PerHour(1), true);
  return 0;
}
