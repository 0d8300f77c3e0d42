#include "server/api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>

#include "base/descriptor.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// What a server said, piece by piece, and what it was sent.
struct Script {
  std::vector<std::string> pieces;
  std::string sent;
};

class ScriptedStream final : public ApiStream {
 public:
  explicit ScriptedStream(Script& script) : script_(script) {}
  std::optional<Error> Send(std::string_view bytes) override {
    script_.sent += bytes;
    return std::nullopt;
  }
  Result<std::size_t> Receive(std::span<char> into) override {
    if (script_.pieces.empty()) return std::size_t{0};
    const std::string piece = script_.pieces.front();
    script_.pieces.erase(script_.pieces.begin());
    if (piece == "timeout") return Error{"it does not answer in time"};
    std::memcpy(into.data(), piece.data(), piece.size());
    return piece.size();
  }

 private:
  Script& script_;
};

ApiClient ClientOf(Script& script, const std::string& token = "weir_x") {
  return ApiClient({.server = "127.0.0.1:1",
                    .token = token,
                    .connect = [&script](const net::Endpoint&, std::chrono::milliseconds)
                        -> Result<std::unique_ptr<ApiStream>> {
                      return std::unique_ptr<ApiStream>(std::make_unique<ScriptedStream>(script));
                    }});
}

TEST(ApiClientTest, SaysWhoItIsAndWaitsForAllOfTheAnswer) {
  Script script{{"HTTP/1.1 200 OK\r\nContent-Le", "ngth: 5\r\nETag: \"7\"\r\n\r\nhel", "lo"}, ""};
  const auto answer = ClientOf(script).Ask({.target = "/v1/status"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hello");
  EXPECT_EQ(answer->Field("etag"), "\"7\"");
  EXPECT_THAT(script.sent, AllOf(StartsWith("GET /v1/status HTTP/1.1\r\n"),
                                 HasSubstr("\r\nAuthorization: Bearer weir_x\r\n"),
                                 HasSubstr("\r\nConnection: close\r\n"),
                                 Not(HasSubstr("Content-Length")), EndsWith("\r\n\r\n")));
}

TEST(ApiClientTest, SendsABodyWithItsKindAndLength) {
  Script script{{"HTTP/1.1 204 No Content\r\n\r\n"}, ""};
  const auto answer = ClientOf(script, "")
                          .Ask({.method = "PUT",
                                .target = "/x",
                                .body = "name: a\n",
                                .content_type = "application/yaml",
                                .fields = {{"If-Match", "*"}}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(script.sent,
              AllOf(HasSubstr("\r\nContent-Type: application/yaml\r\n"),
                    HasSubstr("\r\nContent-Length: 8\r\n"), HasSubstr("\r\nIf-Match: *\r\n"),
                    Not(HasSubstr("Authorization")), EndsWith("\r\n\r\nname: a\n")));
}

TEST(ApiClientTest, ARefusalIsAnAnswer) {
  Script script{{"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"}, ""};
  EXPECT_EQ(ClientOf(script).Ask({.target = "/x"})->status, 403);
}

TEST(ApiClientTest, NoAnswerIsAnErrorThatNamesTheServerAndNotTheToken) {
  for (std::vector<std::string> pieces :
       std::vector<std::vector<std::string>>{{},
                                             {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"},
                                             {"-ERR unknown command\r\n\r\n"},
                                             {"timeout"}}) {
    Script script{std::move(pieces), ""};
    const auto answer = ClientOf(script, "weir_secret").Ask({.target = "/x"});
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().message,
                AllOf(StartsWith("cannot ask the server at 127.0.0.1:1: "),
                      HasSubstr("--server HOST:PORT"), Not(HasSubstr("secret"))));
  }
}

TEST(ApiClientTest, AServerThatIsNotThereIsAnError) {
  const TemporaryFile folder;
  for (const std::string& server : {"unix:" + folder.path(), std::string("127.0.0.1:1")}) {
    const auto answer = ApiClient({.server = server}).Ask({.target = "/x"});
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.error().message, HasSubstr("cannot ask the server at " + server));
  }
  EXPECT_THAT(ApiClient({.server = "nonsense"}).Ask({.target = "/x"}).error().message,
              HasSubstr("--server"));
}

TEST(ApiClientTest, AServerThatNeverAnswersIsGivenUp) {
  // It listens, and nobody accepts.
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  net::SocketAddress address = *net::ToSocketAddress(net::Endpoint::Parse("127.0.0.1:0").value());
  ASSERT_EQ(bind(listener.get(), address.get(), address.size), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), address.get(), &address.size), 0);
  const auto answer = ApiClient({.server = "127.0.0.1:" + std::to_string(address.port()),
                                 .timeout = std::chrono::milliseconds(10)})
                          .Ask({.target = "/x"});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("it does not answer in time"));
}

TEST(ApiPathTest, EncodesWhatIsNotPlain) {
  EXPECT_EQ(ApiPath("/v1/rules", {"shop", "a b/c"}), "/v1/rules/shop/a%20b%2Fc");
  EXPECT_EQ(ApiPath("/v1/rules", {"\xC3\xA4\r\n"}), "/v1/rules/%C3%A4%0D%0A");
  EXPECT_EQ(ApiQuery({{"limit", "10"}, {"after", ""}, {"comment", "why & not"}}),
            "?limit=10&comment=why%20%26%20not");
  EXPECT_EQ(ApiQuery({{"after", ""}}), "");
}

}  // namespace
}  // namespace weir
