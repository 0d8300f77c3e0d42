#include "net/listening_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/net_harness.h"
#include "tests/temporary_file.h"

namespace weir::net {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

auto Open(const std::string& text, std::size_t loops = 1,
          const ListeningSocket::Options& options = {}) {
  return ListeningSocket::Open(*Endpoint::Parse(text), loops, options);
}

TEST(ListeningSocketTest, PortZeroIsAnyThatIsFreeAndTheSameForAllLoops) {
  const auto sockets = Open("127.0.0.1:0", 3);
  ASSERT_TRUE(sockets.ok());
  ASSERT_EQ(sockets->size(), 3U);
  const std::uint16_t port = sockets->front()->endpoint().port;
  EXPECT_NE(port, 0);
  for (const auto& socket : *sockets) EXPECT_EQ(socket->endpoint().port, port);
  EXPECT_NE((*sockets)[0]->fd(), (*sockets)[1]->fd());
}

TEST(ListeningSocketTest, AllAddressesMeansThoseOfIPv4Too) {
  const auto sockets = Open("[::]:0");
  ASSERT_TRUE(sockets.ok()) << sockets.error().message;
  Endpoint endpoint = sockets->front()->endpoint();
  endpoint.host = "127.0.0.1";
  EXPECT_TRUE(TestClient(endpoint).is_connected());
  endpoint.host = "::1";
  EXPECT_TRUE(TestClient(endpoint).is_connected());
}

TEST(ListeningSocketTest, APortInUseIsRefusedAlsoIfItIsOurOwn) {
  const auto first = Open("127.0.0.1:0", 2);
  const std::string name = first->front()->endpoint().ToString();
  const auto second = Open(name);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message,
            name +
                ": cannot listen: Address already in use: stop the program that listens there, "
                "or choose another port");
}

TEST(ListeningSocketTest, APortIsFreeAgainAtOnceAlsoIfConnectionsAreWindingUp) {
  std::string name;
  {
    const auto sockets = Open("127.0.0.1:0");
    name = sockets->front()->endpoint().ToString();
    const TestClient client(sockets->front()->endpoint());
    ASSERT_TRUE(client.is_connected());
    const Descriptor accepted(accept(sockets->front()->fd(), nullptr, nullptr));
    ASSERT_TRUE(accepted.is_open());
    shutdown(accepted.get(), SHUT_RDWR);  // closes first: the port remembers it
  }
  const auto again = Open(name);
  EXPECT_TRUE(again.ok()) << again.error().message;
}

TEST(ListeningSocketTest, SaysWhyItCannotListen) {
  EXPECT_THAT(Open("192.0.2.1:0").error().message,
              StartsWith("192.0.2.1:0: cannot listen: Cannot assign requested address: no "));
  EXPECT_THAT(Open("no-such-host.invalid:80").error().message,
              StartsWith("no-such-host.invalid:80: cannot listen: no such host: "));
  EXPECT_THAT(Open("unix:/nowhere/at/all/weir.sock").error().message,
              HasSubstr("No such file or directory: create its folder first"));
}

class UnixSocketTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return temporary_.path(); }
  [[nodiscard]] std::string name() const { return "unix:" + path(); }

 private:
  TemporaryFile temporary_;
};

TEST_F(UnixSocketTest, IsOneForAllLoopsAndItsFileGoesWithIt) {
  {
    const auto sockets = Open(name(), 2);
    ASSERT_TRUE(sockets.ok()) << sockets.error().message;
    EXPECT_EQ((*sockets)[0], (*sockets)[1]);
    EXPECT_TRUE(TestClient(*Endpoint::Parse(name())).is_connected());
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(UnixSocketTest, HasTheModeItIsGiven) {
  for (const mode_t mode : {mode_t{0600}, mode_t{0666}}) {
    const auto sockets = Open(name(), 1, {.unix_mode = mode});
    struct stat file {};
    ASSERT_EQ(stat(path().c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, mode);
  }
}

TEST_F(UnixSocketTest, TakesThePlaceOfOneThatACrashLeft) {
  {
    const Descriptor crashed(socket(AF_UNIX, SOCK_STREAM, 0));
    const SocketAddress address = *ToSocketAddress(*Endpoint::Parse(name()));
    ASSERT_EQ(bind(crashed.get(), address.get(), address.size), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path()));
  const auto sockets = Open(name());
  EXPECT_TRUE(sockets.ok()) << sockets.error().message;
  EXPECT_TRUE(TestClient(*Endpoint::Parse(name())).is_connected());
}

TEST_F(UnixSocketTest, LeavesOneOnWhichSomebodyListens) {
  const auto first = Open(name());
  const auto second = Open(name());
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("cannot listen: Address already in use"));
  EXPECT_TRUE(TestClient(*Endpoint::Parse(name())).is_connected());
}

TEST_F(UnixSocketTest, LeavesAFileThatIsNoSocket) {
  std::ofstream(path()) << "precious";
  const auto sockets = Open(name());
  ASSERT_FALSE(sockets.ok());
  EXPECT_THAT(sockets.error().message, HasSubstr("a file which is no socket"));
  EXPECT_TRUE(std::filesystem::is_regular_file(path()));
}

TEST_F(UnixSocketTest, LeavesTheFileOfItsSuccessor) {
  auto first = Open(name());
  ASSERT_TRUE(first.ok());
  std::filesystem::rename(path(), path() + ".old");
  const auto second = Open(name());
  ASSERT_TRUE(second.ok());
  first = Error{"gone"};
  EXPECT_TRUE(TestClient(*Endpoint::Parse(name())).is_connected());
}

}  // namespace
}  // namespace weir::net
