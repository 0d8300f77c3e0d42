// A counted load over two protocols, and the page of metrics that must say the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/running_server.h"
#include "tests/prometheus_page.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

// A client that says what it is told to and reads until it has seen enough.
class Client {
 public:
  explicit Client(const std::string& address) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ASSERT_GT(sent, 0);
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // Until there are `count` of `what`, or the connection ends.
  std::string ReadUntil(std::string_view what, std::size_t count) {
    std::string all;
    char block[65536];
    while (Count(all, what) < count) {
      const ssize_t got = recv(socket_, block, sizeof block, 0);
      if (got <= 0) break;
      all.append(block, static_cast<std::size_t>(got));
    }
    return all;
  }
  static std::size_t Count(std::string_view text, std::string_view what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string_view::npos;
         at = text.find(what, at + what.size())) {
      ++count;
    }
    return count;
  }

 private:
  int socket_;
};

// What the pieces of a body say together.
std::string Joined(std::string_view chunks) {
  std::string body;
  for (;;) {
    const std::size_t size =
        std::stoul(std::string(chunks.substr(0, chunks.find('\r'))), nullptr, 16);
    if (size == 0) return body;
    chunks.remove_prefix(chunks.find('\n') + 1);
    body += chunks.substr(0, size);
    chunks.remove_prefix(size + 2);
  }
}

class MetricsConcurrentTest : public testing::Test {
 protected:
  void Start(const std::string& rules) {
    WriteRules(rules);
    ServeOptions options;
    options.http = "127.0.0.1:0";
    options.resp = "127.0.0.1:0";
    options.grpc = "";
    options.admin = "";
    options.state = "memory";
    options.rules = file_;
    options.max_keys = 10'000;
    options.threads = 2;
    options.version = "9.9";
    auto server = RunningServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
  }
  // At once, so that a half of them is never read.
  void WriteRules(const std::string& rules) {
    std::ofstream(file_ + ".new") << "namespace: default\nrules:\n" << rules;
    ASSERT_EQ(std::rename((file_ + ".new").c_str(), file_.c_str()), 0);
  }
  PrometheusPage Page() {
    Client client(server_->http_address());
    client.Send("GET /metrics HTTP/1.1\r\nHost: weir\r\n\r\n");
    const std::string reply = client.ReadUntil("\r\n0\r\n\r\n", 1);
    EXPECT_THAT(reply, testing::StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(reply, testing::HasSubstr("Content-Type: text/plain; version=0.0.4"));
    return PrometheusPage(Joined(std::string_view(reply).substr(reply.find("\r\n\r\n") + 4)));
  }
  // Asks `times`, sixteen at a time, and returns how often the answer was yes.
  static std::size_t AskHttp(const std::string& address, std::size_t times) {
    Client client(address);
    std::size_t allowed = 0;
    for (std::size_t asked = 0; asked < times; asked += 16) {
      std::string requests;
      const std::size_t more = std::min<std::size_t>(16, times - asked);
      for (std::size_t i = 0; i < more; ++i) {
        requests += "GET /check/counted HTTP/1.1\r\nHost: weir\r\n\r\n";
      }
      client.Send(requests);
      const std::string replies = client.ReadUntil("Content-Length: ", more);  // one in each
      allowed += Client::Count(replies, "HTTP/1.1 200");
    }
    return allowed;
  }
  static std::size_t AskRedis(const std::string& address, std::size_t times) {
    Client client(address);
    std::size_t allowed = 0;
    for (std::size_t asked = 0; asked < times; asked += 16) {
      std::string requests;
      const std::size_t more = std::min<std::size_t>(16, times - asked);
      for (std::size_t i = 0; i < more; ++i) requests += "WEIR.CHECK default path /counted\r\n";
      client.Send(requests);
      const std::string replies = client.ReadUntil("counted\r\n", more);
      allowed += Client::Count(replies, "*7\r\n:1\r\n");
    }
    return allowed;
  }

  TemporaryFile folder_;
  std::string file_ = folder_.path() + ".yaml";
  std::unique_ptr<RunningServer> server_;
};

constexpr std::string_view kCounted = "{namespace=\"default\",rule=\"counted\",outcome=\"";

TEST_F(MetricsConcurrentTest, AgreesExactlyWithWhatClientsWereTold) {
  Start("- {name: counted, match: {path: /counted}, limit: fixed_window 1000/h}");
  constexpr std::size_t kEach = 800;
  std::atomic<std::size_t> allowed{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] { allowed += AskHttp(server_->http_address(), kEach); });
      threads.emplace_back([&] { allowed += AskRedis(server_->resp_address(), kEach); });
    }
  }
  const PrometheusPage page = Page();
  const std::string rule = "weir_rule_requests_total" + std::string(kCounted);
  EXPECT_EQ(allowed, 1000U);
  EXPECT_EQ(page[rule + "allowed\"}"], 1000);
  EXPECT_EQ(page[rule + "denied\"}"], 6 * kEach - 1000);
  EXPECT_EQ(page["weir_requests_total{namespace=\"default\",outcome=\"allowed\"}"], 1000);
  EXPECT_EQ(page["weir_requests_total{namespace=\"default\",outcome=\"denied\"}"],
            6 * kEach - 1000);
  EXPECT_EQ(page["weir_protocol_requests_total{protocol=\"http\"}"], 3 * kEach);
  EXPECT_EQ(page["weir_protocol_requests_total{protocol=\"resp\"}"], 3 * kEach);
  EXPECT_EQ(page["weir_protocol_errors_total{protocol=\"http\"}"], 0);
  EXPECT_EQ(page["weir_connections_accepted_total"], 7) << "six clients and this one";
  EXPECT_GE(page["weir_read_duration_seconds_count{protocol=\"http\"}"], 3 * kEach / 16);
  EXPECT_EQ(page["weir_rules_state{state=\"in_force\"}"], 1);
  EXPECT_EQ(page["weir_build_info{version=\"9.9\"}"], 1);
  EXPECT_EQ(Page()["weir_protocol_requests_total{protocol=\"http\"}"], 3 * kEach + 1)
      << "the page itself was asked for";
}

