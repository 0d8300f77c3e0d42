// A billion keys in one process, on a machine with 24 GiB: fills them in, then decides among them.
// The number of keys may be given, for smaller machines.
#include <array>
#include <cstdlib>

#include "bench/measure.h"
#include "weir/weir.h"

namespace weir::bench {
namespace {

constexpr std::size_t kBatch = 256;

// The i-th key; SplitMix64, so that no list of keys is needed.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}
KeyHash HashOf(std::uint64_t key) { return {Mix(key), Mix(~key)}; }

// Asks for the keys `key_at(0..count)`; returns decisions per second.
template <typename KeyAt>
double Ask(KeyedLimiter& limiter, std::uint64_t count, Instant now, KeyAt key_at,
           std::uint64_t& allowed) {
  std::array<HashedAsk, kBatch> asks;
  std::array<Decision, kBatch> decisions;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i + kBatch <= count; i += kBatch) {
    for (std::size_t j = 0; j < kBatch; ++j) asks[j].key = HashOf(key_at(i + j));
    limiter.Take(asks, decisions, now);
    for (const Decision& decision : decisions) allowed += decision.allowed();
  }
  return static_cast<double>(count) / SecondsSince(start);
}

int Main(std::uint64_t keys) {
  keys = keys / kBatch * kBatch;
  std::printf("%lu keys in one process.\n", static_cast<unsigned long>(keys));
  Result<KeyedLimiter> opened =
      KeyedLimiter::Open(Quota::PerDay(10), {.max_keys = keys, .fill = Fill::kDense});
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.error().message.c_str());
    return 1;
  }
  KeyedLimiter& limiter = *opened;
  // All at one instant: none is forgotten before the last one is in.
  const Instant now = limiter.Now();
  std::uint64_t allowed = 0;
  const double filling = Ask(
      limiter, keys, now, [](std::uint64_t i) { return i; }, allowed);
  std::printf("  filled:   %.1f M keys/s, %lu allowed, %lu pushed out\n", filling / 1e6,
              static_cast<unsigned long>(allowed), static_cast<unsigned long>(limiter.evicted()));
  const auto gib = [](std::size_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
  std::printf("  memory:   %.2f GiB resident, %.2f bytes per key\n", gib(ResidentBytes()),
              static_cast<double>(ResidentBytes()) / static_cast<double>(keys));
  const std::uint64_t asked = std::min<std::uint64_t>(keys, 100'000'000) / kBatch * kBatch;
  std::uint64_t again = 0;
  const double deciding = Ask(
      limiter, asked, now, [keys](std::uint64_t i) { return Mix(i) % keys; }, again);
  std::printf("  deciding: %.1f M decisions/s on one core among them, %.2f %% allowed\n",
              deciding / 1e6, 100 * static_cast<double>(again) / static_cast<double>(asked));
  // Which of them are remembered: those that were asked once more have 8 or less left.
  std::uint64_t remembered = 0;
  constexpr std::uint64_t kSample = 1'000'000;
  for (std::uint64_t i = 0; i < kSample; ++i) {
    const KeyHash key = HashOf(i * (keys / kSample));
    remembered += limiter.Take(key, Permits{1}, now).remaining <= Permits{8} ? 1 : 0;
  }
  std::printf("  remembered: %.3f %% of a sample of %lu\n",
              100 * static_cast<double>(remembered) / kSample, static_cast<unsigned long>(kSample));
  return 0;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  return weir::bench::Main(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000'000);
}
