// Decisions in bulk and nothing else: what tools/check_instructions.sh counts the instructions of.
// The arguments are what the keys are given as, `hashes` or `strings`, and how many decisions to
// make.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/keys.h"
#include "bench/measure.h"
#include "weir/weir.h"

namespace weir::bench {
namespace {

constexpr std::uint32_t kKeys = 100'000;
constexpr std::size_t kBatch = 64;

int Main(bool hashed, std::uint64_t decisions_wanted) {
  KeyedLimiter limiter(Quota::PerSecond(1000).Burst(10), {.max_keys = kKeys});
  std::vector<std::string> names;
  for (std::uint32_t key = 0; key < kKeys; ++key) {
    char name[32];
    std::snprintf(name, sizeof name, "user:%015u", key);
    names.emplace_back(name);
  }
  // Half of the clients ask often, half of the decisions are refusals.
  const Stream stream = ZipfStream(kKeys, 1 << 16, 1);
  std::vector<Ask> asks;
  std::vector<HashedAsk> hashed_asks;
  for (const std::uint32_t key : stream) {
    asks.push_back({names[key]});
    hashed_asks.push_back({limiter.Hash(names[key])});
  }
  std::vector<Decision> decisions(kBatch);

  Instant now = Clock::now();
  for (const std::string& name : names) limiter.Take(name, Permits{1}, now);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t allowed = 0;
  for (std::uint64_t made = 0; made < decisions_wanted; made += kBatch) {
    const std::size_t at = made % asks.size();
    now += Nanos(5'000);
    if (hashed) {
      limiter.Take(std::span<const HashedAsk>(hashed_asks).subspan(at, kBatch), decisions, now);
    } else {
      limiter.Take(std::span<const Ask>(asks).subspan(at, kBatch), decisions, now);
    }
    for (const Decision& decision : decisions) allowed += decision.allowed();
  }
  std::printf("%lu decisions from %s in batches of %zu, %.0f %% allowed: %.1f ns each\n",
              static_cast<unsigned long>(decisions_wanted), hashed ? "hashes" : "strings", kBatch,
              100.0 * static_cast<double>(allowed) / static_cast<double>(decisions_wanted),
              SecondsSince(start) * 1e9 / static_cast<double>(decisions_wanted));
  return 0;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  const std::uint64_t decisions = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000'000;
  const bool hashes = argc < 2 || std::string(argv[1]) == "hashes";
  const bool strings = argc < 2 || std::string(argv[1]) == "strings";
  if (!hashes && !strings) {
    std::fprintf(stderr, "usage: bulk_bench [hashes|strings [DECISIONS]]\n");
    return 2;
  }
  if (hashes) weir::bench::Main(true, decisions);
  if (strings) weir::bench::Main(false, decisions);
  return 0;
}
