// TLS on a server with threads of its own, in real time: certificates are exchanged under load, and
// the client that commands use checks whom it talks to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "net/server.h"
#include "net/tls_client.h"
#include "net/tls_watch.h"
#include "tests/net_harness.h"
#include "tests/tls_files.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

std::string CommonNameOf(const X509& certificate) {
  std::array<char, 256> name{};
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(&certificate), NID_commonName,
                                             name.data(), name.size());
  return {name.data(), static_cast<std::size_t>(size)};
}

class TlsServerConcurrentTest : public testing::Test {
 protected:
  void Start(const TlsOptions& options) {
    context_ = std::move(TlsContext::Open(options)).value();
    server_ = std::move(Server::Start({.loops = 2}, {{.address = "tls:127.0.0.1:0",
                                                      .handlers = EchoLines(),
                                                      .tls = context_.get()}}))
                  .value();
  }
  [[nodiscard]] Endpoint endpoint() const { return server_->endpoints().front(); }
  [[nodiscard]] TlsClientOptions Believing() const { return {.ca = files_.ca()}; }

  // The name of the server that answered; else what went wrong.
  std::string Ask(const TlsClientOptions& options, const std::string& line = "hello\n") {
    const auto client = TlsClient::Connect(endpoint(), options);
    if (!client) return client.error().message;
    if (const auto error = (*client)->Send(line)) return error->message;
    std::string answer(line.size(), '\0');
    for (std::size_t got = 0; got < line.size();) {
      const Result<std::size_t> more = (*client)->Receive(std::span(answer).subspan(got));
      if (!more) return more.error().message;
      if (*more == 0) return "it has ended";
      got += *more;
    }
    return answer == line ? CommonNameOf((*client)->server_certificate()) : "another answer";
  }

  TlsFilesOfTest files_;
  std::unique_ptr<TlsContext> context_;
  std::unique_ptr<Server> server_;  // after what its connections use
};

TEST_F(TlsServerConcurrentTest, CertificatesAreExchangedUnderLoadWithoutAFailedRequest) {
  Start(files_.options());
  constexpr int kExchanges = 20;
  constexpr int kAnswersBetween = 100;
  std::atomic<int> exchanged = 0;
  std::atomic<int> answered = 0;
  std::atomic<int> newer = 0;  // answers by a certificate that came into use meanwhile
  {
    // Of each client one connection stays from before, and many come and go.
    std::vector<Result<std::unique_ptr<TlsClient>>> staying;
    for (int i = 0; i < 4; ++i) {
      staying.push_back(TlsClient::Connect(endpoint(), Believing()));
      ASSERT_TRUE(staying.back().ok()) << staying.back().error().message;
    }
    std::vector<std::jthread> clients;
    for (const auto& stays : staying) {
      clients.emplace_back([&] {
        std::array<char, 16> block{};
        for (bool last = false; !last;) {
          last = exchanged == kExchanges || HasFailure();
          const std::string name = Ask(Believing());
          ASSERT_THAT(name, testing::StartsWith("server"));
          if (name != "server") ++newer;
          ASSERT_FALSE((*stays)->Send("still\n").has_value());
          const Result<std::size_t> got = (*stays)->Receive(block);
          ASSERT_TRUE(got.ok() && *got == 6);
          answered += 2;
        }
        EXPECT_EQ(CommonNameOf((*stays)->server_certificate()), "server");
      });
    }
    for (int i = 1; i <= kExchanges; ++i) {
      const int then = answered;
      files_.Exchange("server" + std::to_string(i));
      ASSERT_FALSE(context_->Reload().has_value());
      // Under load: the next comes when requests have been answered since.
      while (answered < then + kAnswersBetween && !HasFailure()) std::this_thread::yield();
      ++exchanged;
    }
  }
  EXPECT_GE(answered, kExchanges * kAnswersBetween);
  EXPECT_GT(newer, 0);
  EXPECT_EQ(Ask(Believing()), "server" + std::to_string(kExchanges));
  EXPECT_EQ(context_->status().exchanged, std::uint64_t{kExchanges});
  const Totals totals = server_->totals();
  for (std::size_t i = 0; i < kHandshakeFailures; ++i) {
    EXPECT_EQ(totals.handshake_failures[i], 0U) << NameOf(static_cast<HandshakeFailure>(i));
  }
}