TEST_F(MetricsConcurrentTest, LosesNothingWhileRulesAreReplaced) {
  Start("- {name: counted, match: {path: /counted}, limit: fixed_window 100/h}");
  constexpr std::size_t kEach = 3000;
  std::atomic<int> asking{2};
  std::atomic<std::size_t> allowed{0};
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
      allowed += AskHttp(server_->http_address(), kEach);
      --asking;
    });
    threads.emplace_back([&] {
      allowed += AskRedis(server_->resp_address(), kEach);
      --asking;
    });
    for (int i = 0; asking > 0; ++i) {
      WriteRules("- {name: counted, match: {path: /counted}, limit: fixed_window " +
                 std::to_string(100 + i) + "/h}\n- {name: extra-" + std::to_string(i) +
                 ", match: {path: /none}, limit: 1/h}");
      const PrometheusPage page = Page();  // also in the middle of it
      EXPECT_EQ(page["weir_rules_state{state=\"bad\"}"], 0);
    }
  }
  const PrometheusPage page = Page();
  const std::string rule = "weir_rule_requests_total" + std::string(kCounted);
  EXPECT_EQ(page[rule + "allowed\"}"], static_cast<double>(allowed));
  EXPECT_EQ(page[rule + "allowed\"}"] + page[rule + "denied\"}"], 2 * kEach);
}

TEST_F(MetricsConcurrentTest, MistakesAndThrottlesAreCountedToo) {
  Start("- {name: counted, match: {path: /counted}, limit: 1/h}");
  {
    Client http(server_->http_address());
    http.Send("GET /nowhere HTTP/1.1\r\nHost: weir\r\n\r\n");
    http.ReadUntil("}", 1);
    Client redis(server_->resp_address());
    redis.Send("NONSENSE\r\nCL.THROTTLE a 0 1 3600\r\nCL.THROTTLE a 0 1 3600\r\nPING\r\n");
    redis.ReadUntil("PONG", 1);
  }
  const PrometheusPage page = Page();
  EXPECT_EQ(page["weir_protocol_errors_total{protocol=\"http\"}"], 1);
  EXPECT_EQ(page["weir_protocol_errors_total{protocol=\"resp\"}"], 1);
  EXPECT_EQ(page["weir_protocol_requests_total{protocol=\"resp\"}"], 4);
  EXPECT_EQ(page["weir_throttle_requests_total{outcome=\"allowed\"}"], 1);
  EXPECT_EQ(page["weir_throttle_requests_total{outcome=\"denied\"}"], 1);
}

TEST_F(MetricsConcurrentTest, APageOfManyRulesIsWholeForOldClientsToo) {
  std::string rules;
  for (int i = 0; i < 2000; ++i) {
    rules += "- {name: rule-" + std::to_string(i) + ", limit: 1/h, match: {path: /" +
             std::to_string(i) + "}}\n";
  }
  Start(rules);
  EXPECT_TRUE(Page().Has(
      "weir_rule_requests_total{namespace=\"default\",rule=\"rule-1999\",outcome=\"denied\"}"));
  Client old(server_->http_address());
  old.Send("GET /metrics HTTP/1.0\r\n\r\n");
  const std::string reply = old.ReadUntil("never", 1);  // to the end of the connection
  EXPECT_THAT(reply, testing::HasSubstr("Connection: close"));
  EXPECT_THAT(reply, testing::Not(testing::HasSubstr("chunked")));
  EXPECT_TRUE(PrometheusPage(std::string_view(reply).substr(reply.find("\r\n\r\n") + 4))
                  .Has("weir_rule_requests_total{namespace=\"default\",rule=\"rule-1999\","
                       "outcome=\"denied\"}"));
}

}  // namespace
}  // namespace weir
