// What the options of `weir serve` promise about clients and connections, asked of a running
// server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "net/endpoint.h"
#include "rule/api_keys.h"
#include "server/program.h"
#include "server/running_server.h"
#include "tests/net_harness.h"
#include "tests/shell.h"
#include "tests/temporary_file.h"
#include "tests/token_signer.h"

namespace weir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ServeOptionsConcurrentTest : public ::testing::Test {
 protected:
  ServeOptionsConcurrentTest() {
    options_.http = "127.0.0.1:0";
    options_.resp = "127.0.0.1:0";
    options_.grpc = "";
    options_.admin = "";
    options_.state = "memory";
    options_.max_keys = 1000;
    options_.threads = 1;
    Use("[{name: ip, by: [ip], limit: 1/h}]");
  }
  void Use(const std::string& rules) {
    options_.rules = File("rules.yaml", "namespace: default\nrules: " + rules + "\n");
  }
  std::string File(const std::string& name, const std::string& text) {
    const std::string path = (folder_.folder() / name).string();
    std::ofstream(path) << text;
    return path;
  }
  void Start() {
    Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(options_);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
  }
  // What is said to a request with these options of curl: the status.
  std::string Ask(const std::string& curl = {}) {
    return Shell("curl -s -o /dev/null -w '%{http_code}' --max-time 20 " + curl + " http://" +
                 server_->http_address() + "/check");
  }
  std::string ErrorOf() {
    const auto server = RunningServer::Start(options_);
    return server.ok() ? "no error" : server.error().message;
  }
  // Reads until the server closes.
  static std::string ReadToTheEnd(net::TestClient& client) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!client.is_ended() && std::chrono::steady_clock::now() < end) {
      client.Receive();
      std::this_thread::yield();
    }
    EXPECT_TRUE(client.is_ended()) << "it is still open";
    return client.received();
  }
  net::TestClient Connect(const std::string& address) {
    return net::TestClient(net::Endpoint::Parse(address).value());
  }

  TemporaryFile folder_;
  ServeOptions options_;
  std::unique_ptr<RunningServer> server_;
};

// --- addresses
// ------------------------------------------------------------------------------------------

TEST_F(ServeOptionsConcurrentTest, AGatewaysHeaderNamesTheClient) {
  Start();
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.1'"), "200");
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.1'"), "429");
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.2'"), "200");
  EXPECT_EQ(Ask("-H 'Forwarded: for=203.0.113.3' -H 'X-Forwarded-For: 203.0.113.1'"), "429")
      << "the other header is the client's own invention";
}

TEST_F(ServeOptionsConcurrentTest, TheHeaderMayBeTheOneOfRfc7239OrNone) {
  options_.clients.forwarded = "forwarded";
  Start();
  EXPECT_EQ(Ask("-H 'Forwarded: for=203.0.113.1'"), "200");
  EXPECT_EQ(Ask("-H 'Forwarded: for=203.0.113.1' -H 'X-Forwarded-For: 203.0.113.2'"), "429");
  options_.clients.forwarded = "none";
  Start();
  EXPECT_EQ(Ask("-H 'Forwarded: for=203.0.113.1'"), "200");
  EXPECT_EQ(Ask("-H 'Forwarded: for=203.0.113.2'"), "429");
}

TEST_F(ServeOptionsConcurrentTest, ProxiesInFrontOfTheGatewaysArePassedOver) {
  Start();
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.1, 198.51.100.1'"), "200");
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.2, 198.51.100.1'"), "429");
  options_.clients.trusted_proxies = {"198.51.100.0/24"};
  Start();
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.1, 198.51.100.1'"), "200");
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.2, 198.51.100.1'"), "200");
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.2, 198.51.100.1'"), "429");
}

TEST_F(ServeOptionsConcurrentTest, HopsMayBeTrustedByTheirNumber) {
  options_.clients.gateways = {};
  Start();
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.1'"), "200");
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.2'"), "429") << "nobody is trusted";
  options_.clients.trusted_hops = 2;
  Start();
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.1, 198.51.100.1'"), "200");
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 203.0.113.2, 198.51.100.1'"), "200");
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 6.6.6.6, 203.0.113.2, 198.51.100.1'"), "429");
}

