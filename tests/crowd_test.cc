// A crowd at the door: ten thousand who say nothing and a thousand who never finish their sentence.
// Everybody else is answered all the same, what the silent ones take is little, the slow ones are
// cut off, and when all have gone, so have their descriptors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/blocking_client.h"
#include "tests/server_process.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
constexpr bool kIsSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif

constexpr int kIdle = 10'000;
constexpr int kSlow = 1'000;
constexpr int kBurst = 2'000;
// Sanitizers keep books of their own about every byte.
constexpr std::int64_t kMostBytesEach = (std::int64_t{16} << 10) * (kIsSanitized ? 10 : 1);

enum class Speaks : std::uint8_t { kHttp, kResp, kGrpc };

// A third of each crowd speaks HTTP, a third the Redis protocol, a third gRPC.
Speaks SpeechOf(int number) { return static_cast<Speaks>(number % 3); }

// How a client of HTTP/2 begins: the preface, and settings without any.
const std::string kHttp2Begins =
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string("\0\0\0\4\0\0\0\0\0", 9);

// What it says to be answered once.
std::string Greeting(Speaks speech) {
  switch (speech) {
    case Speaks::kHttp:
      return "GET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n";
    case Speaks::kResp:
      return "PING\r\n";
    case Speaks::kGrpc:
      break;
  }
  return kHttp2Begins;
}

// A request that begins well and never comes to its end.
std::string EndlessRequest(Speaks speech) {
  const std::string filler(4096, 'a');
  switch (speech) {
    case Speaks::kHttp:
      return "GET /check/" + filler;
    case Speaks::kResp:
      return "*2\r\n$60000\r\n" + filler;
    case Speaks::kGrpc:
      break;
  }
  // The header of a HEADERS frame of 16,000 bytes, and some of them.
  return kHttp2Begins + std::string("\0\x3e\x80\1\4\0\0\0\1", 9) + filler;
}

class CrowdConcurrentTest : public testing::Test {
 protected:
  CrowdConcurrentTest() {
    options_.http = "127.0.0.1:0";
    options_.resp = "127.0.0.1:0";
    options_.grpc = "127.0.0.1:0";
    options_.admin = "";
    options_.state = "memory";
    options_.max_keys = 1000;
    options_.threads = 2;
    options_.connections.most_per_peer = 1'000'000;  // all of them are of this host
    options_.rules = folder_.path() + ".yaml";
    std::ofstream(options_.rules) << "namespace: default\nrules:\n"
                                     "- {name: user, by: [user], limit: 2000/1000000h}\n";
  }

  static BlockingClient Connect(const ServerProcess& server, Speaks speech) {
    return BlockingClient(speech == Speaks::kHttp   ? server.http_address()
                          : speech == Speaks::kResp ? server.resp_address()
                                                    : server.grpc_address());
  }
  // Those who are connected and were answered once, so that the server has seen them.
  static std::vector<BlockingClient> Gather(const ServerProcess& server, int count) {
    std::vector<BlockingClient> crowd;
    constexpr int kAtOnce = 100;
    for (int i = 0; i < count; ++i) {
      crowd.push_back(Connect(server, SpeechOf(i)));
      crowd.back().Send(Greeting(SpeechOf(i)));
      if (i % kAtOnce == kAtOnce - 1 || i == count - 1) {
        for (int k = i - i % kAtOnce; k <= i; ++k) {
          crowd[k].ReceiveSome();
        }
      }
    }
    return crowd;
  }
  static std::int64_t CountOpen(const std::vector<BlockingClient>& crowd) {
    return std::count_if(crowd.begin(), crowd.end(), [](const auto& c) { return c.is_open(); });
  }

