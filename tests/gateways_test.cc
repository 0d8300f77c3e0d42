// Real gateways ask a real Weir, configured as our pages say. Each promise of docs/gateways is kept
// by each gateway, over TCP and over a Unix socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "rule/header_field.h"
#include "server/running_server.h"
#include "tests/echo_application.h"
#include "tests/gateway.h"
#include "tests/gateway_configurations.h"
#include "tests/shell.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Patience = GatewaySetup::Patience;
using WithoutWeir = GatewaySetup::WithoutWeir;

// Permits come back too slowly to be noticed, however slow the machine.
constexpr const char* kRules = R"(namespace: default
rules:
  - {name: orders, match: {path: /orders}, by: [ip], limit: 2/h}
  - {name: writes, match: {path: /writes, method: POST}, limit: 1/h}
  - {name: keyed, match: {path: /keyed}, by: [header.x-key], limit: 1/h}
  - {name: closed, match: {path: /closed}, limit: blocked, status: 503}
  - {name: gone, match: {path: /gone}, limit: blocked, exceed: drop}
  - {name: slow, match: {path: /slow}, limit: 1/h, exceed: delay 2h}
)";

enum class Transport : std::uint8_t { kTcp, kUnixSocket };

struct Combination {
  const char* name;
  std::vector<std::string> (*command)(const GatewaySetup& setup);
  Transport transport;
};

void PrintTo(const Combination& combination, std::ostream* out) { *out << combination.name; }

// Some gateways write the names of fields as they came, and some in lower case.
std::string WithLowerCaseFields(std::string answer) {
  bool in_name = false;
  for (std::size_t i = 0, head = answer.find("\r\n\r\n"); i < std::min(head, answer.size()); ++i) {
    if (answer[i] == '\n' || answer[i] == ':') in_name = answer[i] == '\n';
    if (in_name) answer[i] = rule::ToLower(answer[i]);
  }
  return answer;
}

class GatewayConcurrentTest : public testing::TestWithParam<Combination> {
 protected:
  void SetUp() override {
    std::ofstream(folder_.folder() / "rules.yaml") << kRules;
    ServeOptions options;
    options.http = GetParam().transport == Transport::kTcp
                       ? "127.0.0.1:0"
                       : "unix:" + (folder_.folder() / "weir.sock").string();
    options.grpc = "";
    options.admin = "";
    options.resp = "";
    options.rules = folder_.folder() / "rules.yaml";
    options.state = "memory";
    options.max_keys = 1000;
    options.threads = 1;
    // The clients of these tests call from other addresses of loopback, and are not believed.
    options.clients.gateways = {"127.0.0.1/32"};
    Result<std::unique_ptr<RunningServer>> weir = RunningServer::Start(options);
    ASSERT_TRUE(weir.ok()) << weir.error().message;
    weir_ = std::move(*weir);
  }
  void TearDown() override {
    if (HasFailure() && gateway_) std::cerr << "the gateway said:\n" << gateway_->log();
  }

  void StartGateway(WithoutWeir without_weir = WithoutWeir::kPass,
                    Patience patience = Patience::kAMinute) {
    // Between looking for a port and listening on it, somebody else may take it.
    for (int tries = 0; tries < 5 && !(gateway_ && gateway_->is_running()); ++tries) {
      const GatewaySetup setup{.folder = folder_.folder(),
                               .port = FreePort(),
                               .weir = weir_->http_address(),
                               .app = app_.address(),
                               .without_weir = without_weir,
                               .patience = patience};
      gateway_.emplace(GetParam().command(setup), setup.port, folder_.folder() / "log");
    }
    ASSERT_TRUE(gateway_->is_running());
  }
  void StopWeir() { weir_.reset(); }

  // Asks the gateway, as a client with that address.
  std::string Curl(const std::string& rest, const std::string& client = "127.0.0.2") {
    return WithLowerCaseFields(Shell("curl -s -i --max-time 100 --interface " + client +
                                     " http://127.0.0.1:" + std::to_string(gateway_->port()) +
                                     rest));
  }

  TemporaryFile folder_;
  EchoApplication app_;
  std::unique_ptr<RunningServer> weir_;
  std::optional<Gateway> gateway_;
};

const auto kPasses = AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("\r\n\r\n"));
const auto kIsRefused = StartsWith("HTTP/1.1 429 Too Many Requests\r\n");

TEST_P(GatewayConcurrentTest, WhatIsAllowedReachesTheApplicationAndWhatIsNotDoesNot) {
  StartGateway();
  EXPECT_THAT(Curl("/orders?page=1"), AllOf(kPasses, HasSubstr("GET /orders?page=1 HTTP/1.")));
  EXPECT_THAT(Curl("/orders"), kPasses);
  EXPECT_EQ(app_.requests(), 2);
  EXPECT_THAT(Curl("/orders"), AllOf(kIsRefused, Not(HasSubstr("GET /orders"))));
  EXPECT_EQ(app_.requests(), 2);
}

TEST_P(GatewayConcurrentTest, ClientsAreToldTheirLimitAndWhenToRetry) {
  StartGateway();
  EXPECT_THAT(Curl("/orders"), AllOf(HasSubstr("ratelimit: \"orders\";r=1;t="),
                                     HasSubstr("ratelimit-policy: \"orders\";q=2;w=3600\r\n"),
                                     Not(HasSubstr("retry-after"))));
  EXPECT_THAT(Curl("/orders"), HasSubstr("ratelimit: \"orders\";r=0;t="));
  EXPECT_THAT(Curl("/orders"),
              AllOf(HasSubstr("retry-after: "), HasSubstr("ratelimit: \"orders\";r=0;t="),
                    HasSubstr("ratelimit-policy: \"orders\";q=2;w=3600\r\n"),
                    HasSubstr("content-type: application/problem+json\r\n"),
                    HasSubstr("#quota-exceeded\"")));
}

