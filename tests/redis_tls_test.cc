// Redis behind TLS: a real one, with certificates that were made for the test.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "authority/redis_authority.h"
#include "authority/terms.h"
#include "net/loop.h"
#include "tests/redis_server.h"
#include "tests/tls_files.h"

namespace weir::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RedisTlsConcurrentTest : public testing::Test, public Replies {
 protected:
  void OnReply(Ticket /*ticket*/, const SyncReply& reply) override { replies_.push_back(reply); }

  // A Redis that asks its clients for a certificate, or does not.
  void Start(const std::string& asks_clients) {
    redis_ = std::make_unique<RedisServer>(std::vector<std::string>{
        "--tls-cert-file", files_.certificate(), "--tls-key-file", files_.key(),
        "--tls-ca-cert-file", files_.ca(), "--tls-auth-clients", asks_clients});
    endpoint_ = redis_->endpoint();
    do {  // the next that is free
      ASSERT_LT(++endpoint_.port, redis_->endpoint().port + 100);
    } while (redis_->Ask({"CONFIG", "SET", "tls-port", std::to_string(endpoint_.port)}) != "OK");
  }
  void Connect(const RedisTls& tls, Nanos patience = seconds(5)) {
    RedisOptions options;
    options.endpoints = {endpoint_};
    options.connection.tls = tls;
    options.connection.connect_patience = patience;
    options.connection.patience = seconds(20);  // no matter how busy the machine is
    options.connection.reconnect = {.first = milliseconds(5), .longest = milliseconds(20)};
    authority_ = std::make_unique<RedisAuthority>(loop_, options);
  }
  // Of so many requests for a permit of one key each, sent together: how many were executed.
  int Take(int requests) {
    std::vector<std::string> keys;
    for (int i = 0; i < requests; ++i) keys.push_back("key" + std::to_string(i));
    std::vector<SyncRequest> asked;
    for (const std::string& key : keys) asked.push_back({.key = key, .terms = &terms_, .take = 1});
    replies_.clear();
    authority_->Sync(asked, *this);
    const auto until = std::chrono::steady_clock::now() + seconds(20);
    while (replies_.size() < asked.size() && std::chrono::steady_clock::now() < until) {
      loop_.Turn(milliseconds(10));
    }
    EXPECT_EQ(replies_.size(), asked.size()) << authority_->problem();
    int done = 0;
    for (const SyncReply& reply : replies_) done += reply.outcome == Outcome::kDone ? 1 : 0;
    return done;
  }
  // That it is not reached, and why.
  void ExpectProblem(const std::string& reason) {
    EXPECT_EQ(Take(1), 0);
    EXPECT_NE(authority_->problem().find(reason), std::string::npos) << authority_->problem();
    EXPECT_NE(authority_->problem().find(endpoint_.ToString()), std::string::npos);
  }

  net::Loop loop_;
  TlsFilesOfTest files_;
  net::Endpoint endpoint_;
  std::unique_ptr<RedisServer> redis_;
  Terms terms_ = Terms::Of(Quota::PerSecond(5)).value();
  std::vector<SyncReply> replies_;
  std::unique_ptr<RedisAuthority> authority_;
};

TEST_F(RedisTlsConcurrentTest, ExchangesAreTheSame) {
  Start("no");
  Connect({.ca = files_.ca()});
  EXPECT_EQ(Take(1), 1) << authority_->problem();
  EXPECT_EQ(replies_[0].taken, 1U);
  EXPECT_EQ(replies_[0].tokens, 4);
}

// More than a socket takes at once, both ways, in records of all sizes.
TEST_F(RedisTlsConcurrentTest, ManyAtOnceAreAllAnswered) {
  Start("no");
  Connect({.ca = files_.ca()});
  EXPECT_EQ(Take(1), 1) << authority_->problem();
  EXPECT_EQ(Take(30'000), 30'000) << authority_->problem();
}

TEST_F(RedisTlsConcurrentTest, AServerOfAnotherAuthorityIsNotBelievedAndThatIsSaid) {
  Start("no");
  const TlsFilesOfTest others;
  Connect({.ca = others.ca()});
  ExpectProblem("its certificate is not believed");
}

TEST_F(RedisTlsConcurrentTest, TheCertificateHasToBeOfTheServerThatIsAsked) {
  Start("no");
  Connect({.ca = files_.ca(), .server_name = "elsewhere.example"});
  ExpectProblem("its certificate is not believed");
  Connect({.ca = files_.ca(), .server_name = "localhost"});
  EXPECT_EQ(Take(1), 1) << authority_->problem();
}

TEST_F(RedisTlsConcurrentTest, AServerThatAsksForACertificateGetsIt) {
  Start("yes");
  files_.IssueClient("weir", {.common_name = "weir"});
  Connect({.ca = files_.ca()});
  ExpectProblem("it may ask clients for a certificate, and none is configured");
  Connect(
      {.ca = files_.ca(), .certificate = files_.path("weir.crt"), .key = files_.path("weir.key")});
  EXPECT_EQ(Take(1), 1) << authority_->problem();
}

TEST_F(RedisTlsConcurrentTest, AFileThatIsNotThereIsNamed) {
  Start("no");
  Connect({.ca = files_.path("missing.crt")});
  ExpectProblem("missing.crt");
}

TEST_F(RedisTlsConcurrentTest, AServerWithoutTlsIsNotSpokenToInPlain) {
  Start("no");
  endpoint_ = redis_->endpoint();
  Connect({.ca = files_.ca()}, milliseconds(100));  // it waits for more of what it takes for words
  EXPECT_EQ(Take(1), 0);
  EXPECT_FALSE(authority_->problem().empty());
  EXPECT_EQ(redis_->Ask({"DBSIZE"}), "0");
}

TEST_F(RedisTlsConcurrentTest, AKilledServerIsFoundAgainWhenItIsBack) {
  Start("no");
  Connect({.ca = files_.ca()});
  EXPECT_EQ(Take(1), 1) << authority_->problem();
  redis_->Kill();
  EXPECT_EQ(Take(1), 0);
  redis_->Start();
  ASSERT_EQ(redis_->Ask({"CONFIG", "SET", "tls-port", std::to_string(endpoint_.port)}), "OK");
  int tries = 0;
  while (Take(1) == 0 && ++tries < 500) loop_.Turn(milliseconds(10));
  EXPECT_LT(tries, 500) << authority_->problem();
}

}  // namespace
}  // namespace weir::authority
