// A keyed decision on ten million keys, against the two maps one would reach for.
//
// Everybody makes the same decision with the same code (algorithm/bucket.h) and says all of the
// same Decision; what differs is how the state of a key is found and guarded. Keys are hashed
// beforehand, the clock is read once in 16 decisions.
#include <absl/container/flat_hash_map.h>
#include <sys/mman.h>
#include <tbb/concurrent_hash_map.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>

#include "algorithm/bucket.h"
#include "base/wide_math.h"
#include "bench/keys.h"
#include "bench/measure.h"
#include "weir/weir.h"

namespace weir::bench {
namespace {

constexpr std::size_t kOperations = 4'000'000;  // per thread and round
constexpr std::size_t kBatch = 256;
constexpr int kThreads = 2;
const Limit kLimit = Quota::PerSecond(1000).Burst(10);

volatile std::uint64_t g_sink;  // so that no decision is optimised away

// A map per shard, each with its mutex.
class MapWithMutexes {
 public:
  explicit MapWithMutexes(std::size_t keys) {
    for (Shard& shard : shards_) shard.words.reserve(keys / kShards * 5 / 4);
  }
  Decision Take(std::uint64_t key, const algorithm::Bucket& bucket, Instant now) {
    Shard& shard = shards_[key >> 56];
    const std::lock_guard lock(shard.mutex);
    return bucket.Admit(shard.words[key], Permits{1}, now);
  }

 private:
  static constexpr std::size_t kShards = 256;
  struct alignas(64) Shard {
    std::mutex mutex;
    absl::flat_hash_map<std::uint64_t, std::uint64_t> words;
  };
  std::array<Shard, kShards> shards_;
};

class TbbMap {
 public:
  Decision Take(std::uint64_t key, const algorithm::Bucket& bucket, Instant now) {
    Map::accessor found;
    words_.insert(found, key);
    return bucket.Admit(found->second, Permits{1}, now);
  }

 private:
  using Map = tbb::concurrent_hash_map<std::uint64_t, std::uint64_t>;
  Map words_;
};

// One look at the clock in 16 decisions.
class SharedLook {
 public:
  Instant Now() {
    if (count_++ % 16 == 0) now_ = Clock::now();
    return now_;
  }

 private:
  std::uint32_t count_ = 0;
  Instant now_;
};

// Requests lie one behind the other, where their keys were hashed to: the same for everybody, and
// what batches are taken from.
using Requests = std::vector<HashedAsk>;

struct Keys {
  std::vector<KeyHash> all;
  std::array<std::array<Requests, kThreads>, 2> streams;  // uniform, Zipf
};

Keys MakeKeys(std::uint32_t count) {
  Keys keys;
  std::mt19937_64 random(7);
  keys.all.resize(count);
  for (KeyHash& hash : keys.all) hash = {random(), random()};
  const auto requests = [&](const Stream& stream) {
    Requests made;
    for (const std::uint32_t key : stream) made.push_back({keys.all[key]});
    return made;
  };
  for (std::size_t t = 0; t < kThreads; ++t) {
    keys.streams[0][t] = requests(UniformStream(count, kOperations, 100 + t));
    keys.streams[1][t] = requests(ZipfStream(count, kOperations, 200 + t));
  }
  return keys;
}

template <typename Take>
void Run(const Requests& requests, Take take) {
  std::uint64_t allowed = 0;
  SharedLook clock;
  for (const auto& [key, cost] : requests) {
    allowed += InFull(take(key, clock.Now())).allowed();
  }
  g_sink = allowed;
}

void RunBatches(KeyedLimiter& limiter, std::span<const HashedAsk> requests) {
  std::array<Decision, kBatch> decisions;
  std::uint64_t allowed = 0;
  for (std::size_t i = 0; i + kBatch <= requests.size(); i += kBatch) {
    limiter.Take(requests.subspan(i, kBatch), decisions, limiter.Now());
    for (const Decision& decision : decisions) allowed += decision.allowed();
  }
  g_sink = allowed;
}

// What the memory can do: a locked change of a random line of a table of this size, 16 in flight
// or, as for single decisions, asked for one after the other with a look at the clock now and then.
class LockedChanges {
 public:
  explicit LockedChanges(std::size_t bytes) : lines_(bytes / 64) {
    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    const std::size_t whole = (bytes / kHugePage + 1) * kHugePage;
    void* raw = std::aligned_alloc(kHugePage, whole);
    madvise(raw, whole, MADV_HUGEPAGE);
    std::memset(raw, 0, whole);
    words_.reset(static_cast<std::atomic<std::uint64_t>*>(raw));
  }

  void RunAhead(const Requests& requests) const {
    constexpr std::size_t kAhead = 16;
    for (std::size_t i = 0; i + kAhead < requests.size(); ++i) {
      __builtin_prefetch(&WordOf(requests[i + kAhead].key), 1);
      WordOf(requests[i].key).fetch_add(1, std::memory_order_relaxed);
    }
  }
  void RunOneByOne(const Requests& requests) const {
    SharedLook clock;
    for (const auto& [key, cost] : requests) {
      const auto now = static_cast<std::uint64_t>(clock.Now().time_since_epoch().count());
      std::atomic<std::uint64_t>& word = WordOf(key);
      std::uint64_t seen = word.load(std::memory_order_relaxed);
      word.compare_exchange_strong(seen, now, std::memory_order_relaxed);
    }
  }

