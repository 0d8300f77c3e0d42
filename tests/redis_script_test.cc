// The script in a real Redis and the account in memory are the same function.
#include "authority/redis_script.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "authority/account.h"
#include "authority/terms.h"
#include "tests/redis_server.h"
#include "wire/resp_command.h"
#include "wire/resp_value.h"

namespace weir::authority {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

// A connection that sends some commands at once and reads their answers.
class Pipeline {
 public:
  explicit Pipeline(const net::Endpoint& endpoint) {
    const net::SocketAddress to = *net::ToSocketAddress(endpoint);
    socket_ = Descriptor(socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(socket_.get(), to.get(), to.size) != 0) abort();
  }

  template <typename Each>
  void Ask(const std::string& commands, std::size_t count, Each each) {
    ASSERT_EQ(send(socket_.get(), commands.data(), commands.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(commands.size()));
    wire::RespValueReader reader;
    std::string unread;
    while (count > 0) {
      char block[65536];
      const ssize_t got = recv(socket_.get(), block, sizeof block, 0);
      ASSERT_GT(got, 0);
      unread.append(block, static_cast<std::size_t>(got));
      for (;;) {
        const wire::RespAnswer answer = reader.Read(unread);
        ASSERT_NE(answer.status, wire::RespValueStatus::kBad);
        if (answer.status == wire::RespValueStatus::kNeedMore) break;
        each(answer.value);
        unread.erase(0, answer.consumed);
        --count;
      }
    }
  }

 private:
  Descriptor socket_;
};

std::string Show(const SyncReply& reply) {
  std::string text;
  for (const std::int64_t number :
       {std::int64_t(reply.taken), std::int64_t{reply.renewed}, std::int64_t(reply.grant),
        std::int64_t(reply.lease), std::int64_t(reply.epoch), std::int64_t{reply.lease_for.count()},
        std::int64_t{reply.deny_for.count()}, reply.tokens, std::int64_t(reply.share)}) {
    text += std::to_string(number) + " ";
  }
  return text;
}

std::string Show(const Account& account) {
  std::string text;
  for (const std::uint64_t number :
       {account.used, account.at, account.epoch, account.reserved, account.reserved_before,
        account.demand, account.demand_before, account.per_permit, account.epoch_length}) {
    text += (text.empty() ? "" : " ") + std::to_string(number);
  }
  return text;
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : bits_(seed) {}
  std::uint64_t Below(std::uint64_t n) { return bits_() % n; }
  // Mostly nothing, often a little, sometimes about `large`.
  std::uint64_t Amount(std::uint64_t large) {
    switch (Below(4)) {
      case 0:
        return Below(4);
      case 1:
        return Below(large + 2);
      default:
        return 0;
    }
  }

 private:
  std::mt19937_64 bits_;
};

Terms RandomTerms(Draw& draw) {
  for (;;) {
    const std::uint64_t permits = 1 + draw.Below(std::uint64_t{1} << draw.Below(18));
    const Nanos period = draw.Below(3) == 0
                             ? Nanos(1 + draw.Below(10'000'000'000))
                             : Nanos(seconds(1 + draw.Below(draw.Below(2) == 0 ? 3 : 86'400)));
    const std::uint64_t burst = 1 + draw.Below(std::uint64_t{1} << draw.Below(30));
    const double over = static_cast<double>(draw.Below(11)) / 10;
    const Result<Terms> terms = Terms::Of(Quota::Per(permits, period).Burst(burst), {over});
    if (terms.ok()) return *terms;
  }
}

SyncRequest RandomRequest(const Terms& terms, std::uint64_t epoch, Draw& draw) {
  const std::uint64_t rush = draw.Below(20) == 0 ? 1'000'000'000 : 1000;
  return {.key = "key",
          .terms = &terms,
          .take = std::min(draw.Amount(terms.burst), terms.burst),
          .times = 1 + draw.Amount(terms.burst),
          .debt = draw.Amount(3 * terms.burst),
          .refund = draw.Amount(terms.burst),
          .spent = draw.Amount(terms.burst / 4),
          .returned = draw.Amount(terms.burst / 4),
          .kept = draw.Amount(terms.burst / 64),  // more than was granted adds up
          .epoch = epoch - std::min(epoch, draw.Below(4)),
          .wanted = draw.Amount(2 * terms.burst),
          .demand = draw.Amount(rush),
          .expected = draw.Amount(rush)};
}

// What `strict` asks all the time.
SyncRequest RandomTake(const Terms& terms, Draw& draw) {
  return {.key = "key",
          .terms = &terms,
          .take = 1 + draw.Below(std::min<std::uint64_t>(terms.burst, 1 + draw.Below(1'000))),
          .times = 1 + draw.Amount(100),
          .demand = draw.Amount(1'000),
          .expected = draw.Amount(1'000)};
}

constexpr std::uint64_t kMonth = 2'600'000'000'000;  // microseconds

// Steps of all sizes, back too: of a microsecond, of an epoch, of the time a bucket takes to fill.
std::uint64_t LaterThan(std::uint64_t now, const Terms& terms, Draw& draw) {
  const auto epoch = static_cast<std::uint64_t>(terms.epoch.count());
  switch (draw.Below(6)) {
    case 0:
      return now;
    case 1:
      return now + draw.Below(100);
    case 2:
      return now + draw.Below(epoch);
    case 3:
      return now + draw.Below(4 * epoch);
    case 4:
      return now + draw.Below(std::min(2 * terms.capacity() / terms.ticks_per_micro + 2, kMonth));
    default:
      return now - std::min(now - 1, draw.Below(epoch));
  }
}

// How often limits change while a key is asked about.
enum class Changes : std::uint8_t { kNever, kNowAndThen, kAllTheTime };

void AreTheSame(Changes changes, std::uint64_t seed) {
  constexpr int kLimits = 60;
  constexpr int kRequests = 100;
  RedisServer redis;
  Pipeline pipeline(redis.endpoint());
  std::string load;
  AppendLoadCommand(load);
  pipeline.Ask(load, 1, [](wire::RespValue answer) { ASSERT_TRUE(answer.is_text()); });

  Draw draw(seed);
  int given = 0;
  int refused = 0;
  for (int limit = 0; limit < kLimits; ++limit) {
    Terms terms = RandomTerms(draw);
    const std::string key = "{k}" + std::to_string(limit);
    Account account;
    std::uint64_t now = 1 + draw.Below(draw.Below(4) == 0 ? 1'000'000 : 1'900'000'000'000'000);
    account.at = now;
    std::vector<std::string> expected;
    std::string commands;
    for (int i = 0; i < kRequests; ++i) {
      now = LaterThan(now, terms, draw);
      if (changes == Changes::kAllTheTime) terms = RandomTerms(draw);
      if (changes == Changes::kNowAndThen && draw.Below(8) == 0) terms = RandomTerms(draw);
      const SyncRequest request =
          draw.Below(3) == 0
              ? RandomTake(terms, draw)
              : RandomRequest(terms, now / static_cast<std::uint64_t>(terms.epoch.count()), draw);
      // Whatever the time in the test is, no key runs out while it is compared.
      AppendSyncCommand(request, key, {.now = now, .slack = hours(1)}, commands);
      const SyncReply reply = Execute(request, account, now);
      given += reply.taken + reply.grant + reply.lease > 0;
      refused += reply.deny_for.count() > 0;
      expected.push_back(Show(reply));
      wire::AppendRespCommand({"GET", key}, commands);
      expected.push_back(Show(account));
    }
    std::size_t at = 0;
    pipeline.Ask(commands, expected.size(), [&](wire::RespValue answer) {
      const std::optional<SyncReply> reply = ReadSyncAnswer(answer);
      const std::optional<Account> stored = ReadAccount(answer.text());
      EXPECT_EQ(reply    ? Show(*reply)
                : stored ? Show(*stored)
                         : std::string(answer.text()),
                expected[at])
          << "limit " << limit << ", step " << at / 2;
      ++at;
    });
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(given, 100);  // else little was compared
  EXPECT_GT(refused, 100);
}

TEST(RedisScriptConcurrentTest, GivesTheRepliesAndKeepsTheAccountsOfTheArithmeticInMemory) {
  AreTheSame(Changes::kNever, 20'240'601);
}

TEST(RedisScriptConcurrentTest, ConvertsWhatWasUsedUnderAnotherLimitAsTheArithmeticInMemory) {
  AreTheSame(Changes::kNowAndThen, 20'240'602);
  AreTheSame(Changes::kAllTheTime, 20'240'603);
}

// As an older Weir left it: seven numbers, and nothing about the limit.
TEST(RedisScriptConcurrentTest, ReadsATextAsOfTheCurrentLimit) {
  RedisServer redis;
  Pipeline pipeline(redis.endpoint());
  const Terms terms = Terms::Of(Quota::PerSecond(3).Burst(10)).value();
  constexpr std::uint64_t kNow = 1'700'000'000'000'000;
  Account account{.used = 7 * terms.ticks_per_permit, .at = kNow - 1, .epoch = 12, .demand = 5};
  account.epoch_length = static_cast<std::uint64_t>(terms.epoch.count());
  redis.Ask({"SET", "key",
             std::to_string(account.used) + " " + std::to_string(kNow - 1) + " 12 0 0 5 0"});
  const SyncRequest request{.key = "key", .terms = &terms, .take = 3};
  const SyncReply expected = Execute(request, account, kNow);
  EXPECT_EQ(expected.taken, 1U);
  std::string commands;
  AppendLoadCommand(commands);
  AppendSyncCommand(request, "key", {.now = kNow, .slack = hours(1)}, commands);
  wire::AppendRespCommand({"GET", "key"}, commands);
  std::vector<std::string> answers;
  pipeline.Ask(commands, 3, [&](wire::RespValue answer) {
    const std::optional<SyncReply> reply = ReadSyncAnswer(answer);
    answers.push_back(reply ? Show(*reply) : std::string(answer.text()));
  });
  EXPECT_EQ(answers[1], Show(expected));
  EXPECT_EQ(ReadAccount(answers[2]), account);
}

TEST(RedisScriptConcurrentTest, AKeyLivesAsLongAsItMeansSomething) {
  RedisServer redis;
  Pipeline pipeline(redis.endpoint());
  const Terms terms = Terms::Of(Quota::PerSecond(1).Burst(10)).value();
  std::string commands;
  AppendLoadCommand(commands);
  AppendSyncCommand({.key = "key", .terms = &terms, .take = 10}, "key", {}, commands);
  pipeline.Ask(commands, 2, [](wire::RespValue) {});
  const Micros forgotten = ForgottenIn({.used = terms.capacity()}, terms);
  const auto ms = std::stol(redis.Ask({"PTTL", "key"}));
  EXPECT_LE(ms, (forgotten + 2 * terms.epoch).count() / 1000 + 2);
  EXPECT_GT(ms, forgotten.count() / 2000);
}

// When a key dies, in milliseconds, to the next. Redis 6.2 cannot be asked for that directly.
constexpr std::string_view kDiesAt = R"lua(
local life = redis.call('PTTL', KEYS[1])
local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000) + life
)lua";

// Its time to live is not told each time that it is written, and is long enough all the same.
TEST(RedisScriptConcurrentTest, NoKeyDiesWhileItMeansSomething) {
  RedisServer redis;
  Pipeline pipeline(redis.endpoint());
  std::string load;
  AppendLoadCommand(load);
  pipeline.Ask(load, 1, [](wire::RespValue) {});
  Draw draw(20'240'604);
  int untold = 0;
  for (int limit = 0; limit < 40; ++limit) {
    Terms terms = RandomTerms(draw);
    const std::string key = "{k}" + std::to_string(limit);
    std::int64_t died_ms = 0;
    for (int i = 0; i < 50; ++i) {
      if (draw.Below(10) == 0) terms = RandomTerms(draw);
      std::string commands;
      AppendSyncCommand(RandomTake(terms, draw), key, {}, commands);
      wire::AppendRespCommand({"GET", key}, commands);
      wire::AppendRespCommand({"EVAL", kDiesAt, "1", key}, commands);
      std::optional<Account> account;
      std::int64_t dies_ms = 0;
      pipeline.Ask(commands, 3, [&](wire::RespValue answer) {
        if (answer.is_text()) account = ReadAccount(answer.text());
        if (answer.is(wire::RespKind::kInteger)) dies_ms = answer.integer();
      });
      ASSERT_TRUE(account);
      const auto forgotten_at =
          account->at + static_cast<std::uint64_t>(ForgottenIn(*account, terms).count());
      ASSERT_GE(static_cast<std::uint64_t>(dies_ms) * 1000, forgotten_at) << limit << ", " << i;
      untold += std::abs(std::exchange(died_ms, dies_ms) - dies_ms) <= 1 ? 1 : 0;
    }
  }
  EXPECT_GT(untold, 500);
}

TEST(RedisScriptConcurrentTest, WhatIsNotItsOwnIsLeftAlone) {
  RedisServer redis;
  Pipeline pipeline(redis.endpoint());
  const Terms terms = Terms::Of(Quota::PerSecond(1).Burst(10)).value();
  redis.Ask({"SET", "text", "something else"});
  redis.Ask({"LPUSH", "list", "one"});
  std::string commands;
  AppendLoadCommand(commands);
  AppendSyncCommand({.key = {}, .terms = &terms, .take = 1}, "text", {}, commands);
  AppendSyncCommand({.key = {}, .terms = &terms, .take = 1}, "list", {}, commands);
  std::vector<std::string> answers;
  pipeline.Ask(commands, 3, [&](wire::RespValue answer) { answers.emplace_back(answer.text()); });
  EXPECT_EQ(answers[1], "ERR the key is not one of weir");
  EXPECT_NE(answers[2].find("WRONGTYPE"), std::string::npos) << answers[2];
  EXPECT_EQ(redis.Ask({"GET", "text"}), "something else");
}

}  // namespace
}  // namespace weir::authority
