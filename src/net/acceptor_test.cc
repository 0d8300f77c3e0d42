#include "net/acceptor.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/net_harness.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;

// The process may open so many descriptors more, and no others, until it is destroyed.
class DescriptorsLeft {
 public:
  explicit DescriptorsLeft(rlim_t count) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const Descriptor next(dup(0));  // the lowest that is free
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(next.get()) + count;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~DescriptorsLeft() { setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorsLeft(const DescriptorsLeft&) = delete;
  DescriptorsLeft& operator=(const DescriptorsLeft&) = delete;

 private:
  rlimit before_{};
};

// UndefinedBehaviorSanitizer opens a pipe when it meets an object of a class for the first time,
// and takes it for a bad object if it cannot: so let it meet all of them while it can.
void MeetAllClasses() {
  NetHarness server({.handlers = EchoLines()});
  for (int i = 0; i < 2; ++i) {
    std::vector<TestClient> clients;
    for (int j = 0; j < 3; ++j) {
      clients.push_back(server.Connect());
      clients.back().Send("hello\n");
      ASSERT_TRUE(server.TurnUntilReceived(clients.back(), "hello\n"));
    }
  }
}

TEST(AcceptorTest, WithoutDescriptorsItTurnsPeopleAwayAndServesThoseItHas) {
  MeetAllClasses();
  NetHarness server({.handlers = EchoLines()});
  std::vector<TestClient> clients;
  for (int i = 0; i < 10; ++i) clients.push_back(server.Connect());  // none is accepted yet
  const auto refused = [&] { return server.closed_by(Ending::kNoDescriptors); };
  {
    const DescriptorsLeft left(3);
    ASSERT_TRUE(server.TurnUntil([&] { return server.totals().accepted == 10; }));
    EXPECT_EQ(refused(), 7U);
    EXPECT_EQ(server.totals().open_now(), 3U);
    for (TestClient& client : clients) client.Send("hello\n");
    EXPECT_TRUE(server.TurnUntilReceived(clients[0], "hello\n"));
    EXPECT_TRUE(server.TurnUntilEnded(clients[9]));
  }
  TestClient later = server.Connect();
  later.Send("back again\n");
  EXPECT_TRUE(server.TurnUntilReceived(later, "back again\n"));
}

TEST(AcceptorTest, WithoutEvenASpareDescriptorItWaitsAMoment) {
  MeetAllClasses();
  Instant now{std::chrono::hours(1)};
  Loop loop([&] { return now; });
  Counters counters;
  const auto socket = ListeningSocket::Open(*Endpoint::Parse("127.0.0.1:0"), 1, {})->front();
  const TestClient client(socket->endpoint());
  std::vector<Descriptor> accepted;
  std::optional<DescriptorsLeft> none(std::in_place, 0);
  const Acceptor acceptor(loop, counters, socket, [&](Descriptor connection, const auto&) {
    accepted.push_back(std::move(connection));
  });
  loop.Turn(milliseconds(1000));
  // It does not look at the socket any more, although somebody is waiting there.
  const auto begin = std::chrono::steady_clock::now();
  loop.Turn(milliseconds(20));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(20));
  none.reset();
  now += milliseconds(99);
  loop.Turn(Nanos(0));
  loop.Turn(Nanos(0));
  EXPECT_TRUE(accepted.empty());
  now += milliseconds(1);
  loop.Turn(Nanos(0));
  loop.Turn(milliseconds(1000));
  EXPECT_EQ(accepted.size(), 1U);
  EXPECT_EQ(counters.Read().closed_by(Ending::kNoDescriptors), 0U);
}

}  // namespace
}  // namespace weir::net
