#include "server/tls_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/endpoint.h"
#include "server/serve_options.h"

namespace weir {
namespace {

using testing::HasSubstr;

TEST(TlsOptionsTest, AnAdminPlaceIsOpenToOthersOnlyWithTls) {
  for (const char* address : {"", "127.0.0.1:8082", "[::1]:8082", "localhost:8082",
                              "unix:/run/weir/admin.sock", "tls:0.0.0.0:8082", "tls:[::]:8082"}) {
    EXPECT_FALSE(RefusePlainToOthers({"--admin", address}).has_value()) << address;
  }
  for (const char* address : {"0.0.0.0:8082", "[::]:8082", "10.0.0.1:8082", "weir.internal:8082"}) {
    const std::optional<Error> error = RefusePlainToOthers({"--admin", address});
    ASSERT_TRUE(error.has_value()) << address;
    EXPECT_THAT(error->message, HasSubstr(std::string("--admin ") + address));
    EXPECT_THAT(error->message, HasSubstr(std::string("write tls:") + address));
    EXPECT_THAT(error->message, HasSubstr("127.0.0.1:8082"));
  }
  EXPECT_THAT(RefusePlainToOthers({"--admin", "8082"})->message, HasSubstr("it has no port"));
}

TEST(TlsOptionsTest, TheBannerWarnsWhereOthersCanListenIn) {
  EXPECT_EQ(BannerLine("HTTP", "127.0.0.1:8080"), "HTTP   on 127.0.0.1:8080\n");
  EXPECT_EQ(BannerLine("Redis", "tls:[::]:6380"), "Redis  on tls:[::]:6380\n");
  EXPECT_EQ(BannerLine("gRPC", ""), "");
  EXPECT_THAT(BannerLine("gRPC", "0.0.0.0:8081"), HasSubstr("in plain text, for other hosts too"));
}

TEST(TlsOptionsTest, ByDefaultNothingIsOpenToOtherHosts) {
  const ServeOptions options;
  for (const std::string& address : {options.http, options.resp, options.grpc, options.admin}) {
    EXPECT_TRUE(net::Endpoint::Parse(address)->is_local()) << address;
  }
}

TEST(TlsOptionsTest, AUrlIsWhatCurlTakes) {
  EXPECT_EQ(UrlOf("127.0.0.1:8080"), "http://127.0.0.1:8080");
  EXPECT_EQ(UrlOf("tls:[::1]:8443"), "https://[::1]:8443");
}

}  // namespace
}  // namespace weir
