// What sharing a limit costs: one host of a cluster and a real Redis, in each of its modes, beside
// what people do without Weir, a counter that expires.
//
// All of them are asked in the same way, by one loop that has one connection: each turn asks as
// many questions as a server finds in its sockets, and at most so many wait for Redis at a time. A
// hot key is asked as fast as the host can, which is faster than its limit: what a lease refuses
// then is refused in memory. So a limit that is never reached is asked, too: there everything is
// admitted.
//
// Those who ask for the same key in the same turn are asked for together, in `strict` too. So it is
// also asked about many keys, one question for each: then each of them is a call of the script, and
// is compared with a script that does nothing.
//
//   build/bench/cluster_bench [SECONDS]     of each turn of each contestant
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "authority/host.h"
#include "bench/cluster_contestants.h"
#include "bench/measure.h"
#include "bench/strict_contestant.h"
#include "net/loop.h"
#include "tests/redis_server.h"

namespace weir::bench {
namespace {

constexpr int kRounds = 3;
constexpr std::uint64_t kTurn = 256;  // questions in a turn of the loop
constexpr std::uint64_t kVast = authority::Terms::kMostPermits;
// To reach.
constexpr double kLeaseOverStrict = 50;
constexpr double kStrictOverCounter = 0.5;
// TIME, GET and SET with a time to live take four times what the call of a script takes.
constexpr double kStrictOverEmptyScript = 0.15;

// --- taking turns --------------------------------------------------------------------------------

// What Redis has counted for `command`: "calls=3,usec=12,...". Nothing if nobody ever said it.
std::uint64_t StatisticOf(std::string_view said, const std::string& command, const char* name) {
  const std::size_t line = said.find("cmdstat_" + command + ":");
  if (line == std::string_view::npos) return 0;
  const std::string_view text = said.substr(said.find(name, line) + std::strlen(name));
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// What Redis did for clients until now. What scripts call is part of the time of their call.
RedisWork WorkOf(RedisServer& redis) {
  const std::string said = redis.Ask({"INFO", "commandstats"});
  RedisWork work;
  for (const char* const command : {"evalsha", "incr", "expire"}) {
    work.operations += StatisticOf(said, command, "calls=");
    work.micros += StatisticOf(said, command, "usec=");
  }
  return work;
}

template <typename Asked>
Score Run(RedisServer& redis, net::Loop& loop, Nanos time, Asked& asked) {
  const RedisWork before = WorkOf(redis);
  const auto start = std::chrono::steady_clock::now();
  loop.Turn(Nanos(0));
  const Instant end = loop.now() + time;
  while (loop.now() < end) {
    asked.Ask(kTurn);
    // A timer of the connection is due at once, so this does not keep back what was asked.
    loop.Turn(asked.waiting() < kQueue ? Nanos(0) : Nanos(std::chrono::milliseconds(1)));
    asked.Exchange();
  }
  while (!asked.is_settled()) {
    loop.Turn(std::chrono::milliseconds(1));
    asked.Exchange();
  }
  asked.Took(SecondsSince(start));
  asked.CheckPromise();
  Score score = asked.score();
  const RedisWork after = WorkOf(redis);
  score.redis = {.operations = after.operations - before.operations,
                 .micros = after.micros - before.micros};
  return score;
}

struct Row {
  const char* name;
  std::vector<double> rates{};  // decisions per second, of each round
  std::vector<double> admitted{};
  std::vector<double> operations{};  // per decision,
  std::vector<double> micros{};      //   and what they took in Redis

  void Add(const Score& score) {
    const auto decisions = static_cast<double>(score.decisions);
    rates.push_back(decisions / score.seconds);
    admitted.push_back(static_cast<double>(score.admitted) / score.seconds);
    operations.push_back(static_cast<double>(score.redis.operations) / decisions);
    micros.push_back(static_cast<double>(score.redis.micros) / decisions);
  }
  void Print() const {
    const Spread rate = SpreadOf(rates);
    std::printf("  %-28s %11.0f (%8.0f to %8.0f) %11.0f %12.6f %12.4f\n", name, rate.median,
                rate.least, rate.most, SpreadOf(admitted).median, SpreadOf(operations).median,
                SpreadOf(micros).median);
  }
};

double RatioOf(const Row& one, const Row& other) {
  return SpreadOf(one.rates).median / SpreadOf(other.rates).median;
}

void OverRedis(Nanos time) {
  RedisServer redis;
  Row lease{.name = "lease, 1,000,000/s"};
  Row vast{.name = "lease, a limit never reached"};
  Row swap{.name = "strict by swap, one key"};
  Row swap_many{.name = "strict by swap, 256 keys"};
  Row strict{.name = "strict, one key"};
  Row strict_many{.name = "strict, 256 keys"};
  Row empty{.name = "an empty script"};
  Row counter{.name = "INCR + EXPIRE"};
  const std::string digest = redis.Ask({"SCRIPT", "LOAD", "return 1"});
  for (int round = 0; round < kRounds; ++round) {
    const std::string suffix = std::to_string(round);
    const auto host = [&](const std::string& key, std::size_t keys,
                          const authority::KeyPolicy& policy) {
      net::Loop loop;
      AskedHost asked(loop, redis.endpoint(), key + suffix, keys, policy);
      return Run(redis, loop, time, asked);
    };
    lease.Add(host("lease", 1, Policy(kHot, Mode::kLease)));
    vast.Add(host("vast", 1, Policy(kVast, Mode::kLease)));
    strict.Add(host("strict", 1, Policy(kVast, Mode::kStrict)));
    strict_many.Add(host("many", kTurn, Policy(kHot, Mode::kStrict)));
    const auto swapped = [&](const std::string& key, int keys) {
      net::Loop loop;
      AskedStrict asked(loop, redis.endpoint(), "fixed_window 1000000000/1h", key + suffix, keys);
      return Run(redis, loop, time, asked);
    };
    swap.Add(swapped("swap", 1));
    swap_many.Add(swapped("swap_many", kTurn));
    {
      net::Loop loop;
      AskedScript asked(loop, redis.endpoint(), digest);
      empty.Add(Run(redis, loop, time, asked));
    }
    net::Loop loop;
    AskedCounter asked(loop, redis.endpoint(), "counter" + suffix + ":");
    counter.Add(Run(redis, loop, time, asked));
  }
  std::printf("One host, one loop, one connection to a Redis of its own. A turn asks up to\n");
  std::printf("%d times at cost 1, one by one; at most %d wait for Redis. %d rounds of %.1f s.\n\n",
              static_cast<int>(kTurn), static_cast<int>(kQueue), kRounds,
              std::chrono::duration<double>(time).count());
  std::printf("  %-28s %11s %22s %11s %12s %12s\n", "", "", "", "", "Redis ops", "Redis us");
  std::printf("  %-28s %11s %22s %11s %12s %12s\n", "medians", "decisions/s", "(spread)",
              "admitted/s", "per decision", "per decision");
  for (const Row* row :
       {&lease, &vast, &strict, &strict_many, &swap, &swap_many, &empty, &counter}) {
    row->Print();
  }
  std::printf("\n");
  Report("lease / strict, 256 keys: as fast as it can", RatioOf(lease, strict_many),
         kLeaseOverStrict);
  Report("lease / strict, 256 keys: all of it admitted", RatioOf(vast, strict_many),
         kLeaseOverStrict);
  Report("lease / strict, one key that 256 ask for at once", RatioOf(vast, strict),
         kLeaseOverStrict);
  Report("strict, one key / (INCR + EXPIRE)", RatioOf(strict, counter), kStrictOverCounter);
  Report("strict, 256 keys / (INCR + EXPIRE)", RatioOf(strict_many, counter), kStrictOverCounter);
  Report("strict by swap, one key / (INCR + EXPIRE)", RatioOf(swap, counter), kStrictOverCounter);
  Report("strict, 256 keys / an empty script", RatioOf(strict_many, empty), kStrictOverEmptyScript);
}

// --- in memory -----------------------------------------------------------------------------------

// A host whose orders are always filled, at once. A million questions come in a second of a time
// that is counted, not measured.
class SuppliedHost {
 public:
  SuppliedHost() : key_(&host_.Find(name_, policy_)) {
    // Cold, it has to ask, and orders a supply in the next turn, when it sees that it is worth one.
    for (int turn = 0; turn < 2; ++turn) {
      for (std::uint64_t i = 0; i < kTurn; ++i) host_.Ask(*key_, 1, 0, now_);
      Supply();
    }
  }
  template <typename Ask>
  void Run(std::uint64_t questions, Ask ask) {
    for (std::uint64_t asked = 0; asked < questions; asked += kTurn) {
      now_ += std::chrono::microseconds(kTurn);
      std::uint64_t admitted = 0;
      for (std::uint64_t i = 0; i < kTurn; ++i) {
        admitted += ask(*this).answer == Answer::kAllow ? 1 : 0;
      }
      if (admitted != kTurn) Fail("a decision was not made from the credit at hand");
      Supply();
    }
  }
  authority::LocalDecision AskKey() { return key_->Ask(1, now_); }
  authority::LocalDecision AskHost() { return host_.Ask(host_.Find(name_, policy_), 1, 0, now_); }

 private:
  void Supply() {
    host_.Tick(now_);
    for (const authority::SyncRequest& request : host_.TakeRequests()) {
      host_.OnReply(request.ticket,
                    {.taken = request.times,
                     .grant = request.wanted,
                     .epoch = request.epoch,
                     .tokens = static_cast<std::int64_t>(policy_.terms.burst),
                     .share = authority::WarmBucket::kWhole},
                    now_);
    }
    host_.TakeSettled();
  }

  std::string name_ = "hot";
  authority::KeyPolicy policy_ = Policy(kHot, Mode::kLease);
  authority::Host host_{{}};
  authority::HostKey* key_;
  Instant now_{std::chrono::seconds(1'000'000)};
};

void InMemory() {
  constexpr std::uint64_t kQuestions = kTurn * 20'000;
  SuppliedHost first;
  SuppliedHost second;
  const std::vector<Contestant> contestants = {
      {"HostKey::Ask",
       [&](int) { first.Run(kQuestions, [](SuppliedHost& host) { return host.AskKey(); }); }},
      {"Host::Find and Host::Ask",
       [&](int) { second.Run(kQuestions, [](SuppliedHost& host) { return host.AskHost(); }); }},
  };
  const std::vector<Spread> times = Compete(contestants, 1, kQuestions, kRounds);
  std::printf(
      "\nA lease while permits are at hand, without Redis; a key takes %zu bytes and its name\n",
      sizeof(authority::HostKey));
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    std::printf("  %-34s %6.1f ns/decision (%.1f to %.1f)\n", contestants[i].name.c_str(),
                times[i].median, times[i].least, times[i].most);
  }
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 2;
  if (!(seconds > 0 && seconds <= 3600)) weir::bench::Fail("say seconds: cluster_bench [SECONDS]");
  weir::bench::OverRedis(
      std::chrono::duration_cast<weir::Nanos>(std::chrono::duration<double>(seconds)));
  weir::bench::InMemory();
  return 0;
}