TEST_F(TlsServerConcurrentTest, ABrokenFileKeepsTheOldCertificateAndItsMendingIsNoticed) {
  Start(files_.options());
  const TlsWatch watch(*context_, milliseconds(1));
  const auto await = [](const std::function<bool()>& is_so) {
    for (int i = 0; i < 30'000 && !is_so(); ++i) std::this_thread::sleep_for(milliseconds(1));
    return is_so();
  };
  WriteFile(files_.certificate(), "not a certificate");
  ASSERT_TRUE(await([&] { return context_->status().failures > 0; }));
  EXPECT_EQ(Ask(Believing()), "server");
  files_.Exchange("mended");
  ASSERT_TRUE(await([&] { return context_->status().exchanged == 1; }));
  EXPECT_EQ(Ask(Believing()), "mended");
}

TEST_F(TlsServerConcurrentTest, LongLinesGoThroughInBothDirections) {
  Start(files_.options());
  EXPECT_EQ(Ask(Believing(), std::string(500'000, 'x') + "\n"), "server");
}

TEST_F(TlsServerConcurrentTest, AClientBelievesOnlyWhomItShould) {
  Start(files_.options());
  EXPECT_EQ(Ask(Believing()), "server");
  TlsClientOptions options = Believing();
  options.server_name = "localhost";
  EXPECT_EQ(Ask(options), "server");
  options.server_name = "weir.example.com";
  EXPECT_THAT(Ask(options), HasSubstr("its certificate is not believed: hostname mismatch"));
  options = Believing();
  options.server_name = "127.0.0.2";
  EXPECT_THAT(Ask(options), HasSubstr("its certificate is not believed: IP address mismatch"));
  EXPECT_THAT(Ask({}), HasSubstr("its certificate is not believed: "));  // the system knows none
  const TestAuthority another("another authority");
  WriteFile(files_.path("other.crt"), another.certificate());
  EXPECT_THAT(Ask({.ca = files_.path("other.crt")}), HasSubstr("is not believed"));
  EXPECT_THAT(Ask({.ca = files_.path("nowhere")}), HasSubstr("there are no certificates in it"));
}

TEST_F(TlsServerConcurrentTest, AClientShowsItsCertificateToAServerThatAsks) {
  TlsOptions options = files_.options();
  options.client_ca = files_.ca();
  options.client_names = {"weir-cli"};
  Start(options);
  files_.IssueClient("good", {.common_name = "weir-cli"});
  files_.IssueClient("bad", {.common_name = "somebody"});
  TlsClientOptions client = Believing();
  EXPECT_THAT(Ask(client), HasSubstr("alert"));
  client.certificate = files_.path("bad.crt");
  client.key = files_.path("bad.key");
  EXPECT_THAT(Ask(client), HasSubstr("alert"));
  client.certificate = files_.path("good.crt");
  client.key = files_.path("good.key");
  EXPECT_EQ(Ask(client), "server");
}

TEST_F(TlsServerConcurrentTest, AClientDoesNotWaitForeverAndSaysWhoDoesNotAnswer) {
  // A server that takes connections and never says a word.
  const auto silent = Server::Start({}, {{.address = "127.0.0.1:0", .handlers = EchoLines()}});
  const Endpoint endpoint = (*silent)->endpoints().front();
  const auto client = TlsClient::Connect(endpoint, {.timeout = milliseconds(50)});
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().message,
            endpoint.ToString() + ": no TLS: the server does not answer in time");
}

TEST_F(TlsServerConcurrentTest, ATlsPlaceWithoutACertificateIsRefused) {
  const auto server = Server::Start({}, {{.address = "tls:127.0.0.1:0", .handlers = Echo()}});
  ASSERT_FALSE(server.ok());
  EXPECT_THAT(server.error().message, HasSubstr("without a certificate"));
}

}  // namespace
}  // namespace weir::net
