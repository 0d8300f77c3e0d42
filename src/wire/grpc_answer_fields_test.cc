#include "wire/grpc_answer_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "wire/http2_frame.h"

namespace weir::wire {
namespace {

using testing::ElementsAre;
using testing::Pair;

using Said = std::vector<std::pair<std::string, std::string>>;

constexpr std::uint32_t kStream = 5;

// As libnghttp2 understands.
class Inflater {
 public:
  Inflater() { nghttp2_hd_inflate_new(&inflater_); }
  ~Inflater() { nghttp2_hd_inflate_del(inflater_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  void SetTableSize(std::size_t size) { nghttp2_hd_inflate_change_table_size(inflater_, size); }

  // Of one frame of HEADERS.
  Said Read(const std::string& bytes) {
    const FrameHeader frame = ReadFrameHeader(bytes.data());
    EXPECT_EQ(frame.type, FrameType::kHeaders);
    EXPECT_EQ(frame.stream, kStream);
    EXPECT_TRUE(frame.has(frame_flag::kEndHeaders));
    EXPECT_EQ(frame.length, bytes.size() - kFrameHeaderSize);
    ends = frame.has(frame_flag::kEndStream);
    const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data()) + kFrameHeaderSize;
    std::size_t left = bytes.size() - kFrameHeaderSize;
    Said said;
    for (;;) {
      nghttp2_nv field;
      int flags = 0;
      const ssize_t read = nghttp2_hd_inflate_hd2(inflater_, &field, &flags, at, left, 1);
      if (read < 0) {
        ADD_FAILURE() << nghttp2_strerror(static_cast<int>(read));
        return said;
      }
      at += read;
      left -= static_cast<std::size_t>(read);
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
        said.emplace_back(std::string(reinterpret_cast<char*>(field.name), field.namelen),
                          std::string(reinterpret_cast<char*>(field.value), field.valuelen));
      }
      if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    }
    nghttp2_hd_inflate_end_headers(inflater_);
    return said;
  }

  bool ends = false;

 private:
  nghttp2_hd_inflater* inflater_ = nullptr;
};

class GrpcAnswerFieldsTest : public testing::Test {
 protected:
  std::string Head() {
    std::string out;
    fields_.AppendHead(kStream, out);
    return out;
  }
  std::string Trailers(GrpcCode code = GrpcCode::kOk, std::string_view message = {}) {
    std::string out;
    fields_.AppendTrailers(kStream, code, message, out);
    return out;
  }

  GrpcAnswerFields fields_;
  Inflater client_;
};

TEST_F(GrpcAnswerFieldsTest, HeadAndTrailersSayWhatGrpcWants) {
  EXPECT_THAT(client_.Read(Head()),
              ElementsAre(Pair(":status", "200"), Pair("content-type", "application/grpc")));
  EXPECT_FALSE(client_.ends);
  EXPECT_THAT(client_.Read(Trailers()), ElementsAre(Pair("grpc-status", "0")));
  EXPECT_TRUE(client_.ends);
}

TEST_F(GrpcAnswerFieldsTest, FromTheSecondTimeOnTheyTakeThreeBytes) {
  client_.Read(Head());
  client_.Read(Trailers());
  EXPECT_EQ(Head().size(), kFrameHeaderSize + 2);
  EXPECT_EQ(Trailers().size(), kFrameHeaderSize + 1);
}

TEST_F(GrpcAnswerFieldsTest, LongTextsAreSaidInFull) {
  const std::string text(3'000, 'x');
  EXPECT_THAT(client_.Read(Trailers(GrpcCode::kInternal, text)),
              ElementsAre(Pair("grpc-status", "13"), Pair("grpc-message", text)));
}

TEST_F(GrpcAnswerFieldsTest, WhatIsTakenBackWasNeverSaid) {
  const GrpcAnswerFields before = fields_;
  Head();  // the client never hears of it
  fields_ = before;
  EXPECT_THAT(client_.Read(Trailers()), ElementsAre(Pair("grpc-status", "0")));
  EXPECT_EQ(client_.Read(Head()).size(), 2U);
  EXPECT_EQ(client_.Read(Head()).size(), 2U);
}

TEST_F(GrpcAnswerFieldsTest, InAnyOrderAndWithAnyTableTheClientUnderstands) {
  std::mt19937 random(11);
  for (int client = 0; client < 300; ++client) {
    GrpcAnswerFields fields;
    Inflater inflater;
    for (int i = 0; i < 30; ++i) {
      if (random() % 16 == 0) {
        constexpr std::array<std::uint32_t, 5> kSizes = {0, 50, 4095, 4096, 65'536};
        const std::uint32_t size = kSizes[random() % kSizes.size()];
        fields.SetTableSize(size);
        inflater.SetTableSize(size);
      }
      const auto code = random() % 3 == 0 ? GrpcCode::kUnimplemented : GrpcCode::kOk;
      const std::string text(random() % 200, 'x');
      Said expected;
      std::string out;
      switch (random() % 4) {
        case 0:
          fields.AppendHead(kStream, out);
          expected = {{":status", "200"}, {"content-type", "application/grpc"}};
          break;
        case 1:
          fields.AppendTrailers(kStream, code, text, out);
          expected = {{"grpc-status", code == GrpcCode::kOk ? "0" : "12"}};
          if (!text.empty()) expected.emplace_back("grpc-message", text);
          break;
        case 2:
          fields.AppendTrailersOnly(kStream, code, text, out);
          expected = {{":status", "200"},
                      {"content-type", "application/grpc"},
                      {"grpc-status", code == GrpcCode::kOk ? "0" : "12"}};
          if (!text.empty()) expected.emplace_back("grpc-message", text);
          if (code == GrpcCode::kUnimplemented) {
            expected.emplace_back("grpc-accept-encoding", "identity");
          }
          break;
        default:
          fields.AppendHttpStatus(kStream, "431", out);
          expected = {{":status", "431"}};
      }
      ASSERT_EQ(inflater.Read(out), expected) << client << " " << i;
    }
  }
}

}  // namespace
}  // namespace weir::wire
