// TLS on every port of the whole server, with the clients that people use: curl, redis-cli, gRPC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/tls_client.h"
#include "server/running_server.h"
#include "tests/shell.h"
#include "tests/temporary_file.h"
#include "tests/tls_files.h"

namespace weir {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class TlsConcurrentTest : public testing::Test {
 protected:
  ServeOptions Options() {
    ServeOptions options;
    options.http = options.resp = options.grpc = options.admin = "tls:127.0.0.1:0";
    options.state = folder_.path();
    options.max_keys = 10'000;
    options.threads = 2;
    options.tls = files_.options();
    return options;
  }
  void Start(const ServeOptions& options) {
    Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
  }
  static std::string WhyNot(const ServeOptions& options) {
    const auto server = RunningServer::Start(options);
    return server.ok() ? "it started" : server.error().message;
  }

  std::string Curl(const std::string& rest, const std::string& options = "") {
    return Shell("curl -sS -i --max-time 20 --cacert " + files_.ca() + " " + options +
                 " https://127.0.0.1:" + PortOf(server_->http_address()) + rest);
  }
  std::string Redis(const std::string& command, const std::string& options = "") {
    return Shell("redis-cli --tls --cacert " + files_.ca() + " " + options + " -p " +
                 PortOf(server_->resp_address()) + " " + command);
  }
  std::string Grpc(const std::string& command, const std::string& environment = "") {
    return Shell("CA=" + files_.ca() + " " + environment +
                 " /usr/bin/python3 " WEIR_SOURCE_DIR "/tests/grpc_client.py 127.0.0.1:" +
                 PortOf(server_->grpc_address()) + " " + command);
  }
  // The certificate of a client: for curl and redis-cli, and in the environment.
  [[nodiscard]] std::string As(const std::string& name) const {
    return "--cert " + files_.path(name + ".crt") + " --key " + files_.path(name + ".key");
  }
  [[nodiscard]] std::string GrpcAs(const std::string& name) const {
    return "CERTIFICATE=" + files_.path(name + ".crt") + " KEY=" + files_.path(name + ".key");
  }