TEST_F(ServeOptionsConcurrentTest, AnIpv6ClientIsItsNetwork) {
  Start();
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 2001:db8:1::1'"), "200");
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 2001:db8:1::2'"), "429");
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 2001:db8:2::1'"), "200");
  Use("[{name: ip, by: [{ip: {v6: 32}}], limit: 1/h}]");
  Start();
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 2001:db8:1::1'"), "200");
  EXPECT_EQ(Ask("-H 'X-Forwarded-For: 2001:db8:2::1'"), "429");
}

// --- the PROXY protocol
// -----------------------------------------------------------------------------------------

TEST_F(ServeOptionsConcurrentTest, AProxyHeaderSaysForWhomAConnectionIs) {
  options_.connections.proxy_protocol = {"127.0.0.0/8"};
  Start();
  const auto ask = [&](const std::string& client) {
    net::TestClient connection = Connect(server_->http_address());
    connection.Send("PROXY TCP4 " + client + " 192.0.2.1 5000 80\r\n" +
                    "GET /check HTTP/1.1\r\nHost: weir\r\nX-Forwarded-For: 6.6.6.6\r\n"
                    "Connection: close\r\n\r\n");
    return ReadToTheEnd(connection);
  };
  EXPECT_THAT(ask("203.0.113.1"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask("203.0.113.1"), StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(ask("203.0.113.2"), StartsWith("HTTP/1.1 200"))
      << "the balancer is no gateway for whom it passes on";
  // curl says its own address: of a gateway, which is believed.
  EXPECT_EQ(Ask("--haproxy-protocol -H 'X-Forwarded-For: 203.0.113.3'"), "200");
  EXPECT_EQ(Ask("--haproxy-protocol -H 'X-Forwarded-For: 203.0.113.3'"), "429");
}

TEST_F(ServeOptionsConcurrentTest, WhoOwesAProxyHeaderAndSendsNoneIsCutOff) {
  options_.connections.proxy_protocol = {"127.0.0.0/8"};
  Start();
  EXPECT_EQ(Ask(), "000");
  net::TestClient redis = Connect(server_->resp_address());
  redis.Send("PING\r\n");
  EXPECT_EQ(ReadToTheEnd(redis), "");
  net::TestClient proxied = Connect(server_->resp_address());
  proxied.Send("PROXY UNKNOWN\r\nPING\r\nQUIT\r\n");
  EXPECT_EQ(ReadToTheEnd(proxied), "+PONG\r\n+OK\r\n");
}

TEST_F(ServeOptionsConcurrentTest, AProxyHeaderOfAnybodyElseIsNoRequest) {
  options_.connections.proxy_protocol = {"10.0.0.0/8"};
  Start();
  EXPECT_EQ(Ask(), "200");
  EXPECT_EQ(Ask("--haproxy-protocol"), "400");
}

// --- users
// ----------------------------------------------------------------------------------------------

TEST_F(ServeOptionsConcurrentTest, AnApiKeyProvesAUser) {
  Use("[{name: user, by: [user], limit: 1/h}]");
  options_.clients.api_keys =
      File("keys", "# keys\n\n" + rule::ApiKeys::Digest("the key of ann") + " ann\n  " +
                       rule::ApiKeys::Digest("the other key of ann") + "\tann\r\n" +
                       rule::ApiKeys::Digest("the key of bob") + " bob of sales \n");
  Start();
  EXPECT_EQ(Ask("-H 'X-API-Key: the key of ann'"), "200");
  EXPECT_EQ(Ask("-H 'X-API-Key: the other key of ann'"), "429");
  EXPECT_EQ(Ask("-H 'X-API-Key: the key of bob'"), "200");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Ask("-H 'X-API-Key: of nobody'"), "200") << "no user";
  options_.clients.api_key_header = "x-token";
  Start();
  EXPECT_EQ(Ask("-H 'X-Token: the key of ann'"), "200");
  EXPECT_EQ(Ask("-H 'X-Token: the key of ann'"), "429");
}

TEST_F(ServeOptionsConcurrentTest, ATokenProvesAUser) {
  Use("[{name: user, by: [user], limit: 1/h}]");
  const std::string secret(32, 's');
  const weir::testing::TokenSigner shared(secret);
  const weir::testing::TokenSigner issuer(rule::TokenAlgorithm::kEdDsa);
  options_.clients.token_keys = {"HS256=" + File("secret", secret + "\n"),
                                 "EdDSA/key-7=" + File("issuer.pem", issuer.Source("key-7").key)};
  options_.clients.token_claim = "name";
  options_.clients.token_issuer = "us";
  options_.clients.token_audience = "weir";
  Start();
  const auto ask = [&](const std::string& token) {
    return Ask("-H 'Authorization: Bearer " + token + "'");
  };
  const std::string ann = R"({"name":"ann","iss":"us","aud":"weir"})";
  EXPECT_EQ(ask(shared.Sign(ann)), "200");
  EXPECT_EQ(ask(shared.Sign(ann)), "429");
  EXPECT_EQ(ask(issuer.Sign(R"({"alg":"EdDSA","kid":"key-7"})", ann)), "429") << "the same user";
  for (const char* claims : {R"({"name":"bob","iss":"them","aud":"weir"})",
                             R"({"name":"bob","iss":"us","aud":"others"})",
                             R"({"name":"bob","iss":"us","aud":"weir","exp":1})"}) {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(ask(shared.Sign(claims)), "200") << "no user";
  }
}

// --- connections
// ----------------------------------------------------------------------------------------

TEST_F(ServeOptionsConcurrentTest, OneConnectionTooManyIsClosed) {
  options_.connections.most = 2;
  Start();
  net::TestClient first = Connect(server_->resp_address());
  net::TestClient second = Connect(server_->http_address());
  first.Send("PING\r\n");
  while (first.received().empty()) first.Receive();
  second.Send("GET /healthz HTTP/1.1\r\nHost: weir\r\n\r\n");
  while (second.received().empty()) second.Receive();
  net::TestClient third = Connect(server_->resp_address());
  EXPECT_EQ(ReadToTheEnd(third), "");
  first.Send("QUIT\r\n");
  EXPECT_EQ(ReadToTheEnd(first), "+PONG\r\n+OK\r\n");
  first.Close();
  // Its place is free as soon as the server has seen that it has gone.
  while (Shell("redis-cli -p " + PortOf(server_->resp_address()) + " PING") != "PONG\n") continue;
}

TEST_F(ServeOptionsConcurrentTest, OneConnectionTooManyOfAPeerIsClosed) {
  options_.connections.most_per_peer = 1;
  Start();
  net::TestClient first = Connect(server_->resp_address());
  first.Send("PING\r\n");
  while (first.received().empty()) first.Receive();
  net::TestClient second = Connect(server_->resp_address());
  EXPECT_EQ(ReadToTheEnd(second), "");
  EXPECT_NE(Shell("curl -s --interface 127.0.0.2 http://" + server_->http_address() + "/healthz"),
            "")
      << "another peer";
}

TEST_F(ServeOptionsConcurrentTest, WhoIsSilentForTooLongIsClosed) {
  options_.connections.idle_timeout = "200ms";
  Start();
  net::TestClient idle = Connect(server_->resp_address());
  idle.Send("PING\r\n");
  EXPECT_EQ(ReadToTheEnd(idle), "+PONG\r\n");
}

TEST_F(ServeOptionsConcurrentTest, ARequestThatTakesTooLongIsCutOff) {
  options_.connections.request_timeout = "200ms";
  Start();
  net::TestClient slow = Connect(server_->http_address());
  slow.Send("GET /healthz HTT");
  EXPECT_EQ(ReadToTheEnd(slow), "");
}

// --- mistakes
// -------------------------------------------------------------------------------------------

TEST_F(ServeOptionsConcurrentTest, AWrongValueIsNamedWithItsRemedy) {
  const ServeOptions right = options_;
  const auto error = [&](const auto& change) {
    options_ = right;
    change(options_);
    return ErrorOf();
  };
  EXPECT_EQ(error([](auto& o) { o.connections.idle_timeout = "soon"; }),
            "--idle-timeout: expected a time such as 10s or 5m, got 'soon'");
  EXPECT_EQ(error([](auto& o) { o.connections.request_timeout = "0s"; }),
            "--request-timeout: expected a time such as 10s or 5m, got '0s'");
  for (const char* wrong : {"soon", "-1s", "2h"}) {
    EXPECT_EQ(error([&](auto& o) { o.connections.drain_delay = wrong; }),
              std::string("--drain-delay: expected a time from 0s to 1h, got '") + wrong + "'");
  }
  EXPECT_EQ(error([](auto& o) { o.connections.proxy_protocol = {"lb"}; }),
            "--proxy-protocol: expected a network such as 10.0.0.0/8, got 'lb'");
  EXPECT_EQ(error([](auto& o) { o.clients.trusted_proxies = {"10.0.0.1/8"}; }),
            "--trusted-proxy: expected a network such as 10.0.0.0/8, got '10.0.0.1/8'");
  EXPECT_EQ(error([](auto& o) { o.clients.forwarded = "cf-connecting-ip"; }),
            "--forwarded: there is x-forwarded-for, forwarded and none, got 'cf-connecting-ip'");
  EXPECT_EQ(error([](auto& o) {
              o.clients.token_leeway = "-1s";
              o.clients.token_keys = {"HS256=/dev/null"};
            }),
            "--token-leeway: expected a time such as 60s, got '-1s'");
  EXPECT_THAT(error([](auto& o) { o.clients.token_keys = {"RS512=key.pem"}; }),
              HasSubstr("HS256, RS256, ES256 or EdDSA, got 'RS512=key.pem'"));
  EXPECT_THAT(error([](auto& o) { o.clients.token_keys = {"RS256"}; }),
              HasSubstr("expected ALGORITHM=FILE or ALGORITHM/ID=FILE"));
  EXPECT_THAT(error([](auto& o) { o.clients.token_keys = {"HS256=/dev/null"}; }),
              StartsWith("--token-key: "));
}

TEST_F(ServeOptionsConcurrentTest, AFileThatCannotBeReadIsNamedWithItsPlace) {
  const ServeOptions right = options_;
  const auto error = [&](const std::string& keys) {
    options_ = right;
    options_.clients.api_keys = keys;
    return ErrorOf();
  };
  const std::string missing = (folder_.folder() / "missing").string();
  EXPECT_EQ(error(missing), "--api-keys: cannot read " + missing + ": No such file or directory");
  EXPECT_EQ(error(folder_.folder().string()),
            "--api-keys: cannot read " + folder_.folder().string() + ": Is a directory");
  EXPECT_EQ(error(File("empty", "# none\n")),
            "--api-keys: there are no keys in " + (folder_.folder() / "empty").string());
  EXPECT_THAT(error(File("word", "# first\n\nann\n")), HasSubstr("/word:3: expected the SHA-256"));
  EXPECT_THAT(error(File("plain", "\nsecret ann\n")),
              HasSubstr("/plain:2: API key of user 'ann': give the SHA-256 of the key"));
  options_ = right;
  options_.clients.token_keys = {"RS256=" + missing};
  EXPECT_EQ(ErrorOf(), "--token-key: cannot read " + missing + ": No such file or directory");
}

TEST(ServeCommandLineTest, NumbersThatMakeNoSenseAreRefused) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--max-connections", "0"},
                                                {"--max-connections-per-peer", "many"},
                                                {"--trusted-hops", "33"},
                                                {"--threads", "-1"},
                                                {"--max-keys", "0"}}) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_NE(RunProgram({"serve", words[0], words[1]}, "1", {in, out, err}), 0);
    EXPECT_THAT(err.str(), HasSubstr(words[0] + ": Value " + words[1] + " not in range "));
  }
}

}  // namespace
}  // namespace weir
