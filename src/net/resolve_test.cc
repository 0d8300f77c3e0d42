#include "net/resolve.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

namespace weir::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ResolveConcurrentTest, WhatIsNoNameIsKnownAtOnce) {
  Loop loop;
  for (const Endpoint& endpoint : {Endpoint{"127.0.0.1", 80, ""}, Endpoint{"::1", 80, ""},
                                   Endpoint{"", 0, "/run/weir.sock"}}) {
    bool found = false;
    const Resolution resolution(
        loop, endpoint, [&](const Result<SocketAddress>& address) { found = address.ok(); });
    EXPECT_TRUE(found) << endpoint.ToString();
  }
}

TEST(ResolveConcurrentTest, ANameIsTakenToItsAddressInALaterTurn) {
  Loop loop;
  std::optional<std::uint16_t> port;
  const Resolution resolution(
      loop, {"localhost", 80, ""},
      [&](const Result<SocketAddress>& address) { port = address.ok() ? address->port() : 0; });
  EXPECT_FALSE(port.has_value());
  for (int i = 0; i < 2000 && !port; ++i) loop.Turn(milliseconds(10));
  EXPECT_EQ(port, 80);
}

TEST(ResolveConcurrentTest, ANameThatIsNoneIsAnError) {
  Loop loop;
  std::string problem;
  const Resolution resolution(
      loop, {"no such name", 80, ""},
      [&](const Result<SocketAddress>& address) { problem = address.error().message; });
  for (int i = 0; i < 2000 && problem.empty(); ++i) loop.Turn(milliseconds(10));
  EXPECT_NE(problem.find("no such host"), std::string::npos) << problem;
}

TEST(ResolveConcurrentTest, ALookUpThatNobodyWaitsForTellsNobody) {
  Loop loop;
  bool told = false;
  for (int i = 0; i < 50; ++i) {
    const Resolution abandoned(loop, {"localhost", 80, ""},
                               [&](const Result<SocketAddress>&) { told = true; });
    if (i % 2 == 0) loop.Turn(Nanos(0));
    told = false;  // if it was quick
  }
  for (int i = 0; i < 20; ++i) loop.Turn(milliseconds(1));
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace weir::net
