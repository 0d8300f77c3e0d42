#include "net/endpoint.h"

#include <gtest/gtest.h>

namespace weir::net {
namespace {

Endpoint Tcp(std::string host, std::uint16_t port) {
  return {.host = std::move(host), .port = port, .path = {}, .tls = false};
}

TEST(EndpointTest, ReadsAddressesNamesAndPathsAndWritesThemAgain) {
  EXPECT_EQ(*Endpoint::Parse("127.0.0.1:8080"), Tcp("127.0.0.1", 8080));
  EXPECT_EQ(*Endpoint::Parse("[::]:65535"), Tcp("::", 65535));
  EXPECT_EQ(*Endpoint::Parse("limits.example.com:0"), Tcp("limits.example.com", 0));
  EXPECT_EQ(Endpoint::Parse("unix:/run/weir.sock")->path, "/run/weir.sock");
  EXPECT_TRUE(Endpoint::Parse("unix:weir.sock")->is_unix());
  for (const char* text : {"127.0.0.1:8080", "[2001:db8::1]:1", "localhost:0", "unix:/a:b",
                           "tls:127.0.0.1:8443", "tls:[::]:0", "tls:weir.example.com:443"}) {
    EXPECT_EQ(Endpoint::Parse(text)->ToString(), text);
  }
}

TEST(EndpointTest, SaysWhatIsWrongAndWhatWouldBeRight) {
  EXPECT_EQ(Endpoint::Parse("8080").error().message,
            "'8080' is no address to listen on: it has no port; write 127.0.0.1:8080, [::]:8080, "
            "unix:/run/weir.sock or tls:[::]:8443");
  for (const char* text :
       {"", ":8080", "::1:8080", "[127.0.0.1]:80", "[::g]:80", "[]:80", "a:", "a:65536", "a:-1",
        "a:8 ", "a:http", "unix:", "tls:", "tls:8443", "tls:unix:/run/weir.sock", "tls:tls:a:1"}) {
    EXPECT_FALSE(Endpoint::Parse(text).ok()) << text;
  }
}

TEST(EndpointTest, IsEncryptedIfItSaysSo) {
  EXPECT_TRUE(Endpoint::Parse("tls:127.0.0.1:8443")->tls);
  EXPECT_FALSE(Endpoint::Parse("127.0.0.1:8443")->tls);
  EXPECT_EQ(Endpoint::Parse("tls:[::1]:8443")->Authority(), "[::1]:8443");
  EXPECT_EQ(Endpoint::Parse("tls:[::1]:8443")->host, "::1");
}

TEST(EndpointTest, IsLocalIfNobodyElseCanReachIt) {
  for (const char* text :
       {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1", "unix:x", "tls:127.0.0.1:1"}) {
    EXPECT_TRUE(Endpoint::Parse(text)->is_local()) << text;
  }
  for (const char* text : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "128.0.0.1:1", "weir.local:1",
                           "tls:[::]:1", "localhost.example.com:1"}) {
    EXPECT_FALSE(Endpoint::Parse(text)->is_local()) << text;
  }
}

TEST(EndpointTest, IsWhatTheKernelCallsIt) {
  const SocketAddress v4 = *ToSocketAddress(Tcp("127.0.0.1", 80));
  EXPECT_EQ(v4.address()->ToString(), "127.0.0.1");
  EXPECT_EQ(v4.port(), 80);
  const SocketAddress v6 = *ToSocketAddress(Tcp("2001:db8::1", 81));
  EXPECT_EQ(v6.address()->ToString(), "2001:db8::1");
  EXPECT_EQ(v6.port(), 81);
  const SocketAddress local = *ToSocketAddress(*Endpoint::Parse("unix:/run/weir.sock"));
  EXPECT_EQ(local.address(), std::nullopt);
  EXPECT_EQ(local.port(), 0);
}

TEST(EndpointTest, APathLongerThanTheKernelTakesIsRefused) {
  EXPECT_TRUE(ToSocketAddress(*Endpoint::Parse("unix:" + std::string(107, 'x'))).ok());
  EXPECT_EQ(ToSocketAddress(*Endpoint::Parse("unix:" + std::string(108, 'x'))).error().message,
            "the path is too long: the kernel takes 107 bytes");
}

}  // namespace
}  // namespace weir::net
