#include "net/connection.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "tests/net_harness.h"
#include "tests/temporary_file.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ConnectionTest, EchoesOverTcp) {
  NetHarness server({.handlers = Echo()});
  TestClient client = server.Connect();
  client.Send("hello");
  EXPECT_TRUE(server.TurnUntilReceived(client, "hello"));
  client.Send(", world");
  EXPECT_TRUE(server.TurnUntilReceived(client, "hello, world"));
  EXPECT_EQ(server.totals().accepted, 1U);
  EXPECT_EQ(server.totals().open_now(), 1U);
  EXPECT_EQ(server.totals().bytes_in, 12U);
  EXPECT_EQ(server.totals().bytes_out, 12U);
  client.Close();
  EXPECT_TRUE(server.TurnUntil([&] { return server.closed_by(Ending::kPeerClosed) == 1; }));
  EXPECT_EQ(server.totals().open_now(), 0U);
}

TEST(ConnectionTest, EchoesOverIPv6AndUnixSockets) {
  const TemporaryFile file;
  for (const std::string& address : {std::string("[::1]:0"), "unix:" + file.path()}) {
    NetHarness server({.address = address, .handlers = Echo()});
    TestClient client = server.Connect();
    client.Send("hello");
    EXPECT_TRUE(server.TurnUntilReceived(client, "hello")) << address;
  }
}

TEST(ConnectionTest, TheHandlerIsToldWhoIsThere) {
  const TemporaryFile file;
  std::optional<ConnectionFacts> facts;
  const HandlerFactory noting = [&](const ConnectionFacts& told) {
    facts = told;
    return Echo()(told);
  };
  NetHarness tcp({.handlers = noting});
  const TestClient client = tcp.Connect();
  ASSERT_TRUE(tcp.TurnUntil([&] { return facts.has_value(); }));
  EXPECT_EQ(facts->peer, rule::Address::Parse("127.0.0.1"));
  EXPECT_NE(facts->peer_port, 0);
  EXPECT_EQ(facts->local_port, tcp.endpoint().port);
  EXPECT_EQ(facts->proxied, std::nullopt);
  facts.reset();
  NetHarness local({.address = "unix:" + file.path(), .handlers = noting});
  const TestClient local_client = local.Connect();
  ASSERT_TRUE(local.TurnUntil([&] { return facts.has_value(); }));
  EXPECT_EQ(facts->peer, std::nullopt);
}

TEST(ConnectionTest, APipelineIsHandledInOneCall) {
  int calls = 0;
  NetHarness server({.handlers = Scripted(
                         {.on_bytes = [&](std::string_view unread, Connection&, std::string& out) {
                           ++calls;
                           return ForEachLine(unread, [&](std::string_view line) {
                             out += line;
                             return Progress{};
                           });
                         }})});
  TestClient client = server.Connect();
  std::string pipeline;
  for (int i = 0; i < 1000; ++i) pipeline += "request " + std::to_string(i) + "\n";
  client.Send(pipeline);  // before the server looks
  EXPECT_TRUE(server.TurnUntilReceived(client, pipeline));
  EXPECT_EQ(calls, 1);
}

TEST(ConnectionTest, ShortAnswersGoOutWhenEverybodyWasHeard) {
  // Each says what the others had heard when it was asked.
  std::vector<TestClient> clients;
  std::string heard_before;
  NetHarness server({.handlers = Scripted(
                         {.on_bytes = [&](std::string_view unread, Connection&, std::string& out) {
                           for (TestClient& client : clients) {
                             client.Receive();
                             heard_before += client.received();
                           }
                           out += unread;
                           return Progress{.consumed = unread.size()};
                         }})});
  for (int i = 0; i < 3; ++i) clients.push_back(server.Connect());
  server.Settle();
  for (const TestClient& client : clients) client.Send("hello");
  server.worker().loop().Turn(milliseconds(100));
  EXPECT_EQ(heard_before, "");
  for (TestClient& client : clients) EXPECT_TRUE(server.TurnUntilReceived(client, "hello"));
  // And so again.
  for (const TestClient& client : clients) client.Send(".");
  for (TestClient& client : clients) EXPECT_TRUE(server.TurnUntilReceived(client, "hello."));
}

TEST(ConnectionTest, LongAnswersGoOutAtOnce) {
  for (const std::size_t more : {0, 1}) {
    const std::string answer(PutOffAnswers::kLongest + more, 'x');
    std::uint64_t sent_before_the_end = 0;
    std::function<std::uint64_t()> sent;
    NetHarness server({.handlers = Scripted({.on_bytes = [&](std::string_view unread, Connection&,
                                                             std::string& out) {
                         sent_before_the_end = sent();
                         out += answer;
                         return Progress{.consumed = unread.size()};
                       }})});
    sent = [&] { return server.totals().bytes_out; };
    TestClient one = server.Connect();
    TestClient other = server.Connect();
    server.Settle();
    one.Send("a");
    other.Send("b");
    server.worker().loop().Turn(milliseconds(100));
    EXPECT_EQ(sent_before_the_end, more == 0 ? 0 : answer.size());
    EXPECT_TRUE(server.TurnUntilReceived(one, answer));
    EXPECT_TRUE(server.TurnUntilReceived(other, answer));
  }
}

