// Connections with TLS: the handshake, and that everything else is as it is without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/net_harness.h"
#include "tests/tls_files.h"
#include "tests/tls_test_client.h"

namespace weir::net {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class TlsConnectionTest : public testing::Test {
 protected:
  ListenerOptions Options(HandlerFactory handlers = EchoLines()) {
    context_ = std::move(TlsContext::Open(options_)).value();
    return {.handlers = std::move(handlers), .tls = context_.get()};
  }
  static bool TurnUntil(NetHarness& server, TlsTestClient& client,
                        const std::function<bool()>& is_so) {
    return server.TurnUntil([&] {
      client.Pump();
      return is_so();
    });
  }
  static bool Shake(NetHarness& server, TlsTestClient& client) {
    return TurnUntil(server, client, [&] { return client.is_shaken(); });
  }
  static bool TurnUntilReceived(NetHarness& server, TlsTestClient& client, std::string_view all) {
    return TurnUntil(server, client, [&] { return client.received().size() >= all.size(); }) &&
           client.received() == all;
  }
  static bool TurnUntilEnded(NetHarness& server, TlsTestClient& client) {
    return TurnUntil(server, client, [&] { return client.socket().is_ended(); });
  }

  TlsFilesOfTest files_;
  TlsOptions options_ = files_.options();
  std::unique_ptr<TlsContext> context_;
};

TEST_F(TlsConnectionTest, EchoesInEveryVersionThatIsGood) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    NetHarness server(Options());
    TlsTestClient client(server.endpoint(),
                         {.ca = files_.authority().certificate(), .version = version});
    ASSERT_TRUE(Shake(server, client)) << client.error();
    client.Write("hello\n");
    EXPECT_TRUE(TurnUntilReceived(server, client, "hello\n"));
    client.Write("again\n");
    EXPECT_TRUE(TurnUntilReceived(server, client, "hello\nagain\n"));
    EXPECT_EQ(client.version(), version == TLS1_2_VERSION ? "TLSv1.2" : "TLSv1.3");
    EXPECT_EQ(server.totals().handshakes, 1U);
    EXPECT_EQ(server.totals().bytes_in, 12U);  // plain bytes: those that were meant
  }
}

TEST_F(TlsConnectionTest, OlderVersionsAreRefused) {
  NetHarness server(Options());
  TlsTestClient client(server.endpoint(), {.version = TLS1_1_VERSION});
  ASSERT_TRUE(TurnUntilEnded(server, client));
  EXPECT_FALSE(client.is_shaken());
  EXPECT_THAT(client.error(), HasSubstr("alert"));  // it is told, not only hung up on
  EXPECT_EQ(server.totals().failed_by(HandshakeFailure::kNothingInCommon), 1U);
  client.socket().Close();
  EXPECT_TRUE(server.TurnUntil([&] { return server.closed_by(Ending::kBadHandshake) == 1; }));
  EXPECT_EQ(server.totals().handshakes, 0U);
}

