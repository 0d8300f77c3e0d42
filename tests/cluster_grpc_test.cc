// Clients that ask by descriptors, over gRPC or in JSON, of a host in a cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "frontend/grpc_session.h"
#include "frontend/handlers.h"
#include "frontend/http_session.h"
#include "tests/cluster_harness.h"
#include "tests/grpc_test_client.h"
#include "tests/net_harness.h"

namespace weir {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using testing::HasSubstr;
using testing::StartsWith;

class ClusterGrpcTest : public testing::Test {
 protected:
  ClusterGrpcTest() { hosts_[0].store.is_late = true; }

  ClusterSeat Seat() { return {.cluster = &hosts_[0].cluster, .waiter = &hosts_[0]}; }
  // All that was asked of the store is answered.
  void Answer() {
    while (hosts_[0].store.waiting() != 0) {
      hosts_[0].store.Deliver();
      hosts_.Settle();
    }
  }
  // Begins a call about one descriptor of one entry.
  std::int32_t Call(const std::string& key, const std::string& value, std::size_t padding = 0) {
    RateLimitRequest request;
    request.set_domain("shop");
    auto* entry = request.add_descriptors()->add_entries();
    entry->set_key(key);
    entry->set_value(value);
    std::string message = request.SerializeAsString();
    if (padding > 0) {  // a field that nobody knows
      const std::string unknown(padding, 'x');
      message += std::string("\xfa\x01", 2);
      for (std::size_t rest = padding; rest > 0; rest >>= 7) {
        message += static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0));
      }
      message += unknown;
    }
    return client_.Call(RateLimitMethod::kPath, message);
  }
  GrpcSession::Progress Exchange() {
    std::string out;
    const std::string bytes = client_.Bytes();
    const GrpcSession::Progress progress = session_->Serve(bytes, hosts_.now(), out);
    client_.Hear(out);
    hosts_.Settle();
    return progress;
  }
  GrpcSession::Progress Resume() {
    std::string out;
    const GrpcSession::Progress progress = session_->Resume(hosts_.now(), out);
    client_.Hear(out);
    hosts_.Settle();
    return progress;
  }
  // What a call was told: how many are left, or "over", or "nothing".
  std::string Told(std::int32_t id) {
    const GrpcHeard& heard = client_.heard(id);
    if (heard.frames == 0) return "nothing";
    if (heard.field("grpc-status") != "0") return "status " + heard.field("grpc-status");
    RateLimitResponse response;
    EXPECT_TRUE(response.ParseFromString(heard.messages().at(0)));
    return response.overall_code() == RateLimitResponse::OVER_LIMIT
               ? "over"
               : std::to_string(response.statuses(0).limit_remaining());
  }

  ClusterHarness hosts_{
      1,
      "- {name: shared, descriptor: [{key: user}], limit: fixed_window 2/h count_denied, "
      "cluster: strict}\n"
      "- {name: log, descriptor: [{key: log}], limit: sliding_log 2/h, cluster: strict}\n"
      "- {name: own, descriptor: [{key: host}], limit: fixed_window 2/h count_denied}"};
  GrpcOptions options_;
  std::unique_ptr<GrpcSession> session_ =
      std::make_unique<GrpcSession>(hosts_[0].checker, options_, Seat());
  GrpcTestClient client_;
};

TEST_F(ClusterGrpcTest, CallsOfOneReadAreAskedForInOneGoAndOthersAreAnsweredMeanwhile) {
  const std::int32_t first = Call("user", "ann");
  const std::int32_t own = Call("host", "x");
  const std::int32_t second = Call("user", "ann");
  const std::int32_t third = Call("user", "ann");
  EXPECT_EQ(Exchange().requests, 1U) << "those that are answered";
  EXPECT_TRUE(session_->is_waiting());
  EXPECT_EQ(hosts_[0].store.waiting(), 1U) << "one exchange for all three";
  EXPECT_EQ(Told(own), "1");
  EXPECT_EQ(Told(first), "nothing");
  EXPECT_EQ(Resume().requests, 0U) << "woken too early";
  const std::int32_t later = Call("host", "x");
  Exchange();
  EXPECT_EQ(Told(later), "0") << "the first was counted once";
  Answer();
  EXPECT_GE(hosts_[0].told, 1);
  const GrpcSession::Progress progress = Resume();
  EXPECT_EQ(progress.requests, 3U);
  EXPECT_FALSE(progress.close);
  EXPECT_FALSE(session_->is_waiting());
  EXPECT_EQ(Told(first), "1");
  EXPECT_EQ(Told(second), "0");
  EXPECT_EQ(Told(third), "over");
}