TEST(ConnectionTest, WhoIsClosedBeforeTheTurnEndsIsForgotten) {
  Connection* first = nullptr;
  NetHarness server(
      {.handlers = Scripted(
           {.on_bytes = [&](std::string_view unread, Connection& connection, std::string& out) {
             if (first == nullptr) {
               first = &connection;
             } else {
               first->Close(Ending::kServerCut);  // its answer is still there
             }
             out += unread;
             return Progress{.consumed = unread.size()};
           }})});
  TestClient one = server.Connect();
  TestClient other = server.Connect();
  server.Settle();
  one.Send("a");
  server.worker().loop().Turn(Nanos(0));
  first = nullptr;
  one.Send("a");
  other.Send("a");
  server.worker().loop().Turn(milliseconds(100));
  server.Settle();
  EXPECT_EQ(server.totals().open_now(), 1U);
  EXPECT_EQ(server.totals().bytes_out, 2U);
}

TEST(ConnectionTest, ARequestThatComesByteByByteIsAnsweredOnce) {
  NetHarness server({.handlers = EchoLines()});
  TestClient client = server.Connect();
  const std::string request = "one byte at a time\n";
  for (const char byte : request) {
    client.Send({&byte, 1});
    server.Settle();
    client.Receive();
    EXPECT_EQ(client.received().empty(), byte != '\n');
  }
  EXPECT_EQ(client.received(), request);
}

TEST(ConnectionTest, AHandlerIsNotCalledBeforeThereIsWhatItNeeds) {
  std::vector<std::size_t> calls;
  NetHarness server({.handlers = Scripted({.on_bytes = [&](std::string_view unread, Connection&,
                                                           std::string& out) -> Progress {
                       calls.push_back(unread.size());
                       if (unread.size() < 10) return {.need = 10};
                       out += "ok";
                       return {.consumed = unread.size()};
                     }})});
  TestClient client = server.Connect();
  for (int i = 0; i < 10; ++i) {
    client.Send("x");
    server.Settle();
  }
  EXPECT_TRUE(server.TurnUntilReceived(client, "ok"));
  EXPECT_EQ(calls, (std::vector<std::size_t>{1, 10}));
}

TEST(ConnectionTest, AVeryLongPipelineDoesNotKeepOthersWaiting) {
  std::vector<char> order;
  NetHarness server({.handlers = Scripted({.on_bytes = [&](std::string_view unread, Connection&,
                                                           std::string&) -> Progress {
                       EXPECT_LE(unread.size(), 64U << 10);
                       order.push_back(unread.back());
                       return {.consumed = unread.size()};
                     }})});
  const TestClient flood = server.Connect();
  const TestClient small = server.Connect();
  server.Settle();
  EXPECT_GT(flood.Send(std::string(1 << 20, 'f')), 256U << 10);
  small.Send("s");
  const auto is_handled = [&] { return std::count(order.begin(), order.end(), 's') == 1; };
  ASSERT_TRUE(server.TurnUntil(is_handled));
  EXPECT_LE(order.size(), 2U);  // in the same turn: before or after one helping of the flood
}

TEST(ConnectionTest, APeerThatDoesNotReadIsNotReadFromEither) {
  std::size_t handled = 0;
  NetHarness server({.handlers = Scripted({.on_bytes = [&](std::string_view unread, Connection&,
                                                           std::string& out) -> Progress {
                       handled += unread.size();
                       out += unread;
                       return {.consumed = unread.size()};
                     }})});
  TestClient deaf = server.Connect(4096);
  TestClient other = server.Connect();
  const std::string piece(64 << 10, 'x');
  std::size_t sent = 0;
  // It sends as long as anybody takes it, which must come to an end.
  for (int quiet = 0; quiet < 3;) {
    const std::size_t now = deaf.Send(piece);
    quiet = now == 0 ? quiet + 1 : 0;
    sent += now;
    server.Settle();
    ASSERT_LT(sent, 64U << 20);
  }
  EXPECT_LT(handled, sent);  // the rest waits in the kernel, where it is bounded too
  const std::size_t handled_then = handled;
  other.Send("hello");
  EXPECT_TRUE(server.TurnUntilReceived(other, "hello"));
  server.Settle();
  EXPECT_EQ(handled, handled_then + 5);
  // And when it reads after all, it gets everything.
  EXPECT_TRUE(server.TurnUntil([&] {
    deaf.Receive();
    return deaf.received().size() == sent;
  }));
}