TEST_P(GatewayConcurrentTest, EachPathAndMethodHasItsRules) {
  StartGateway();
  EXPECT_THAT(Curl("/writes -d a=b"), kPasses);
  EXPECT_THAT(Curl("/writes -d a=b"), kIsRefused);
  EXPECT_THAT(Curl("/writes"), kPasses);
  EXPECT_THAT(Curl("/other"), AllOf(kPasses, Not(HasSubstr("ratelimit"))));
  EXPECT_THAT(Curl("/keyed -H 'X-Key: a'"), kPasses);
  EXPECT_THAT(Curl("/keyed -H 'X-Key: a'"), kIsRefused);
  EXPECT_THAT(Curl("/keyed -H 'X-Key: b'"), kPasses);
}

TEST_P(GatewayConcurrentTest, WhatCountsIsWhoConnectsAndNotWhatItWrites) {
  StartGateway();
  const std::string lies =
      "/orders -H 'X-Forwarded-For: 203.0.113.7' -H 'Forwarded: for=203.0.113.7' "
      "-H 'X-Real-IP: 203.0.113.7' -H 'X-Forwarded-Uri: /other' -H 'X-Original-URI: /other' "
      "-H 'X-Original-URL: /other' -H 'X-Forwarded-Method: PUT' -H 'X-Original-Method: PUT' "
      "-H 'X-Weir-Cost: 0' -H 'X-Weir-Namespace: nobodys'";
  EXPECT_THAT(Curl("/orders"), kPasses);
  EXPECT_THAT(Curl(lies), kPasses);
  EXPECT_THAT(Curl(lies), kIsRefused);
  EXPECT_THAT(Curl("/orders", "127.0.0.3"), kPasses);
}

TEST_P(GatewayConcurrentTest, ABodyGoesToTheApplicationWhole) {
  StartGateway();
  EXPECT_THAT(Curl("/writes -d card=4242"),
              AllOf(kPasses, HasSubstr("POST /writes"), HasSubstr("\r\n\r\ncard=4242")));
  // Larger than any buffer on the way, and with the question that curl asks before it sends as
  // much.
  const std::string file = folder_.folder() / "upload";
  std::ofstream(file) << std::string(500'000, 'x') << "end";
  EXPECT_THAT(Curl("/other -H 'Expect: 100-continue' --data-binary @" + file), HasSubstr("xxend"));
}

TEST_P(GatewayConcurrentTest, ARefusalIsNoFailureWhateverItsStatus) {
  StartGateway(WithoutWeir::kPass);
  EXPECT_THAT(Curl("/closed"), AnyOf(kIsRefused, StartsWith("HTTP/1.1 503 ")));
  EXPECT_EQ(Curl("/gone --max-time 2"), "");
  // More fields than Weir reads: who sends them does not get around it.
  std::string fields;
  for (int i = 0; i < 97; ++i) fields += " -H 'X-" + std::to_string(i) + ": x'";
  EXPECT_THAT(Curl("/other" + fields),
              AnyOf(StartsWith("HTTP/1.1 4"), StartsWith("HTTP/1.1 503 ")));
  EXPECT_EQ(app_.requests(), 0);
}

TEST_P(GatewayConcurrentTest, WithoutWeirRequestsPass) {
  StartGateway(WithoutWeir::kPass);
  EXPECT_THAT(Curl("/orders"), HasSubstr("ratelimit: \"orders\";r=1"));
  StopWeir();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Curl("/orders -d still=here"), AllOf(kPasses, HasSubstr("still=here"))) << i;
  }
}

TEST_P(GatewayConcurrentTest, OrAreRefusedIfThatIsTheChoice) {
  StartGateway(WithoutWeir::kAreRefused);
  EXPECT_THAT(Curl("/orders"), kPasses);
  StopWeir();
  EXPECT_THAT(Curl("/orders"), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("retry-after: 1\r\n")));
  EXPECT_EQ(app_.requests(), 1);
}

// The first request takes what there is, and the others would have to wait for hours. A slow
// machine may need more than the gateway's patience for the first one too.
TEST_P(GatewayConcurrentTest, AWeirThatIsTooSlowIsAWeirThatIsDown) {
  StartGateway(WithoutWeir::kPass, Patience::kAsPrinted);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Curl("/slow"), kPasses) << i;
}

TEST_P(GatewayConcurrentTest, AndThenRequestsAreRefusedTooIfThatIsTheChoice) {
  StartGateway(WithoutWeir::kAreRefused, Patience::kAsPrinted);
  Curl("/slow");
  EXPECT_THAT(Curl("/slow"), StartsWith("HTTP/1.1 503 "));
}

std::string NameOf(const testing::TestParamInfo<Combination>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    All, GatewayConcurrentTest,
    testing::Values(Combination{"Nginx", NginxCommand, Transport::kTcp},
                    Combination{"NginxOverAUnixSocket", NginxCommand, Transport::kUnixSocket},
                    Combination{"Haproxy", HaproxyCommand, Transport::kTcp},
                    Combination{"HaproxyOverAUnixSocket", HaproxyCommand, Transport::kUnixSocket}),
    NameOf);

}  // namespace
}  // namespace weir
