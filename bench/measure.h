// How benchmarks here measure: contestants take turns, several rounds, in one run on one machine.
// What is printed is the median and the spread, and what counts are the ratios.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace weir::bench {

// The same, worked out in full and in memory: of what nobody looks at, a compiler that sees all of
// a contestant would leave out the most, and of one that is a library nothing.
template <typename T>
[[gnu::always_inline]] inline const T& InFull(const T& value) {
  asm volatile("" : : "m"(value));  // NOLINT(hicpp-no-assembler): emits nothing
  return value;
}

struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

inline Spread SpreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

inline double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Nanoseconds per operation and thread of `work(thread)`, which does `operations`.
inline double NanosPerOperation(int threads, std::uint64_t operations,
                                const std::function<void(int)>& work) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> others;
  std::vector<double> seconds(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) {
    others.emplace_back([&, t] {
      cpu_set_t cpu;
      CPU_ZERO(&cpu);
      CPU_SET(static_cast<unsigned>(t) % std::thread::hardware_concurrency(), &cpu);
      sched_setaffinity(0, sizeof cpu, &cpu);
      ready.fetch_add(1);
      while (!go.load()) {
      }
      const auto start = std::chrono::steady_clock::now();
      work(t);
      seconds[static_cast<std::size_t>(t)] = SecondsSince(start);
    });
  }
  while (ready.load() < threads) std::this_thread::yield();
  go.store(true);
  for (std::thread& other : others) other.join();
  double sum = 0;
  for (const double s : seconds) sum += s;
  return sum / threads * 1e9 / static_cast<double>(operations);
}

struct Contestant {
  std::string name;
  std::function<void(int)> work;  // of one thread
};

// Lets each contestant run `rounds` times, in turns, after one round that does not count.
inline std::vector<Spread> Compete(const std::vector<Contestant>& contestants, int threads,
                                   std::uint64_t operations, int rounds = 3) {
  std::vector<std::vector<double>> times(contestants.size());
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const double time = NanosPerOperation(threads, operations, contestants[i].work);
      if (round >= 0) times[i].push_back(time);
    }
  }
  std::vector<Spread> spreads;
  for (std::vector<double>& t : times) spreads.push_back(SpreadOf(std::move(t)));
  return spreads;
}

// Resident memory of this process.
inline std::uint64_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  unsigned long size = 0;
  unsigned long resident = 0;
  if (file != nullptr) {
    if (std::fscanf(file, "%lu %lu", &size, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Says whether a target was reached; the benchmark goes on either way.
inline void Report(const char* what, double got, double target, bool at_least = true) {
  const bool reached = at_least ? got >= target : got <= target;
  std::printf("    %-58s %7.2f  (%s %.2f: %s)\n", what, got, at_least ? "at least" : "at most",
              target, reached ? "reached" : "MISSED");
}

}  // namespace weir::bench