TEST(ConnectionTest, AHandlerThatHasWrittenEnoughIsCalledAgainWhenItIsSent) {
  // Each byte is answered by 100,000; so a call handles three of them.
  std::size_t most_written = 0;
  NetHarness server(
      {.handlers = Scripted({.on_bytes = [&](std::string_view unread, Connection& connection,
                                             std::string& out) -> Progress {
         std::size_t done = 0;
         while (done < unread.size() && connection.HasRoom(out)) {
           out.append(100'000, unread[done++]);
         }
         most_written = std::max(most_written, out.size());
         return {.consumed = done, .next = Next::kAgain};
       }})});
  TestClient client = server.Connect();
  const std::string request = "abcdefghijklmnopqrstuvwxyz";
  client.Send(request);
  std::string expected;
  for (const char byte : request) expected.append(100'000, byte);
  EXPECT_TRUE(server.TurnUntilReceived(client, expected));
  EXPECT_EQ(most_written, 300'000U);
}

TEST(ConnectionTest, AClientThatOnlyClosesItsSideGetsItsAnswer) {
  NetHarness server({.handlers = EchoLines()});
  TestClient client = server.Connect();
  client.Send("question\n");
  client.HalfClose();
  ASSERT_TRUE(server.TurnUntilEnded(client));
  EXPECT_EQ(client.received(), "question\n");
  EXPECT_EQ(server.closed_by(Ending::kPeerClosed), 1U);
}

TEST(ConnectionTest, WhatWasWrittenIsSentBeforeItIsClosed) {
  NetHarness server({.handlers = Scripted({.on_bytes = [](std::string_view unread, Connection&,
                                                          std::string& out) -> Progress {
                       out.assign(4 << 20, 'x');
                       return {.consumed = unread.size(), .next = Next::kClose};
                     }})});
  TestClient client = server.Connect();
  client.Send("go");
  server.Settle();
  client.Send("what nobody reads must not destroy the answer");
  ASSERT_TRUE(server.TurnUntilEnded(client));
  EXPECT_EQ(client.received().size(), 4U << 20);
  EXPECT_FALSE(client.is_reset());
  client.Close();
  EXPECT_TRUE(server.TurnUntil([&] { return server.closed_by(Ending::kHandlerClosed) == 1; }));
}

TEST(ConnectionTest, ADropSendsNothing) {
  NetHarness server({.handlers = Scripted({.on_bytes = [](std::string_view, Connection&,
                                                          std::string& out) -> Progress {
                       out += "never seen";
                       return {.next = Next::kDrop};
                     }})});
  TestClient client = server.Connect();
  client.Send("go");
  ASSERT_TRUE(server.TurnUntilEnded(client));
  EXPECT_EQ(client.received(), "");
  EXPECT_EQ(server.closed_by(Ending::kHandlerDropped), 1U);
}

TEST(ConnectionTest, AHandlerThatThrowsLosesItsConnectionAndNoOther) {
  NetHarness server({.handlers = Scripted({.on_bytes = [](std::string_view unread, Connection&,
                                                          std::string& out) -> Progress {
                       if (unread == "bug") throw std::runtime_error("a bug");
                       out += unread;
                       return {.consumed = unread.size()};
                     }})});
  TestClient unlucky = server.Connect();
  TestClient other = server.Connect();
  unlucky.Send("bug");
  EXPECT_TRUE(server.TurnUntilEnded(unlucky));
  EXPECT_EQ(server.closed_by(Ending::kHandlerFailed), 1U);
  other.Send("fine");
  EXPECT_TRUE(server.TurnUntilReceived(other, "fine"));
}

TEST(ConnectionTest, AFactoryMayThrowOrRefuse) {
  bool throws = true;
  NetHarness server({.handlers = [&](const ConnectionFacts&) -> std::unique_ptr<Handler> {
    if (throws) throw std::runtime_error("a bug");
    return nullptr;
  }});
  TestClient first = server.Connect();
  EXPECT_TRUE(server.TurnUntilEnded(first));
  throws = false;
  TestClient second = server.Connect();
  EXPECT_TRUE(server.TurnUntilEnded(second));
  EXPECT_EQ(server.closed_by(Ending::kHandlerFailed), 1U);
  EXPECT_EQ(server.closed_by(Ending::kHandlerDropped), 1U);
}

TEST(ConnectionTest, ResetsAndClosesInTheMiddleOfAnAnswerAreSurvived) {
  NetHarness server({.handlers = Scripted({.on_bytes = [](std::string_view unread, Connection&,
                                                          std::string& out) -> Progress {
                       out.assign(8 << 20, 'x');
                       return {.consumed = unread.size()};
                     }})});
  TestClient resetting = server.Connect();
  TestClient closing = server.Connect();
  resetting.Send("go");
  closing.Send("go");
  server.Settle();
  resetting.Reset();
  closing.Close();
  EXPECT_TRUE(server.TurnUntil([&] { return server.totals().open_now() == 0; }));
  EXPECT_EQ(server.closed_by(Ending::kPeerLost), 2U);
}

}  // namespace
}  // namespace weir::net