TEST_F(ClusterGrpcTest, ACallThatIsTakenBackIsForgottenAndTheOthersAreNot) {
  const std::int32_t gone = Call("log", "ann");
  const std::int32_t stays = Call("user", "bob");
  Exchange();
  client_.Reset(gone);
  Exchange();
  EXPECT_TRUE(session_->is_waiting());
  Answer();
  EXPECT_EQ(Resume().requests, 1U);
  EXPECT_FALSE(session_->is_waiting());
  EXPECT_EQ(Told(gone), "nothing");
  EXPECT_EQ(Told(stays), "1");
}

TEST_F(ClusterGrpcTest, WhoLeavesAnswersWhatIsUnderWay) {
  const std::int32_t call = Call("user", "ann");
  Exchange();
  session_->Leave();
  std::string out;
  session_->Write(out);
  client_.Hear(out);
  EXPECT_TRUE(client_.farewell().has_value());
  Answer();
  EXPECT_TRUE(Resume().close);
  EXPECT_EQ(Told(call), "1");
}

TEST_F(ClusterGrpcTest, AClientThatGoesLeavesNothingBehind) {
  Call("user", "ann");
  Call("log", "ann");
  Exchange();
  session_->Abandon(hosts_.now());
  session_.reset();
  Answer();
  EXPECT_EQ(hosts_[0].told, 0);
  hosts_.Use("- {name: other, descriptor: [{key: user}], limit: 1/h}");
  EXPECT_EQ(hosts_[0].checker.replaced_rules(), 0U);
}

TEST_F(ClusterGrpcTest, WhatWasAnsweredHoldsNoRules) {
  for (int i = 0; i < 5; ++i) Call("user", "ann" + std::to_string(i));
  Exchange();
  Answer();
  Resume();
  EXPECT_FALSE(session_->is_waiting());
  hosts_.Use("- {name: other, descriptor: [{key: user}], limit: 1/h}");
  EXPECT_EQ(hosts_[0].checker.replaced_rules(), 0U);
}