 private:
  [[nodiscard]] std::atomic<std::uint64_t>& WordOf(const KeyHash& key) const {
    return words_.get()[static_cast<std::size_t>(Mul(key.low, lines_) >> 64) * 8];
  }

  struct Free {
    void operator()(void* raw) const { std::free(raw); }
  };
  std::size_t lines_;
  std::unique_ptr<std::atomic<std::uint64_t>, Free> words_;
};

double BytesPerKey(std::uint64_t before, std::size_t keys) {
  return static_cast<double>(ResidentBytes() - before) / static_cast<double>(keys);
}

int Main(std::uint32_t count) {
  std::printf(
      "A keyed decision, %u keys, quota %s. ns per decision and thread: median [least..most] "
      "of 3 rounds in turns.\n\n",
      count, kLimit.ToString().c_str());
  const Keys keys = MakeKeys(count);
  const algorithm::Bucket bucket =
      *algorithm::Bucket::Make(std::get<TokenBucket>(kLimit.parts()[0]), 0);
  const auto fill = [&](auto take) {
    // All at one instant, so that all are there: a key that is idle for 1 ms is full again, and its
    // slot may go to another.
    const Instant now = Clock::now();
    for (const KeyHash& key : keys.all) take(key, now);
  };

  std::uint64_t before = ResidentBytes();
  MapWithMutexes map(count);
  const auto from_map = [&](const KeyHash& key, Instant now) {
    return map.Take(key.high, bucket, now);
  };
  fill(from_map);
  const double map_bytes = BytesPerKey(before, count);

  before = ResidentBytes();
  TbbMap tbb_map;
  const auto from_tbb = [&](const KeyHash& key, Instant now) {
    return tbb_map.Take(key.high, bucket, now);
  };
  fill(from_tbb);
  const double tbb_bytes = BytesPerKey(before, count);

  before = ResidentBytes();
  KeyedLimiter roomy(kLimit, {.max_keys = count});
  const auto from_weir = [&](const KeyHash& key, Instant now) {
    return roomy.Take(key, Permits{1}, now);
  };
  fill(from_weir);
  const double roomy_bytes = BytesPerKey(before, count);

  before = ResidentBytes();
  KeyedLimiter dense(kLimit, {.max_keys = count, .fill = Fill::kDense});
  fill([&](const KeyHash& key, Instant now) { return dense.Take(key, Permits{1}, now); });
  const double dense_bytes = BytesPerKey(before, count);

  const LockedChanges limit(roomy.bytes());

  std::printf("  %-34s %10s\n", "", "bytes/key");
  std::printf("  %-34s %10.1f\n", "absl::flat_hash_map + std::mutex", map_bytes);
  std::printf("  %-34s %10.1f\n", "tbb::concurrent_hash_map", tbb_bytes);
  std::printf("  %-34s %10.1f\n", "weir, default fill", roomy_bytes);
  std::printf("  %-34s %10.1f\n\n", "weir, dense", dense_bytes);
  Report("bytes per key, default fill", roomy_bytes, 25, false);
  Report("bytes per key, dense", dense_bytes, 20, false);
  std::printf("    live keys pushed out of the full tables: %lu, %lu\n\n",
              static_cast<unsigned long>(roomy.evicted()),
              static_cast<unsigned long>(dense.evicted()));

  const char* const kNames[] = {"uniform", "zipf"};
  for (const std::size_t shape : {0U, 1U}) {
    for (int threads = 1; threads <= kThreads; ++threads) {
      const auto& streams = keys.streams[shape];
      const auto stream = [&](int t) -> const Requests& {
        return streams[static_cast<std::size_t>(t)];
      };
      const std::vector<Contestant> contestants = {
          {"absl::flat_hash_map + std::mutex", [&](int t) { Run(stream(t), from_map); }},
          {"tbb::concurrent_hash_map", [&](int t) { Run(stream(t), from_tbb); }},
          {"weir, one by one", [&](int t) { Run(stream(t), from_weir); }},
          {"weir, in batches", [&](int t) { RunBatches(roomy, stream(t)); }},
          {"weir dense, in batches", [&](int t) { RunBatches(dense, stream(t)); }},
          {"limit: locked change, one by one", [&](int t) { limit.RunOneByOne(stream(t)); }},
          {"limit: locked change, 16 in flight", [&](int t) { limit.RunAhead(stream(t)); }},
      };
      const std::vector<Spread> times = Compete(contestants, threads, kOperations);
      std::printf("  %s, %d thread%s\n", kNames[shape], threads, threads > 1 ? "s" : "");
      for (std::size_t i = 0; i < times.size(); ++i) {
        std::printf("    %-36s %7.1f [%.1f..%.1f]\n", contestants[i].name.c_str(), times[i].median,
                    times[i].least, times[i].most);
      }
      const double better = std::min(times[0].median, times[1].median);
      Report("one by one, times the better map", better / times[2].median, 2.5);
      Report("in batches, times the better map", better / times[3].median, shape == 0 ? 5 : 8);
      Report("in batches, times the memory's limit", times[3].median / times[6].median, 3, false);
      std::printf("    %-58s %7.2f\n", "one by one, times the memory's limit",
                  times[2].median / times[5].median);
      std::printf("\n");
    }
  }
  return 0;
}

}  // namespace
}  // namespace weir::bench

// The number of keys may be given, for a quick look.
int main(int argc, char** argv) {
  return weir::bench::Main(argc > 1 ? static_cast<std::uint32_t>(std::atoll(argv[1])) : 10'000'000);
}
