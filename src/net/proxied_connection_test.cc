// Connections that begin with a PROXY header.
#include <gtest/gtest.h>

#include "tests/net_harness.h"
#include "tests/temporary_file.h"

namespace weir::net {
namespace {

using std::chrono::seconds;
using From = ProxyProtocol::From;

const std::string kV1 = "PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n";
const std::string kV2 = std::string("\r\n\r\n\0\r\nQUIT\n", 12) + "\x21\x11" +
                        std::string("\0\x0c", 2) +
                        std::string("\xcb\x00\x71\x07\xc0\x00\x02\x01\xdc\x04\x01\xbb", 12);

class ProxiedConnectionTest : public testing::Test {
 protected:
  ListenerOptions Options(ProxyProtocol proxy_protocol) {
    return {.handlers =
                [this](const ConnectionFacts& facts) {
                  facts_.push_back(facts);
                  return EchoLines()(facts);
                },
            .limits = {.proxy_header = seconds(5)},
            .proxy_protocol = std::move(proxy_protocol)};
  }
  static ProxyProtocol Networks(std::string_view network) {
    return {.from = From::kNetworks, .networks = {*rule::Network::Parse(network)}};
  }
  std::vector<ConnectionFacts> facts_;
};

TEST_F(ProxiedConnectionTest, TheHandlerIsToldWhomTheProxySpeaksFor) {
  for (const std::string& header : {kV1, kV2}) {
    NetHarness server(Options(Networks("127.0.0.0/8")));
    TestClient client = server.Connect();
    client.Send(header + "hello\n");
    EXPECT_TRUE(server.TurnUntilReceived(client, "hello\n"));
    ASSERT_FALSE(facts_.empty());
    EXPECT_EQ(facts_.back().proxied, rule::Address::Parse("203.0.113.7"));
    EXPECT_EQ(facts_.back().peer, rule::Address::Parse("127.0.0.1"));
  }
}

TEST_F(ProxiedConnectionTest, AHeaderMayComeByteByByteAndTheRestLater) {
  for (const std::string& header : {kV1, kV2}) {
    NetHarness server(Options({.from = From::kEverybody}));
    TestClient client = server.Connect();
    for (const char byte : header) {
      client.Send({&byte, 1});
      server.Settle();
    }
    client.Send("hello\n");
    EXPECT_TRUE(server.TurnUntilReceived(client, "hello\n"));
  }
  EXPECT_EQ(facts_.size(), 2U);
}

TEST_F(ProxiedConnectionTest, AProxyThatSpeaksForItselfIsThePeer) {
  NetHarness server(Options({.from = From::kEverybody}));
  TestClient client = server.Connect();
  client.Send("PROXY UNKNOWN\r\nhello\n");
  EXPECT_TRUE(server.TurnUntilReceived(client, "hello\n"));
  EXPECT_EQ(facts_.at(0).proxied, std::nullopt);
}

TEST_F(ProxiedConnectionTest, WhoIsNotInTheNetworksSpeaksThePlainProtocol) {
  NetHarness server(Options(Networks("10.0.0.0/8")));
  TestClient client = server.Connect();
  client.Send(kV1);  // to the handler it is a line like any other
  EXPECT_TRUE(server.TurnUntilReceived(client, kV1));
  EXPECT_EQ(facts_.at(0).proxied, std::nullopt);
}

TEST_F(ProxiedConnectionTest, WhoShouldSendAHeaderAndDoesNotIsClosed) {
  for (const std::string& text : {std::string("hello\n"), std::string("PROXY TCP9 x\r\n")}) {
    NetHarness server(Options(Networks("127.0.0.1/32")));
    TestClient client = server.Connect();
    client.Send(text);
    EXPECT_TRUE(server.TurnUntilEnded(client));
    EXPECT_EQ(client.received(), "");
    EXPECT_EQ(server.closed_by(Ending::kBadProxyHeader), 1U);
  }
  EXPECT_TRUE(facts_.empty());
}

TEST_F(ProxiedConnectionTest, AHeaderThatIsLateIsTooLate) {
  NetHarness server(Options(Networks("127.0.0.1/32")));
  TestClient client = server.Connect();
  client.Send("PROXY ");
  server.Settle();
  server.Advance(seconds(5) - Nanos(1));
  EXPECT_EQ(server.totals().open_now(), 1U);
  server.Advance(2 * Deadlines::kTick);
  EXPECT_EQ(server.closed_by(Ending::kSlowProxyHeader), 1U);
}

TEST_F(ProxiedConnectionTest, AProxyMayHaveManyConnectionsButEachOfItsClientsOnlyItsShare) {
  NetHarness server(Options(Networks("127.0.0.1/32")), {.connections_per_peer = 1});
  TestClient first = server.Connect();
  first.Send(kV1);
  server.Settle();
  TestClient other = server.Connect();
  other.Send("PROXY TCP4 203.0.113.8 192.0.2.1 56324 443\r\nhello\n");
  EXPECT_TRUE(server.TurnUntilReceived(other, "hello\n"));
  TestClient again = server.Connect();
  again.Send(kV1);
  EXPECT_TRUE(server.TurnUntilEnded(again));
  EXPECT_EQ(server.closed_by(Ending::kTooManyFromPeer), 1U);
}

TEST_F(ProxiedConnectionTest, AUnixSocketCanHaveAProxyToo) {
  const TemporaryFile file;
  ListenerOptions options = Options({.from = From::kEverybody});
  options.address = "unix:" + file.path();
  NetHarness server(options);
  TestClient client = server.Connect();
  client.Send(kV2 + "hello\n");
  EXPECT_TRUE(server.TurnUntilReceived(client, "hello\n"));
  EXPECT_EQ(facts_.at(0).peer, std::nullopt);
  EXPECT_EQ(facts_.at(0).proxied, rule::Address::Parse("203.0.113.7"));
}

}  // namespace
}  // namespace weir::net
