// A keyed decision from the key as a client sends it: 20 bytes of text, hash and clock included,
// against a map of strings with mutexes.
#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "algorithm/bucket.h"
#include "bench/keys.h"
#include "bench/measure.h"
#include "weir/weir.h"

namespace weir::bench {
namespace {

constexpr std::size_t kOperations = 2'000'000;
constexpr std::size_t kBatch = 64;
const Limit kLimit = Quota::PerSecond(1000).Burst(10);

volatile std::uint64_t g_sink;

class MapOfStrings {
 public:
  explicit MapOfStrings(std::size_t keys) {
    for (Shard& shard : shards_) shard.words.reserve(keys / kShards * 5 / 4);
  }
  Decision Take(std::string_view key, const algorithm::Bucket& bucket, Instant now) {
    const absl::string_view name(key.data(), key.size());
    Shard& shard = shards_[absl::Hash<absl::string_view>{}(name) >> 56];
    const std::lock_guard lock(shard.mutex);
    return bucket.Admit(shard.words[name], Permits{1}, now);
  }

 private:
  static constexpr std::size_t kShards = 256;
  struct alignas(64) Shard {
    std::mutex mutex;
    absl::flat_hash_map<std::string, std::uint64_t> words;
  };
  std::array<Shard, kShards> shards_;
};

// Requests lie one behind the other, as they do in the buffer they were read into.
struct Request {
  std::array<char, 20> key;
  [[nodiscard]] std::string_view text() const { return {key.data(), key.size()}; }
};

Request RequestOf(std::uint32_t key) {
  Request request;
  char name[32];
  std::snprintf(name, sizeof name, "user:%015u", key);
  std::memcpy(request.key.data(), name, request.key.size());
  return request;
}

int Main(std::uint32_t count) {
  std::printf(
      "A decision from a key of 20 bytes, %u keys, one thread, hash and clock included.\n\n",
      count);
  const algorithm::Bucket bucket =
      *algorithm::Bucket::Make(std::get<TokenBucket>(kLimit.parts()[0]), 0);
  std::uint64_t before = ResidentBytes();
  MapOfStrings map(count);
  const Instant start = Clock::now();
  for (std::uint32_t key = 0; key < count; ++key) map.Take(RequestOf(key).text(), bucket, start);
  const double map_bytes = static_cast<double>(ResidentBytes() - before) / count;
  before = ResidentBytes();
  KeyedLimiter limiter(kLimit, {.max_keys = count});
  for (std::uint32_t key = 0; key < count; ++key) {
    limiter.Take(RequestOf(key).text(), Permits{1}, start);
  }
  const double bytes = static_cast<double>(ResidentBytes() - before) / count;
  std::printf("  bytes per key: %.1f, weir %.1f\n\n", map_bytes, bytes);

  for (const bool zipf : {false, true}) {
    std::vector<Request> requests;
    const Stream stream =
        zipf ? ZipfStream(count, kOperations, 1) : UniformStream(count, kOperations, 2);
    for (const std::uint32_t key : stream) requests.push_back(RequestOf(key));
    const std::vector<Contestant> contestants = {
        {"absl::flat_hash_map<string> + mutex",
         [&](int) {
           std::uint64_t allowed = 0;
           for (const Request& request : requests) {
             allowed += InFull(map.Take(request.text(), bucket, Clock::now())).allowed();
           }
           g_sink = allowed;
         }},
        {"weir, one by one",
         [&](int) {
           std::uint64_t allowed = 0;
           for (const Request& request : requests)
             allowed += InFull(limiter.Take(request.text())).allowed();
           g_sink = allowed;
         }},
        {"weir, in batches of 64",
         [&](int) {
           std::uint64_t allowed = 0;
           std::array<Ask, kBatch> asks;
           std::array<Decision, kBatch> decisions;
           for (std::size_t i = 0; i + kBatch <= requests.size(); i += kBatch) {
             for (std::size_t j = 0; j < kBatch; ++j) asks[j].key = requests[i + j].text();
             limiter.Take(asks, decisions);
             for (const Decision& decision : decisions) allowed += decision.allowed();
           }
           g_sink = allowed;
         }},
    };
    const std::vector<Spread> times = Compete(contestants, 1, kOperations);
    std::printf("  %s\n", zipf ? "zipf" : "uniform");
    for (std::size_t i = 0; i < times.size(); ++i) {
      std::printf("    %-36s %7.1f [%.1f..%.1f]\n", contestants[i].name.c_str(), times[i].median,
                  times[i].least, times[i].most);
    }
    Report("one by one, times the map", times[0].median / times[1].median, 2.5);
    Report("in batches, times the map", times[0].median / times[2].median, 10);
    std::printf("\n");
  }
  return 0;
}

}  // namespace
}  // namespace weir::bench

// The number of keys may be given, for a quick look.
int main(int argc, char** argv) {
  return weir::bench::Main(argc > 1 ? static_cast<std::uint32_t>(std::atoll(argv[1])) : 10'000'000);
}