  TemporaryFile folder_;
  TlsFilesOfTest files_;
  std::unique_ptr<RunningServer> server_;
};

const std::string kHealth = "call grpc.health.v1.Health/Check";

TEST_F(TlsConcurrentTest, EveryProtocolIsServedEncrypted) {
  Start(Options());
  EXPECT_THAT(server_->Banner(), HasSubstr("HTTP   on tls:127.0.0.1:"));
  EXPECT_THAT(server_->Banner(), HasSubstr("curl -i https://127.0.0.1:"));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Curl("/check/hello"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(Curl("/check/hello"), StartsWith("HTTP/1.1 429 Too Many Requests"));
  EXPECT_THAT(Curl("/readyz", "--tlsv1.2 --tls-max 1.2"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(Redis("PING"), "PONG\n");
  EXPECT_THAT(Redis("CL.THROTTLE user 1 1 3600"), StartsWith("0\n2\n1\n"));
  EXPECT_THAT(Grpc(kHealth), HasSubstr("SERVING"));
  // Nobody has a token here: the admin API answers, and says no.
  EXPECT_THAT(Shell("curl -sS -i --cacert " + files_.ca() +
                    " https://127.0.0.1:" + PortOf(server_->admin_address()) + "/v1/status"),
              StartsWith("HTTP/1.1 40"));
}

TEST_F(TlsConcurrentTest, AnAdminPortIsNotOpenedToOthersInPlainText) {
  ServeOptions options = Options();
  options.admin = "0.0.0.0:0";
  EXPECT_THAT(WhyNot(options), HasSubstr("--admin 0.0.0.0:0: would be open to other hosts in plain "
                                         "text; write tls:0.0.0.0:0"));
  options.admin = "tls:0.0.0.0:0";
  EXPECT_EQ(WhyNot(options), "it started");
  // Also where nothing else is encrypted.
  options.http = options.resp = options.grpc = "";
  EXPECT_EQ(WhyNot(options), "it started");
}

TEST_F(TlsConcurrentTest, WhoSpeaksInPlainTextIsNotAnswered) {
  Start(Options());
  EXPECT_THAT(Shell("curl -sS --max-time 20 http://127.0.0.1:" + PortOf(server_->http_address()) +
                    "/check/hello"),
              Not(HasSubstr("HTTP/1.1 200")));
  EXPECT_THAT(Shell("redis-cli -p " + PortOf(server_->resp_address()) + " PING"),
              Not(HasSubstr("PONG")));
  EXPECT_THAT(Curl("/metrics"),
              HasSubstr("weir_tls_handshake_failures_total{reason=\"not_tls\"} 2\n"));
}

TEST_F(TlsConcurrentTest, OldVersionsAndWeakCiphersAreRefused) {
  Start(Options());
  const std::string port = PortOf(server_->http_address());
  const auto shakes = [&](const std::string& how) {
    const std::string said = Shell("openssl s_client -connect 127.0.0.1:" + port + " -CAfile " +
                                   files_.ca() + " " + how + " </dev/null");
    EXPECT_THAT(said, HasSubstr("Cipher is "));
    return said.find("Cipher is (NONE)") == std::string::npos;
  };
  EXPECT_TRUE(shakes("-tls1_3"));
  EXPECT_TRUE(shakes("-tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256"));
  EXPECT_FALSE(shakes("-tls1_1 -cipher ALL:@SECLEVEL=0"));
  EXPECT_FALSE(shakes("-tls1_2 -cipher ECDHE-ECDSA-AES128-SHA"));  // CBC
  EXPECT_FALSE(shakes("-tls1_2 -cipher AES128-GCM-SHA256"));       // no forward secrecy
}

TEST_F(TlsConcurrentTest, OnlyAllowedClientsAreLetInToAnyProtocol) {
  ServeOptions options = Options();
  options.tls.client_ca = files_.ca();
  options.tls.client_names = {"*.gateways.example.com"};
  files_.IssueClient("good", {.alternatives = "DNS:one.gateways.example.com"});
  files_.IssueClient("bad", {.alternatives = "DNS:one.example.com"});
  Start(options);
  EXPECT_THAT(Curl("/readyz", As("good")), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(Redis("PING", As("good")), "PONG\n");
  EXPECT_THAT(Grpc(kHealth, GrpcAs("good")), HasSubstr("SERVING"));
  for (const std::string& who : {As("bad"), std::string()}) {
    EXPECT_THAT(Curl("/readyz", who), Not(HasSubstr("HTTP/1.1"))) << who;
    EXPECT_THAT(Redis("PING", who), Not(HasSubstr("PONG"))) << who;
  }
  EXPECT_THAT(Grpc(kHealth, GrpcAs("bad")), Not(HasSubstr("SERVING")));
  const std::string page = Curl("/metrics", As("good"));
  EXPECT_THAT(page, HasSubstr("weir_tls_handshake_failures_total{reason=\"client_name\"}"));
  EXPECT_THAT(page, Not(HasSubstr("{reason=\"client_name\"} 0\n")));
  EXPECT_THAT(page, Not(HasSubstr("{reason=\"no_client_certificate\"} 0\n")));
}

TEST_F(TlsConcurrentTest, ReloadExchangesTheCertificateWithoutAFailedRequest) {
  Start(Options());
  const net::Endpoint http = net::Endpoint::Parse(server_->http_address()).value();
  std::atomic<bool> enough = false;
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 3; ++i) {
      clients.emplace_back([&] {
        while (!enough) {
          const auto client = net::TlsClient::Connect(http, {.ca = files_.ca()});
          ASSERT_TRUE(client.ok()) << client.error().message;
          ASSERT_FALSE((*client)->Send("GET /readyz HTTP/1.1\r\nHost: weir\r\n\r\n").has_value());
          std::string answer(512, '\0');
          const Result<std::size_t> got = (*client)->Receive(answer);
          ASSERT_TRUE(got.ok()) << got.error().message;
          ASSERT_THAT(answer, StartsWith("HTTP/1.1 200"));
          ++answered;
        }
      });
    }
    for (int i = 0; i < 10 && !HasFailure(); ++i) {
      files_.Exchange("exchange " + std::to_string(i));
      EXPECT_THAT(server_->Reload(), IsEmpty());
      for (const int then = answered; answered < then + 100 && !HasFailure();) {
        std::this_thread::yield();
      }
    }
    enough = true;
  }
  EXPECT_GE(answered, 1000);
  EXPECT_THAT(Curl("/readyz", "-v"), HasSubstr("CN=exchange 9"));
}

TEST_F(TlsConcurrentTest, WhatCannotBeReloadedIsSaidAndTheOldOneStays) {
  Start(Options());
  WriteFile(files_.key(), "no key");
  EXPECT_THAT(server_->Reload(), Contains(HasSubstr("server.key: there is no key in it")));
  EXPECT_THAT(Curl("/readyz", "-v"), HasSubstr("CN=server"));
}

TEST_F(TlsConcurrentTest, TheEndOfTheCertificateIsAMetric) {
  Start(Options());
  const std::string page = Curl("/metrics");
  const std::string name = "\nweir_tls_certificate_expiry_seconds ";
  ASSERT_THAT(page, HasSubstr(name));
  const double end = std::stod(page.substr(page.find(name) + name.size()));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double days = (end - std::chrono::duration<double>(now).count()) / 86400;
  EXPECT_GT(days, 29);
  EXPECT_LT(days, 31);
  EXPECT_THAT(page, HasSubstr("\nweir_tls_certificate_exchanges_total 0\n"));
}

TEST_F(TlsConcurrentTest, WithoutTlsThereAreNoMetricsOfIt) {
  ServeOptions options = Options();
  options.tls = {};
  options.http = "127.0.0.1:0";
  options.resp = options.grpc = options.admin = "";
  Start(options);
  EXPECT_THAT(Shell("curl -s http://" + server_->http_address() + "/metrics"),
              Not(HasSubstr("weir_tls_")));
}

TEST_F(TlsConcurrentTest, OptionsThatContradictEachOtherAreRefusedWithTheRemedy) {
  ServeOptions options = Options();
  options.tls = {};
  EXPECT_EQ(WhyNot(options),
            "--http tls:127.0.0.1:0: there is no certificate; give --tls-certificate FILE and "
            "--tls-key FILE");
  options = Options();
  options.tls.key = "";
  EXPECT_THAT(WhyNot(options), HasSubstr("give --tls-key FILE"));
  options = Options();
  options.tls.certificate = "";
  EXPECT_THAT(WhyNot(options), HasSubstr("give --tls-certificate FILE"));
  options = Options();
  options.tls.client_names = {"gateway"};
  EXPECT_THAT(WhyNot(options), HasSubstr("give --tls-client-ca FILE"));
  options = Options();
  options.http = options.resp = options.grpc = options.admin = "127.0.0.1:0";
  EXPECT_THAT(WhyNot(options), HasSubstr("nothing listens with TLS"));
}

}  // namespace
}  // namespace weir