TEST_F(TlsConnectionTest, PlainBytesAreNoHandshake) {
  for (const char* text : {"GET / HTTP/1.1\r\nHost: weir\r\n\r\n", "*1\r\n$4\r\nPING\r\n",
                           "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}) {
    NetHarness server(Options());
    TestClient client = server.Connect();
    client.Send(text);
    EXPECT_TRUE(server.TurnUntilEnded(client));
    EXPECT_THAT(client.received(), testing::Not(HasSubstr("HTTP")));
    EXPECT_EQ(server.totals().failed_by(HandshakeFailure::kNotTls), 1U) << text;
    client.Close();
    EXPECT_TRUE(server.TurnUntil([&] { return server.totals().open_now() == 0; }));
  }
}

TEST_F(TlsConnectionTest, ARequestThatComesByteByByteIsAnsweredOnce) {
  NetHarness server(Options());
  TlsTestClient client(server.endpoint());
  const auto trickle = [&] {
    while (client.Send(1) > 0) server.Settle();
    client.Receive();
  };
  for (int i = 0; i < 4; ++i) trickle();
  ASSERT_TRUE(client.is_shaken()) << client.error();
  client.Write("one byte at a time\n");
  trickle();
  EXPECT_TRUE(TurnUntilReceived(server, client, "one byte at a time\n"));
}

TEST_F(TlsConnectionTest, WhatComesInOneReadWithTheHandshakeIsNotForgotten) {
  NetHarness server(Options());
  TlsTestClient client(server.endpoint());
  client.Pump();
  ASSERT_TRUE(server.TurnUntil([&] {
    client.Receive();
    return client.is_shaken();
  }));
  // Its last word of the handshake has not been sent: the request goes with it.
  client.Write("together\n");
  client.Send();
  EXPECT_TRUE(TurnUntilReceived(server, client, "together\n"));
}

TEST_F(TlsConnectionTest, AVeryLongPipelineIsAnsweredToItsEnd) {
  NetHarness server(Options());
  TlsTestClient client(server.endpoint());
  ASSERT_TRUE(Shake(server, client));
  // Many records of 16 KiB, more than is read at once: what is decrypted and not yet handled is
  // nothing that the kernel tells of.
  std::string pipeline;
  for (int i = 0; pipeline.size() < (1U << 20); ++i) {
    pipeline += "request " + std::to_string(i) + "\n";
  }
  client.Write(pipeline);
  EXPECT_TRUE(TurnUntilReceived(server, client, pipeline));
}

TEST_F(TlsConnectionTest, ManySmallRecordsAreOneCall) {
  int calls = 0;
  NetHarness server(Options(Scripted(
      {.on_bytes = [&](std::string_view unread, Connection&, std::string& out) -> Progress {
        ++calls;
        out += unread;
        return {.consumed = unread.size()};
      }})));
  TlsTestClient client(server.endpoint());
  ASSERT_TRUE(Shake(server, client));
  std::string all;
  for (int i = 0; i < 200; ++i) {
    client.Write("record\n");
    all += "record\n";
  }
  client.Send();
  EXPECT_TRUE(TurnUntilReceived(server, client, all));
  EXPECT_LE(calls, 2);  // the kernel may have had the bytes in two pieces
}

TEST_F(TlsConnectionTest, APeerThatDoesNotReadIsNotReadFromAndGetsEverythingInTheEnd) {
  NetHarness server(Options(Echo()));
  TlsTestClient deaf(server.endpoint(), {}, 4096);
  ASSERT_TRUE(Shake(server, deaf));
  std::string sent;
  const std::string piece(64 << 10, 'x');
  for (int quiet = 0; quiet < 3;) {
    const std::uint64_t before = server.totals().bytes_in;
    deaf.Write(piece);
    sent += piece;
    deaf.Send();
    server.Settle();
    quiet = server.totals().bytes_in == before ? quiet + 1 : 0;
    ASSERT_LT(sent.size(), 64U << 20);
  }
  EXPECT_LT(server.totals().bytes_in, sent.size());
  EXPECT_TRUE(TurnUntilReceived(server, deaf, sent));
}

TEST_F(TlsConnectionTest, AClientThatOnlyClosesItsSideGetsItsAnswer) {
  for (const bool closes_socket_too : {false, true}) {
    NetHarness server(Options());
    TlsTestClient client(server.endpoint());
    ASSERT_TRUE(Shake(server, client));
    client.Write("question\n");
    client.SayFarewell();
    client.Send();
    if (closes_socket_too) client.socket().HalfClose();
    ASSERT_TRUE(TurnUntilEnded(server, client));
    EXPECT_EQ(client.received(), "question\n");
    EXPECT_TRUE(client.is_told_farewell());
    EXPECT_EQ(server.closed_by(Ending::kPeerClosed), 1U);
  }
}

TEST_F(TlsConnectionTest, WhoHangsUpWithoutAWordHasClosedToo) {
  NetHarness server(Options());
  TlsTestClient client(server.endpoint());
  ASSERT_TRUE(Shake(server, client));
  client.socket().Close();
  EXPECT_TRUE(server.TurnUntil([&] { return server.closed_by(Ending::kPeerClosed) == 1; }));
}

TEST_F(TlsConnectionTest, WhatWasWrittenIsSentBeforeItIsClosedWithAGoodbye) {
  NetHarness server(Options(
      Scripted({.on_bytes = [](std::string_view unread, Connection&, std::string& out) -> Progress {
        out.assign(4 << 20, 'x');
        return {.consumed = unread.size(), .next = Next::kClose};
      }})));
  TlsTestClient client(server.endpoint());
  ASSERT_TRUE(Shake(server, client));
  client.Write("go");
  ASSERT_TRUE(TurnUntilEnded(server, client));
  EXPECT_EQ(client.received().size(), 4U << 20);
  EXPECT_TRUE(client.is_told_farewell());
  EXPECT_FALSE(client.socket().is_reset());
}

TEST_F(TlsConnectionTest, DamagedRecordsEndTheConnectionAndNoOther) {
  NetHarness server(Options());
  TlsTestClient other(server.endpoint());
  ASSERT_TRUE(Shake(server, other));
  TlsTestClient client(server.endpoint());
  ASSERT_TRUE(Shake(server, client));
  client.socket().Send(std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x'));
  EXPECT_TRUE(TurnUntilEnded(server, client));
  EXPECT_EQ(server.closed_by(Ending::kPeerLost), 1U);
  other.Write("still here\n");
  EXPECT_TRUE(TurnUntilReceived(server, other, "still here\n"));
}

TEST_F(TlsConnectionTest, AHandshakeThatIsLateIsTooLate) {
  ListenerOptions options = Options();
  options.limits.request = seconds(5);
  NetHarness server(options);
  const TestClient silent = server.Connect();
  TlsTestClient slow(server.endpoint());
  slow.Receive();
  slow.Send(20);  // some of its first word
  server.Settle();
  server.Advance(seconds(5) - Nanos(1));
  EXPECT_EQ(server.totals().open_now(), 2U);
  server.Advance(2 * Deadlines::kTick);
  EXPECT_EQ(server.closed_by(Ending::kSlowHandshake), 2U);
}

TEST_F(TlsConnectionTest, ARecordThatTricklesIsASlowRequestAndSilenceIsNot) {
  ListenerOptions options = Options();
  options.limits.request = seconds(5);
  NetHarness server(options);
  TlsTestClient slow(server.endpoint());
  TlsTestClient silent(server.endpoint());
  ASSERT_TRUE(Shake(server, slow));
  ASSERT_TRUE(Shake(server, silent));
  server.Settle();
  slow.Write("hello\n");
  for (int i = 0; i < 5; ++i) {  // the header of a record, and not a byte more
    slow.Send(1);
    server.Settle();
  }
  server.Advance(seconds(5) + 2 * Deadlines::kTick);
  EXPECT_EQ(server.closed_by(Ending::kSlowRequest), 1U);
  EXPECT_EQ(server.totals().open_now(), 1U);
  silent.Write("hello\n");
  EXPECT_TRUE(TurnUntilReceived(server, silent, "hello\n"));
}

TEST_F(TlsConnectionTest, NewKeysInTheMiddleChangeNothing) {
  NetHarness server(Options());
  TlsTestClient client(server.endpoint());
  ASSERT_TRUE(Shake(server, client));
  std::string all;
  for (int i = 0; i < 20; ++i) {
    client.UpdateKeys();
    client.Write("line\n");
    all += "line\n";
    client.Pump();
  }
  EXPECT_TRUE(TurnUntilReceived(server, client, all));
}

TEST_F(TlsConnectionTest, NobodyMayRenegotiate) {
  NetHarness server(Options());
  TlsTestClient client(server.endpoint(), {.version = TLS1_2_VERSION});
  ASSERT_TRUE(Shake(server, client));
  client.Renegotiate();
  ASSERT_TRUE(TurnUntil(server, client, [&] { return !client.error().empty(); }));
  EXPECT_THAT(client.error(), HasSubstr("no renegotiation"));
  EXPECT_EQ(server.totals().handshakes, 1U);
}

TEST_F(TlsConnectionTest, TheProtocolInsideIsAgreedOnOrRefused) {
  ListenerOptions options = Options();
  options.protocol = "h2";
  NetHarness server(options);
  TlsTestClient both(server.endpoint(), {.protocols = "\x08http/1.1\x02h2"});
  ASSERT_TRUE(Shake(server, both));
  EXPECT_EQ(both.protocol(), "h2");
  TlsTestClient silent(server.endpoint());
  EXPECT_TRUE(Shake(server, silent));  // who does not ask is let in
  TlsTestClient other(server.endpoint(), {.protocols = "\x08http/1.1"});
  ASSERT_TRUE(TurnUntilEnded(server, other));
  EXPECT_EQ(server.totals().failed_by(HandshakeFailure::kNothingInCommon), 1U);
}

TEST_F(TlsConnectionTest, APortWhoseProtocolHasNoNameTakesWhoeverAsks) {
  NetHarness server(Options());
  TlsTestClient client(server.endpoint(), {.protocols = "\x05redis"});
  ASSERT_TRUE(Shake(server, client));
  EXPECT_EQ(client.protocol(), "");
}

TEST_F(TlsConnectionTest, AClientThatDoesNotBelieveUsIsCounted) {
  NetHarness server(Options());
  const TestAuthority another("another authority");
  TlsTestClient client(server.endpoint(), {.ca = another.certificate()});
  ASSERT_TRUE(TurnUntil(server, client, [&] { return !client.error().empty(); }));
  EXPECT_TRUE(server.TurnUntil(
      [&] { return server.totals().failed_by(HandshakeFailure::kRefusedByClient) == 1; }));
}

TEST_F(TlsConnectionTest, TheHandshakeComesAfterTheHeaderOfAProxy) {
  std::optional<ConnectionFacts> facts;
  ListenerOptions options = Options([&](const ConnectionFacts& told) {
    facts = told;
    return EchoLines()(told);
  });
  options.proxy_protocol.from = ProxyProtocol::From::kEverybody;
  for (const bool in_one_read : {true, false}) {
    NetHarness server(options);
    TlsTestClient client(server.endpoint());
    client.socket().Send("PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n");
    if (!in_one_read) server.Settle();
    ASSERT_TRUE(Shake(server, client)) << client.error();
    client.Write("hello\n");
    EXPECT_TRUE(TurnUntilReceived(server, client, "hello\n"));
    EXPECT_EQ(facts->proxied, rule::Address::Parse("203.0.113.7"));
  }
}

TEST_F(TlsConnectionTest, AHeldAnswerComesInItsTimeAndAClientThatGoesIsNoticed) {
  int gone = 0;
  NetHarness server(Options(Scripted(
      {.on_bytes = [](std::string_view unread, Connection& connection, std::string&) -> Progress {
         connection.Hold(seconds(3));
         return {.consumed = unread.size()};
       },
       .on_resume =
           [](Connection&, std::string& out) {
             out += "late\n";
             return Next::kRead;
           },
       .on_gone = [&] { ++gone; }})));
  TlsTestClient patient(server.endpoint());
  TlsTestClient hasty(server.endpoint());
  for (TlsTestClient* client : {&patient, &hasty}) {
    ASSERT_TRUE(Shake(server, *client));
    client->Write("wait");
    client->Send();
  }
  ASSERT_TRUE(server.TurnUntil([&] { return server.totals().bytes_in == 8; }));
  hasty.SayFarewell();
  hasty.Send();
  hasty.socket().Close();
  EXPECT_TRUE(server.TurnUntil([&] { return gone == 1; }));
  server.Advance(seconds(4));
  EXPECT_TRUE(TurnUntilReceived(server, patient, "late\n"));
  EXPECT_EQ(gone, 1);
}

TEST_F(TlsConnectionTest, WhenTheServerStopsWhatWasAskedIsAnsweredAndTheIdleAreToldGoodbye) {
  NetHarness server(Options());
  TlsTestClient idle(server.endpoint());
  TlsTestClient asking(server.endpoint());
  ASSERT_TRUE(Shake(server, idle));
  ASSERT_TRUE(Shake(server, asking));
  const TestClient silent = server.Connect();  // has not said a word of the handshake
  server.Settle();
  asking.Write("asked\n");
  asking.Send();
  server.worker().Stop(seconds(10));
  ASSERT_TRUE(TurnUntilEnded(server, idle));
  EXPECT_TRUE(idle.is_told_farewell());
  ASSERT_TRUE(TurnUntilEnded(server, asking));
  EXPECT_EQ(asking.received(), "asked\n");
  EXPECT_TRUE(server.TurnUntil([&] { return server.totals().open_now() == 0; }));
  EXPECT_EQ(server.closed_by(Ending::kServerCut), 0U);
}

}  // namespace
}  // namespace weir::net
