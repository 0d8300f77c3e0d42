#include "wire/grpc_head.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace weir::wire {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kMost = 16'384;

// "/a" is 1, "/b" is 2.
class TwoMethods final : public GrpcService {
 public:
  GrpcMethod Find(std::string_view path) override {
    ++asked;
    if (path == "/a") return {GrpcShape::kUnary, 1};
    if (path == "/b") return {GrpcShape::kStreams, 2};
    return {};
  }
  std::optional<GrpcStatus> Answer(GrpcCall& /*call*/, std::string_view /*message*/,
                                   std::string& /*response*/) override {
    return GrpcStatus{};
  }
  void OnMessage(GrpcCall& /*call*/, std::string_view /*message*/) override {}
  void OnEnd(GrpcCall& /*call*/) override {}
  void OnGone(GrpcCall& /*call*/) override {}

  int asked = 0;
};

// As libnghttp2 compresses.
class Deflater {
 public:
  Deflater() { nghttp2_hd_deflate_new(&deflater_, 4096); }
  ~Deflater() { nghttp2_hd_deflate_del(deflater_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  std::string Block(const Fields& fields) {
    std::vector<nghttp2_nv> nvs;
    nvs.reserve(fields.size());
    for (const auto& [name, value] : fields) {
      nvs.push_back({Bytes(name), Bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    std::string block(nghttp2_hd_deflate_bound(deflater_, nvs.data(), nvs.size()), '\0');
    const ssize_t size =
        nghttp2_hd_deflate_hd(deflater_, Bytes(block), block.size(), nvs.data(), nvs.size());
    block.resize(static_cast<std::size_t>(size));
    return block;
  }

 private:
  static std::uint8_t* Bytes(const std::string& text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  }
  nghttp2_hd_deflater* deflater_ = nullptr;
};

Fields CallOf(const std::string& path) {
  return {{":method", "POST"},
          {":scheme", "http"},
          {":path", path},
          {":authority", "weir"},
          {"content-type", "application/grpc"},
          {"te", "trailers"}};
}

class GrpcHeadTest : public testing::Test {
 protected:
  std::optional<GrpcHead> Read(std::string_view block) {
    return reader_.Read(block, kMost, service_);
  }
  std::optional<GrpcHead> Read(const Fields& fields) { return Read(deflater_.Block(fields)); }
  bool IsMalformed(const Fields& fields) { return Read(fields).value().is_malformed; }

  TwoMethods service_;
  Deflater deflater_;
  GrpcHeadReader reader_;
};

TEST_F(GrpcHeadTest, WhatACallSaysIsRead) {
  const GrpcHead head = Read(CallOf("/b")).value();
  EXPECT_EQ(head.method.shape, GrpcShape::kStreams);
  EXPECT_EQ(head.method.number, 2);
  EXPECT_TRUE(head.is_post);
  EXPECT_TRUE(head.is_grpc);
  EXPECT_FALSE(head.is_malformed);
  std::size_t bytes = 0;
  for (const auto& [name, value] : CallOf("/b")) bytes += name.size() + value.size() + 32;
  EXPECT_EQ(head.bytes, bytes);
}

TEST_F(GrpcHeadTest, TheSameBytesAreDecodedOnce) {
  Read(CallOf("/a"));
  Read(CallOf("/a"));  // the first whose fields are all in the table
  const int asked = service_.asked;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Read(CallOf("/a")).value().method.number, 1);
  EXPECT_EQ(service_.asked, asked);
}

TEST_F(GrpcHeadTest, TheSameBytesMeanSomethingElseWhenTheTableHasChanged) {
  // POST, http, and what was kept last.
  const std::string block = "\x83\x86\xBE";
  ASSERT_TRUE(Read(std::string_view("\x83\x86\x44\x02/a", 6)));  // kept: :path /a
  EXPECT_EQ(Read(block).value().method.number, 1);
  EXPECT_EQ(Read(block).value().method.number, 1);
  ASSERT_TRUE(Read(std::string_view("\x83\x86\x44\x02/b", 6)));
  EXPECT_EQ(Read(block).value().method.number, 2);
  // Nothing is kept of this one, in which :path is said in full.
  EXPECT_EQ(Read(std::string_view("\x83\x86\x04\x02/a", 6)).value().method.number, 1);
  EXPECT_EQ(Read(block).value().method.number, 2);
  // The table is emptied.
  ASSERT_TRUE(Read(std::string_view("\x20\x83\x86\x04\x02/a", 7)));
  EXPECT_FALSE(Read(block));
}

TEST_F(GrpcHeadTest, WhateverComesInBetweenTheFieldsAreThoseThatWereSaid) {
  std::mt19937 random(7);
  const auto any = [&](std::size_t count) { return random() % count; };
  for (int i = 0; i < 20'000; ++i) {
    Fields fields = CallOf(any(2) == 0 ? "/a" : "/b");
    if (any(8) == 0) fields[2].second = "/other" + std::to_string(any(50));
    if (any(8) == 0) fields[0].second = "GET";
    if (any(8) == 0) fields[4].second = "text/plain";
    if (any(4) == 0) fields.emplace_back("x-trace", std::to_string(any(1000)));
    if (any(50) == 0) fields.emplace_back("x-long", std::string(any(5000), 'x'));
    std::size_t bytes = 0;
    for (const auto& [name, value] : fields) bytes += name.size() + value.size() + 32;
    const GrpcHead head = Read(fields).value();
    const GrpcMethod method = service_.Find(fields[2].second);
    ASSERT_EQ(head.method.number, method.number) << i;
    ASSERT_EQ(head.method.shape, method.shape) << i;
    ASSERT_EQ(head.is_post, fields[0].second == "POST") << i;
    ASSERT_EQ(head.is_grpc, fields[4].second == "application/grpc") << i;
    ASSERT_EQ(head.bytes, bytes) << i;
    ASSERT_FALSE(head.is_malformed) << i;
  }
}

TEST_F(GrpcHeadTest, ContentTypesOfGrpcAreTold) {
  const auto is_grpc = [&](const std::string& type) {
    Fields fields = CallOf("/a");
    fields[4].second = type;
    return Read(fields).value().is_grpc;
  };
  EXPECT_TRUE(is_grpc("application/grpc+proto"));
  EXPECT_TRUE(is_grpc("application/grpc;charset=utf-8"));
  EXPECT_FALSE(is_grpc("application/grpc-web"));
  EXPECT_FALSE(is_grpc("application/json"));
}

TEST_F(GrpcHeadTest, WhatHttpForbidsIsMalformed) {
  EXPECT_FALSE(IsMalformed(CallOf("/a")));
  for (const std::size_t required : {0, 1, 2}) {
    Fields fields = CallOf("/a");
    fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(required));
    EXPECT_TRUE(IsMalformed(fields)) << "without " << CallOf("/a")[required].first;
  }
  Fields no_authority = CallOf("/a");
  no_authority.erase(no_authority.begin() + 3);
  EXPECT_FALSE(IsMalformed(no_authority));

  const auto with = [&](const std::string& name, const std::string& value) {
    Fields fields = CallOf("/a");
    fields.emplace_back(name, value);
    return IsMalformed(fields);
  };
  EXPECT_FALSE(with("x-trace", "1"));
  EXPECT_TRUE(with("X-Trace", "1")) << "names are in small letters";
  EXPECT_TRUE(with("x trace", "1"));
  EXPECT_TRUE(with("x-trace", "a\nb"));
  EXPECT_TRUE(with(":path", "/b")) << "said twice, and behind the others";
  EXPECT_TRUE(with(":other", "1"));
  EXPECT_TRUE(with("connection", "close"));
  EXPECT_TRUE(with("transfer-encoding", "chunked"));
  EXPECT_TRUE(with("te", "gzip"));
}

TEST_F(GrpcHeadTest, FieldsThatAreTooLongAreCountedAndNotLookedAt) {
  Fields fields = CallOf("/a");
  fields.insert(fields.begin(), {"x-long", std::string(kMost, 'x')});
  const GrpcHead head = Read(fields).value();
  EXPECT_GT(head.bytes, kMost);
  EXPECT_EQ(service_.asked, 0);
  EXPECT_EQ(Read(CallOf("/a")).value().method.number, 1) << "the table is as it should be";
}

TEST_F(GrpcHeadTest, WhatCannotBeDecodedIsNoHead) {
  EXPECT_FALSE(Read(std::string_view("\xBE")));                  // nothing is there
  EXPECT_FALSE(GrpcHeadReader().Read("\x80", kMost, service_));  // there is no place 0
  EXPECT_FALSE(GrpcHeadReader().Read("\x04\x05/a", kMost, service_)) << "it breaks off";
}

}  // namespace
}  // namespace weir::wire
