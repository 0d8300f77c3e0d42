#include "server/supervisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>

#include "base/descriptor.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

// What systemd has: a socket for datagrams. '@' stands for the byte 0 of abstract names.
class Listener {
 public:
  explicit Listener(const std::string& name) : socket_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.sun_path);
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  }
  // The next datagram; nothing if there is none.
  std::string Next() {
    std::array<char, 512> text{};
    const ssize_t size = recv(socket_.get(), text.data(), text.size(), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
  }

 private:
  Descriptor socket_;
};

TEST(SupervisorTest, IsToldEachTurnInADatagram) {
  const TemporaryFile folder;
  Listener systemd(folder.path());
  const Supervisor supervisor(folder.path());
  supervisor.Ready("rules 7\nMAINPID=1");
  EXPECT_EQ(systemd.Next(), "READY=1\nSTATUS=rules 7");
  supervisor.Reloading();
  EXPECT_THAT(systemd.Next(), testing::MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
  supervisor.Stopping();
  EXPECT_EQ(systemd.Next(), "STOPPING=1");
  supervisor.Stopping(std::chrono::seconds(15));
  EXPECT_EQ(systemd.Next(), "STOPPING=1\nEXTEND_TIMEOUT_USEC=40000000");
  EXPECT_EQ(systemd.Next(), "");
}

TEST(SupervisorTest, MayHaveAnAbstractName) {
  const std::string name = "@weir-test-" + std::to_string(getpid());
  Listener systemd(name);
  Supervisor(name).Stopping();
  EXPECT_EQ(systemd.Next(), "STOPPING=1");
}

TEST(SupervisorTest, NobodyIsToldWhereThereIsNone) {
  Supervisor("").Stopping();
  Supervisor("/nowhere/at/all").Stopping();
  Supervisor(std::string(1000, 'x')).Stopping();
}

}  // namespace
}  // namespace weir