TEST_F(ClusterGrpcTest, MessagesThatWaitHaveABound) {
  std::vector<std::int32_t> calls;
  for (int i = 0; i < 5; ++i) {
    calls.push_back(Call("user", "ann" + std::to_string(i), 80'000));
    for (int round = 0; round < 20; ++round) Exchange();
  }
  EXPECT_EQ(Told(calls[2]), "nothing");
  EXPECT_EQ(Told(calls[3]), "status 8");
  EXPECT_EQ(Told(calls[4]), "status 8");
  Answer();
  EXPECT_EQ(Resume().requests, 3U);
  EXPECT_EQ(Told(calls[2]), "1");
}

TEST_F(ClusterGrpcTest, AMessageThatWaitsAloneMayBeLong) {
  const std::int32_t call = Call("user", "ann", 1'000'000);
  for (int round = 0; round < 20; ++round) Exchange();
  EXPECT_EQ(Told(call), "nothing");
  Answer();
  EXPECT_EQ(Resume().requests, 1U);
  EXPECT_EQ(Told(call), "1");
}

TEST_F(ClusterGrpcTest, JsonWaitsAsAnyOtherRequest) {
  const HttpOptions options;
  HttpSession session(hosts_[0].checker, options, std::nullopt, std::nullopt, Seat());
  const std::string body =
      R"({"domain":"shop","descriptors":[{"entries":[{"key":"user","value":"ann"}]},)"
      R"({"entries":[{"key":"host","value":"x"}]}]})";
  const std::string request =
      "POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  const auto ask = [&] {
    std::string out;
    EXPECT_EQ(session.Serve(request, hosts_.now(), out).then, HttpSession::Then::kWait);
    EXPECT_EQ(out, "");
    hosts_.Settle();
    EXPECT_EQ(session.Resume(hosts_.now(), out).then, HttpSession::Then::kWait) << "too early";
    Answer();
    EXPECT_EQ(session.Resume(hosts_.now(), out).then, HttpSession::Then::kGoOn);
    return out;
  };
  EXPECT_THAT(ask(), testing::AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("limitRemaining\":1")));
  EXPECT_THAT(ask(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(), StartsWith("HTTP/1.1 429"));
}

TEST_F(ClusterGrpcTest, AClientOfJsonMayGoWhileItWaits) {
  const HttpOptions options;
  HttpSession session(hosts_[0].checker, options, std::nullopt, std::nullopt, Seat());
  const std::string body =
      R"({"domain":"shop","descriptors":[{"entries":[{"key":"log","value":"ann"}]}]})";
  std::string out;
  session.Serve("POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
                    "\r\n\r\n" + body,
                hosts_.now(), out);
  session.Abandon(hosts_.now());
  hosts_.Settle();
  Answer();
  EXPECT_EQ(hosts_[0].told, 0);
}

// The same on a connection, which is woken.
class ClusterGrpcConnectionTest : public testing::Test {
 protected:
  ClusterGrpcConnectionTest() { hosts_[0].store.is_late = true; }

  std::int32_t Call(const std::string& key) {
    RateLimitRequest request;
    request.set_domain("shop");
    request.add_descriptors()->add_entries()->set_key(key);
    const std::int32_t id = client_.Call(RateLimitMethod::kPath, request.SerializeAsString());
    socket_.Send(client_.Bytes());
    server_.Settle();
    hosts_.Settle();
    return id;
  }
  // The store answers, and the server what waited for it.
  void Answer() {
    while (hosts_[0].store.waiting() != 0) {
      hosts_[0].store.Deliver();
      hosts_.Settle();
    }
    server_.Settle();
  }
  bool IsAnswered(std::int32_t id) {
    socket_.Receive();
    client_.Hear(std::string_view(socket_.received()).substr(heard_));
    heard_ = socket_.received().size();
    return client_.heard(id).field("grpc-status") == "0";
  }

  ClusterHarness hosts_{
      1,
      "- {name: shared, descriptor: [{key: user}], limit: fixed_window 2/h count_denied, "
      "cluster: strict}\n"
      "- {name: own, descriptor: [{key: host}], limit: fixed_window 2/h count_denied}"};
  GrpcOptions options_;
  Clusters clusters_ = {&hosts_[0].cluster};
  net::NetHarness server_{{.handlers = GrpcHandlers(hosts_[0].checker, options_, clusters_)}};
  net::TestClient socket_ = server_.Connect();
  GrpcTestClient client_;
  std::size_t heard_ = 0;
};

TEST_F(ClusterGrpcConnectionTest, ACallIsAnsweredWhenTheClusterHasAndOthersBefore) {
  const std::int32_t waits = Call("user");
  const std::int32_t own = Call("host");
  EXPECT_TRUE(server_.TurnUntil([&] { return IsAnswered(own); }));
  EXPECT_FALSE(IsAnswered(waits));
  Answer();
  EXPECT_TRUE(server_.TurnUntil([&] { return IsAnswered(waits); }));
}

TEST_F(ClusterGrpcConnectionTest, AServerThatStopsAnswersFirst) {
  const std::int32_t waits = Call("user");
  server_.worker().Stop(std::chrono::seconds(10));
  server_.Settle();
  EXPECT_FALSE(IsAnswered(waits));
  EXPECT_FALSE(socket_.is_ended());
  Answer();
  EXPECT_TRUE(server_.TurnUntilEnded(socket_));
  EXPECT_TRUE(IsAnswered(waits));
  EXPECT_TRUE(client_.farewell().has_value());
}

TEST_F(ClusterGrpcConnectionTest, AClientThatHangsUpIsForgotten) {
  Call("user");
  socket_.Close();
  EXPECT_TRUE(server_.TurnUntil([&] { return server_.totals().open_now() == 0; }));
  Answer();
}

}  // namespace
}  // namespace weir
