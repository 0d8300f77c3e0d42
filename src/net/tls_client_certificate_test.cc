// Clients that must say who they are: whose certificate is asked for, believed, and allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/net_harness.h"
#include "tests/tls_files.h"
#include "tests/tls_test_client.h"

namespace weir::net {
namespace {

using testing::HasSubstr;

class TlsClientCertificateTest : public testing::TestWithParam<int> {
 protected:
  void Start(std::vector<std::string> names) {
    TlsOptions options = files_.options();
    options.client_ca = files_.ca();
    options.client_names = std::move(names);
    context_ = std::move(TlsContext::Open(options)).value();
    server_.emplace(ListenerOptions{.handlers =
                                        [this](const ConnectionFacts& facts) {
                                          told_.push_back(facts.client_name);
                                          return EchoLines()(facts);
                                        },
                                    .tls = context_.get()});
  }
  // Whether it is answered; if not, it was told why by TLS.
  bool IsAnswered(const TestCertificate& certificate, SSL_SESSION* ticket = nullptr) {
    TlsTestClient client(server_->endpoint(),
                         {.certificate = certificate, .version = GetParam(), .ticket = ticket});
    bool asked = false;
    EXPECT_TRUE(server_->TurnUntil([&] {
      client.Pump();
      if (client.is_shaken() && !std::exchange(asked, true)) client.Write("hello\n");
      return !client.received().empty() || client.socket().is_ended();
    }));
    if (client.received().empty()) error_ = client.error();
    resumed_ = client.is_resumed();
    client.SayFarewell();  // a session that is torn off is not gone on with
    ticket_ = client.Ticket();
    return client.received() == "hello\n";
  }
  [[nodiscard]] std::uint64_t Failed(HandshakeFailure failure) const {
    return server_->totals().failed_by(failure);
  }

  TlsFilesOfTest files_;
  std::unique_ptr<TlsContext> context_;
  std::optional<NetHarness> server_;
  std::vector<std::string> told_;  // names, of those who got a handler
  std::string error_;
  TlsTicket ticket_;  // of the last client
  bool resumed_ = false;
};

INSTANTIATE_TEST_SUITE_P(Versions, TlsClientCertificateTest,
                         testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

TEST_P(TlsClientCertificateTest, AnAllowedNameIsLetInAndTold) {
  Start({"other.example.com", "*.gateways.example.com"});
  EXPECT_TRUE(IsAnswered(
      files_.authority().Issue({.alternatives = "DNS:somebody,DNS:one.gateways.example.com"})));
  EXPECT_EQ(told_, std::vector<std::string>{"one.gateways.example.com"});
}

TEST_P(TlsClientCertificateTest, AnotherNameOfTheSameAuthorityIsNot) {
  Start({"gateway.example.com"});
  EXPECT_FALSE(IsAnswered(files_.authority().Issue({.alternatives = "DNS:intruder.example.com"})));
  EXPECT_THAT(error_, HasSubstr("alert"));
  EXPECT_EQ(Failed(HandshakeFailure::kClientName), 1U);
  // A common name counts only where there is no other, and this one is only a common name.
  EXPECT_FALSE(IsAnswered(files_.authority().Issue(
      {.common_name = "gateway.example.com", .alternatives = "DNS:intruder.example.com"})));
  EXPECT_TRUE(IsAnswered(files_.authority().Issue({.common_name = "gateway.example.com"})));
  EXPECT_EQ(told_, std::vector<std::string>{"gateway.example.com"});
}

TEST_P(TlsClientCertificateTest, WithoutNamesWhoeverIsVouchedForIsLetIn) {
  Start({});
  EXPECT_TRUE(IsAnswered(files_.authority().Issue({.alternatives = "URI:spiffe://mesh/a"})));
  EXPECT_EQ(told_, std::vector<std::string>{"spiffe://mesh/a"});
}

TEST_P(TlsClientCertificateTest, WhoHasNoneIsNotLetIn) {
  Start({});
  EXPECT_FALSE(IsAnswered({}));
  EXPECT_THAT(error_, HasSubstr("alert"));
  EXPECT_EQ(Failed(HandshakeFailure::kNoClientCertificate), 1U);
  EXPECT_TRUE(told_.empty());
}

TEST_P(TlsClientCertificateTest, ACertificateOfSomebodyElseOrOfThePastIsNotBelieved) {
  Start({});
  // The same name does not help.
  EXPECT_FALSE(IsAnswered(TestAuthority("test authority").Issue({.common_name = "gateway"})));
  EXPECT_FALSE(IsAnswered(files_.authority().Issue({.days_from_now = -1})));
  EXPECT_EQ(Failed(HandshakeFailure::kClientCertificate), 2U);
  EXPECT_TRUE(told_.empty());
}

TEST_P(TlsClientCertificateTest, WhoIsAllowedCanBeChangedWhileItRuns) {
  const TestAuthority next("next authority");
  Start({});
  const TestCertificate of_next = next.Issue({.common_name = "gateway"});
  EXPECT_FALSE(IsAnswered(of_next));
  WriteFile(files_.ca(), files_.authority().certificate() + next.certificate());
  ASSERT_FALSE(context_->Reload().has_value());
  EXPECT_TRUE(IsAnswered(of_next));
}

TEST_P(TlsClientCertificateTest, AnOldSessionGoesOnUnderTheSameName) {
  Start({"gateway"});
  const TestCertificate gateway = files_.authority().Issue({.common_name = "gateway"});
  EXPECT_TRUE(IsAnswered(gateway));
  EXPECT_FALSE(resumed_);
  EXPECT_TRUE(IsAnswered(gateway, TlsTicket(std::move(ticket_)).get()));
  EXPECT_TRUE(resumed_);
  EXPECT_EQ(told_, (std::vector<std::string>{"gateway", "gateway"}));
}

TEST_P(TlsClientCertificateTest, AnOldSessionDoesNotOutliveTheSettings) {
  Start({});
  const TestCertificate gateway = files_.authority().Issue({.common_name = "gateway"});
  EXPECT_TRUE(IsAnswered(gateway));
  // From now on others are believed, and nobody of before.
  const TestAuthority next("next authority");
  WriteFile(files_.ca(), next.certificate());
  ASSERT_FALSE(context_->Reload().has_value());
  EXPECT_FALSE(IsAnswered(gateway, TlsTicket(std::move(ticket_)).get()));
  EXPECT_FALSE(resumed_);
  EXPECT_EQ(Failed(HandshakeFailure::kClientCertificate), 1U);
}

}  // namespace
}  // namespace weir::net