  static std::int64_t BytesOf(const ServerProcess& server) {
    std::ifstream statm("/proc/" + std::to_string(server.id()) + "/statm");
    std::int64_t size = 0;
    std::int64_t resident = 0;
    statm >> size >> resident;
    return resident * sysconf(_SC_PAGESIZE);
  }
  static std::int64_t DescriptorsOf(const ServerProcess& server) {
    const std::filesystem::directory_iterator open("/proc/" + std::to_string(server.id()) + "/fd");
    return std::distance(begin(open), end(open));
  }
  // However long it takes; a minute is too long.
  [[nodiscard]] static bool Becomes(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  TemporaryFile folder_;
  ServeOptions options_;
};

TEST_F(CrowdConcurrentTest, OthersAreAnsweredBesideTheSilentAndTheSlow) {
  ASSERT_GE(RaiseDescriptorLimit(), kIdle + kSlow + 100)
      << "this test needs a descriptor for each of its clients: raise `ulimit -Hn`";
  options_.connections.request_timeout = "2s";
  const ServerProcess server(options_);
  ASSERT_THAT(server.http_address(), testing::StartsWith("127.0.0.1:"));
  std::vector<BlockingClient> others;
  for (int i = 0; i < 8; ++i) {
    others.push_back(Connect(server, i % 2 == 0 ? Speaks::kHttp : Speaks::kResp));
    others.back().Send(Greeting(i % 2 == 0 ? Speaks::kHttp : Speaks::kResp));
    others.back().ReceiveSome();
  }
  const std::int64_t descriptors = DescriptorsOf(server);
  const std::int64_t bytes = BytesOf(server);

  std::vector<BlockingClient> idle = Gather(server, kIdle);
  ASSERT_EQ(CountOpen(idle), kIdle);
  EXPECT_EQ(DescriptorsOf(server), descriptors + kIdle);
  const std::int64_t each = (BytesOf(server) - bytes) / kIdle;
  std::cout << "an idle connection takes " << each << " bytes\n";
  EXPECT_LE(each, kMostBytesEach);

  const std::array requests = {EndlessRequest(SpeechOf(0)), EndlessRequest(SpeechOf(1)),
                               EndlessRequest(SpeechOf(2))};
  std::vector<BlockingClient> slow;
  for (int i = 0; i < kSlow; ++i) {
    slow.push_back(Connect(server, SpeechOf(i)));
    slow.back().Send(requests[i % 3].substr(0, 1));
  }
  // A byte of each slow one, a decision for each of the others; until the ones are cut off and the
  // others have their answers.
  std::size_t byte = 1;
  int asked = 0;
  int allowed = 0;
  const auto go_on = [&] {
    for (int i = 0; i < kSlow; ++i) {
      const std::string& request = requests[i % 3];
      if (byte < request.size() && slow[i].is_open() && !slow[i].HasEnded()) {
        slow[i].Send(request.substr(byte, 1));
      }
    }
    ++byte;
    for (int i = 0; i < 8 && asked < 2 * kBurst; ++i, ++asked) {
      if (i % 2 == 0 ? others[i].AskHttp("7") : others[i].AskResp("7")) ++allowed;
    }
    for (BlockingClient& client : slow) client.HasEnded();
    return asked == 2 * kBurst && CountOpen(slow) == 0;
  };
  EXPECT_TRUE(Becomes(go_on)) << CountOpen(slow) << " slow ones are still there";
  EXPECT_EQ(asked, 2 * kBurst);
  EXPECT_EQ(allowed, kBurst);
  EXPECT_EQ(CountOpen(others), 8);

  for (BlockingClient& client : idle) client.HasEnded();
  EXPECT_EQ(CountOpen(idle), kIdle) << "who is silent is not slow";
  idle.clear();
  slow.clear();
  EXPECT_TRUE(Becomes([&] { return DescriptorsOf(server) == descriptors; }))
      << DescriptorsOf(server) << " descriptors, and there were " << descriptors;
}

TEST_F(CrowdConcurrentTest, WhereDescriptorsAreFewTheNextAreTurnedAwayAndTheRulesCanStillBeRead) {
  const ServerProcess server(options_, 400);
  ASSERT_THAT(server.http_address(), testing::StartsWith("127.0.0.1:"));
  // Half of them are for the rest.
  std::vector<BlockingClient> crowd = Gather(server, 300);
  EXPECT_EQ(CountOpen(crowd), 200);
  EXPECT_TRUE(std::all_of(crowd.begin(), crowd.begin() + 200, [](auto& c) { return c.is_open(); }));
  EXPECT_TRUE(crowd[0].AskHttp("7"));
  std::ofstream(options_.rules) << "namespace: default\nrules:\n"
                                   "- {name: user, by: [user], limit: blocked}\n";
  EXPECT_TRUE(Becomes([&] { return !crowd[0].AskHttp("7"); }));
  EXPECT_EQ(crowd[1].Ask("PING\r\n", 1), "+PONG\r\n");
  crowd.clear();
  EXPECT_TRUE(Becomes([&] { return Connect(server, Speaks::kResp).Ask("PING\r\n", 1) != ""; }));
}

}  // namespace
}  // namespace weir
