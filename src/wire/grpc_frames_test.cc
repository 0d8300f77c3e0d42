// The rules of HTTP/2, by frames that no library would send.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/grpc_connection_harness.h"
#include "wire/grpc_message.h"
#include "wire/http2_frame.h"

namespace weir::wire {
namespace {

using namespace std::string_literals;

using Type = FrameType;
using Error = Http2Error;

std::string Frame(Type type, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
  std::string frame;
  AppendFrame(type, flags, stream, payload, frame);
  return frame;
}

// POST, http, :path /echo or /later or /stream, content-type application/grpc; kept nowhere.
std::string Block(const std::string& path = "/echo") {
  return "\x83\x86\x04"s + static_cast<char>(path.size()) + path + "\x0F\x10\x10" +
         "application/grpc";
}

constexpr std::uint8_t kWhole = frame_flag::kEndHeaders;
constexpr std::uint8_t kEnd = frame_flag::kEndStream;

class GrpcFramesTest : public testing::Test {
 protected:
  GrpcFramesTest() {
    Serve(std::string(kHttp2Preface) + Frame(Type::kSettings, 0, 0, ""));
    said_.clear();
  }
  GrpcConnection::Progress Serve(const std::string& bytes) {
    return connection_.Serve(bytes, now_, said_);
  }
  // A new call, all of which is there.
  std::string Call(std::uint32_t id, const std::string& path = "/echo") {
    return Frame(Type::kHeaders, kWhole, id, Block(path)) +
           Frame(Type::kData, kEnd, id, Framed("hello"));
  }
  // What is said, frame by frame: "HEADERS 1", "GOAWAY 1 by the last", ...
  struct Heard {
    FrameHeader frame;
    std::string payload;
  };
  std::vector<Heard> TakeHeard() {
    std::vector<Heard> all;
    std::string_view rest = said_;
    while (rest.size() >= kFrameHeaderSize) {
      const FrameHeader frame = ReadFrameHeader(rest.data());
      all.push_back({frame, std::string(rest.substr(kFrameHeaderSize, frame.length))});
      rest.remove_prefix(kFrameHeaderSize + frame.length);
    }
    EXPECT_EQ(rest, "");
    said_.clear();
    return all;
  }
  // The connection ends with this code, and the client is told.
  void ExpectEnd(const std::string& bytes, Error error) {
    EXPECT_TRUE(Serve(bytes).close);
    const std::vector<Heard> heard = TakeHeard();
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(heard.back().frame.type, Type::kGoAway);
    EXPECT_EQ(BigEndian32(heard.back().payload.data() + 4), static_cast<std::uint32_t>(error));
  }
  // The call ends with this code, and the connection goes on.
  void ExpectReset(const std::string& bytes, std::uint32_t id, Error error) {
    EXPECT_FALSE(Serve(bytes).close);
    const std::vector<Heard> heard = TakeHeard();
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(heard.back().frame.type, Type::kReset);
    EXPECT_EQ(heard.back().frame.stream, id);
    EXPECT_EQ(BigEndian32(heard.back().payload.data()), static_cast<std::uint32_t>(error));
    ExpectGoesOn();
  }
  void ExpectGoesOn() {
    const int before = service_.answered;
    EXPECT_FALSE(Serve(Call(next_id_)).close);
    EXPECT_EQ(service_.answered, before + 1);
    next_id_ += 2;
    said_.clear();
  }

  EchoService service_;
  Instant now_ = Instant(std::chrono::hours(1));
  GrpcConnection connection_{service_};
  std::string said_;
  std::uint32_t next_id_ = 101;
};

TEST_F(GrpcFramesTest, AnAnswerIsThreeFrames) {
  EXPECT_FALSE(Serve(Call(1)).close);
  const auto heard = TakeHeard();
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(heard[0].frame.type, Type::kHeaders);
  EXPECT_EQ(heard[1].frame.type, Type::kData);
  EXPECT_EQ(heard[1].payload, Framed("hello"));
  EXPECT_EQ(heard[2].frame.type, Type::kHeaders);
  EXPECT_TRUE(heard[2].frame.has(kEnd));
  for (const auto& each : heard) EXPECT_EQ(each.frame.stream, 1U);
}

TEST_F(GrpcFramesTest, APartOfAFrameIsLeftAndWhatItNeedsIsSaid) {
  const std::string call = Call(1);
  const std::string part = call.substr(0, call.size() - 1);
  const auto progress = Serve(part);
  const std::size_t last = kFrameHeaderSize + Framed("hello").size();
  EXPECT_EQ(progress.consumed, call.size() - last);
  EXPECT_EQ(progress.need, last);
  EXPECT_TRUE(progress.in_request);
  EXPECT_EQ(service_.answered, 0);
  EXPECT_EQ(Serve(call.substr(progress.consumed)).consumed, last);
  EXPECT_EQ(service_.answered, 1);
}

TEST_F(GrpcFramesTest, TheFirstFrameIsSettings) {
  GrpcConnection connection(service_);
  EXPECT_TRUE(
      connection
          .Serve(std::string(kHttp2Preface) + Frame(Type::kPing, 0, 0, "12345678"), now_, said_)
          .close);
}

TEST_F(GrpcFramesTest, PaddingAndPrioritiesArePassedOver) {
  const std::string padded = "\x03"s + "\0\0\0\0\x10"s + Block() + "\0\0\0"s;
  Serve(Frame(Type::kHeaders, kWhole | frame_flag::kPadded | frame_flag::kPriority, 1, padded) +
        Frame(Type::kData, kEnd | frame_flag::kPadded, 1, "\x02"s + Framed("hello") + "\0\0"s) +
        Frame(Type::kPriority, 0, 3, "\0\0\0\0\x10"s));
  EXPECT_EQ(service_.answered, 1);
  ExpectGoesOn();
}

TEST_F(GrpcFramesTest, MorePaddingThanThereIsEndsIt) {
  ExpectEnd(Frame(Type::kHeaders, kWhole | frame_flag::kPadded, 1, "\x05" + "\x83\x86"s),
            Error::kProtocol);
}
TEST_F(GrpcFramesTest, DataThatIsAllPaddingIsFine) {
  Serve(Frame(Type::kHeaders, kWhole, 1, Block()) +
        Frame(Type::kData, frame_flag::kPadded, 1, "\x02\0\0"s) +
        Frame(Type::kData, kEnd, 1, Framed("hello")));
  EXPECT_EQ(service_.answered, 1);
}
TEST_F(GrpcFramesTest, DataThatIsMorePaddingThanThereIsEndsIt) {
  ExpectEnd(Frame(Type::kHeaders, kWhole, 1, Block()) +
                Frame(Type::kData, frame_flag::kPadded, 1, "\x03\0\0"s),
            Error::kProtocol);
}

TEST_F(GrpcFramesTest, FieldsMayComeInPieces) {
  const std::string block = Block();
  Serve(Frame(Type::kHeaders, 0, 1, block.substr(0, 3)) +
        Frame(Type::kContinuation, 0, 1, block.substr(3, 5)));
  Serve(Frame(Type::kContinuation, kWhole, 1, block.substr(8)) +
        Frame(Type::kData, kEnd, 1, Framed("hello")));
  EXPECT_EQ(service_.answered, 1);
}
TEST_F(GrpcFramesTest, NothingComesBetweenThePiecesOfFields) {
  ExpectEnd(Frame(Type::kHeaders, 0, 1, Block()) + Frame(Type::kPing, 0, 0, "12345678"),
            Error::kProtocol);
}
TEST_F(GrpcFramesTest, ThePiecesAreOfOneCall) {
  ExpectEnd(Frame(Type::kHeaders, 0, 1, Block()) + Frame(Type::kContinuation, kWhole, 3, ""),
            Error::kProtocol);
}
TEST_F(GrpcFramesTest, APieceOfNothingEndsIt) {
  ExpectEnd(Frame(Type::kContinuation, kWhole, 1, Block()), Error::kProtocol);
}
TEST_F(GrpcFramesTest, PiecesOfFieldsHaveABound) {
  std::string bytes = Frame(Type::kHeaders, 0, 1, "");
  const std::string piece(kLongestPayload, '\x86');
  for (int i = 0; i < 4; ++i) bytes += Frame(Type::kContinuation, 0, 1, piece);
  EXPECT_FALSE(Serve(bytes).close);
  ExpectEnd(Frame(Type::kContinuation, kWhole, 1, "\x86"), Error::kEnhanceYourCalm);
}

TEST_F(GrpcFramesTest, FieldsThatCannotBeDecodedEndIt) {
  ExpectEnd(Frame(Type::kHeaders, kWhole, 1, "\xBE"), Error::kCompression);
}
TEST_F(GrpcFramesTest, ACallOfTheServersNumbersEndsIt) {
  ExpectEnd(Frame(Type::kHeaders, kWhole, 2, Block()), Error::kProtocol);
}
TEST_F(GrpcFramesTest, ACallWithoutANumberEndsIt) {
  ExpectEnd(Frame(Type::kHeaders, kWhole, 0, Block()), Error::kProtocol);
}
TEST_F(GrpcFramesTest, AMalformedCallIsReset) {
  ExpectReset(Frame(Type::kHeaders, kWhole | kEnd, 1, "\x83\x86"), 1, Error::kProtocol);
}
TEST_F(GrpcFramesTest, DataForACallThatNeverBeganEndsIt) {
  ExpectEnd(Frame(Type::kData, kEnd, 1, ""), Error::kProtocol);
}
TEST_F(GrpcFramesTest, DataForACallThatIsOverIsPassedOver) {
  Serve(Call(1) + Frame(Type::kData, 0, 1, "more"));
  ExpectGoesOn();
}
TEST_F(GrpcFramesTest, DataBehindTheEndOfACallResetsIt) {
  ExpectReset(Call(1, "/later") + Frame(Type::kData, kEnd, 1, "more"), 1, Error::kStreamClosed);
  EXPECT_EQ(service_.gone, 1);
}
TEST_F(GrpcFramesTest, TrailersEndACall) {
  Serve(Frame(Type::kHeaders, kWhole, 1, Block()) + Frame(Type::kData, 0, 1, Framed("hello")));
  EXPECT_EQ(service_.answered, 0);
  Serve(Frame(Type::kHeaders, kWhole | kEnd, 1, "\x00\x01x\x01y"s));
  EXPECT_EQ(service_.answered, 1);
}
TEST_F(GrpcFramesTest, TrailersThatEndNothingResetTheCall) {
  ExpectReset(Frame(Type::kHeaders, kWhole, 1, Block()) + Frame(Type::kHeaders, kWhole, 1, ""), 1,
              Error::kProtocol);
}
TEST_F(GrpcFramesTest, TrailersBehindTheEndResetTheCall) {
  ExpectReset(Call(1, "/later") + Frame(Type::kHeaders, kWhole | kEnd, 1, ""), 1,
              Error::kStreamClosed);
}

TEST_F(GrpcFramesTest, AFrameMayBeAsLongAsIsUsualAndNoLonger) {
  const std::string message(kLongestPayload - kGrpcPrefix, 'x');
  Serve(Frame(Type::kHeaders, kWhole, 1, Block()) + Frame(Type::kData, kEnd, 1, Framed(message)));
  EXPECT_EQ(service_.answered, 1);
  said_.clear();
  ExpectEnd(Frame(Type::kData, kEnd, 1, std::string(kLongestPayload + 1, 'x')), Error::kFrameSize);
}

TEST_F(GrpcFramesTest, WhatACallReceivesIsGivenBackInLargeSteps) {
  std::string bytes = Frame(Type::kHeaders, kWhole, 1, Block("/stream"));
  for (int i = 0; i < 17; ++i) {
    bytes += Frame(Type::kData, 0, 1, Framed(std::string(16'000, 'x')));
  }
  EXPECT_FALSE(Serve(bytes).close);
  std::vector<std::uint32_t> given;
  for (const auto& heard : TakeHeard()) {
    if (heard.frame.type == Type::kWindowUpdate && heard.frame.stream == 1) {
      given.push_back(BigEndian32(heard.payload.data()));
    }
  }
  EXPECT_THAT(given, testing::ElementsAre(9 * 16'005));  // more than half of the window
}

TEST_F(GrpcFramesTest, WhatIsReceivedIsGivenBackInLargeSteps) {
  std::uint32_t given = 0;
  std::uint32_t steps = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    Serve(Frame(Type::kHeaders, kWhole, 2 * i + 1, Block()) +
          Frame(Type::kData, kEnd, 2 * i + 1, Framed(std::string(16'000, 'x'))) +
          Frame(Type::kWindowUpdate, 0, 0, "\0\0\x40\0"s));
    for (const auto& heard : TakeHeard()) {
      if (heard.frame.type != Type::kWindowUpdate) continue;
      EXPECT_EQ(heard.frame.stream, 0U);
      given += BigEndian32(heard.payload.data());
      ++steps;
    }
  }
  EXPECT_EQ(steps, 6U);  // of half a MiB
  EXPECT_GT(given, 200U * 16'005 - GrpcLimits().window / 2);
  EXPECT_LE(given, 200U * 16'005);
}

TEST_F(GrpcFramesTest, AWindowThatGrowsByNothingEndsIt) {
  ExpectEnd(Frame(Type::kWindowUpdate, 0, 0, "\0\0\0\0"s), Error::kProtocol);
}
TEST_F(GrpcFramesTest, AWindowThatIsTooWideEndsIt) {
  EXPECT_FALSE(Serve(Frame(Type::kWindowUpdate, 0, 0, "\x7F\xFF\0\0"s)).close);
  ExpectEnd(Frame(Type::kWindowUpdate, 0, 0, "\x7F\xFF\0\1"s), Error::kFlowControl);
}
TEST_F(GrpcFramesTest, AWindowOfACallThatIsTooWideResetsIt) {
  ExpectReset(Call(1, "/later") + Frame(Type::kWindowUpdate, 0, 1, "\x7F\xFF\xFF\xFF"), 1,
              Error::kFlowControl);
}
TEST_F(GrpcFramesTest, AWindowOfACallThatNeverBeganEndsIt) {
  ExpectEnd(Frame(Type::kWindowUpdate, 0, 1, "\0\0\0\1"s), Error::kProtocol);
}

TEST_F(GrpcFramesTest, WindowsOfCallsUnderWayMoveWithTheSetting) {
  Serve(Frame(Type::kSettings, 0, 0, "\0\4\0\0\0\5"s) + Call(1));  // 5 bytes
  EXPECT_EQ(TakeHeard().back().payload, Framed("hello").substr(0, 5));
  Serve(Frame(Type::kSettings, 0, 0, "\0\4\0\0\0\1"s));  // 4 less than were used
  EXPECT_EQ(TakeHeard().size(), 1U);                     // the acknowledgement
  Serve(Frame(Type::kSettings, 0, 0, "\0\4\0\0\0\x0A"s));
  const auto heard = TakeHeard();
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(heard[1].payload, "hello");
  EXPECT_TRUE(heard[2].frame.has(kEnd));
}

TEST_F(GrpcFramesTest, SettingsAreAcknowledged) {
  Serve(Frame(Type::kSettings, 0, 0, "\0\3\0\0\0\1\x12\x34\0\0\0\0"s));  // one nobody knows too
  const auto heard = TakeHeard();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].frame.type, Type::kSettings);
  EXPECT_TRUE(heard[0].frame.has(frame_flag::kAck));
}
TEST_F(GrpcFramesTest, SettingsThatCannotBeEndIt) {
  struct Case {
    std::string payload;
    Error error;
  };
  for (const Case& wrong : {Case{"\0\2\0\0\0\2"s, Error::kProtocol},       // push
                            Case{"\0\4\x80\0\0\0"s, Error::kFlowControl},  // window
                            Case{"\0\5\0\0\x3F\xFF"s, Error::kProtocol},   // frame
                            Case{"\0\5\1\0\0\0"s, Error::kProtocol},       // frame
                            Case{"\0\5\0\0\0"s, Error::kFrameSize}}) {
    GrpcConnection connection(service_);
    said_.clear();
    EXPECT_TRUE(connection
                    .Serve(std::string(kHttp2Preface) + Frame(Type::kSettings, 0, 0, wrong.payload),
                           now_, said_)
                    .close);
    const auto heard = TakeHeard();
    EXPECT_EQ(BigEndian32(heard.back().payload.data() + 4),
              static_cast<std::uint32_t>(wrong.error));
  }
}
TEST_F(GrpcFramesTest, SettingsOfACallEndIt) {
  ExpectEnd(Frame(Type::kSettings, 0, 1, ""), Error::kProtocol);
}
TEST_F(GrpcFramesTest, AnAcknowledgementSaysNothingElse) {
  ExpectEnd(Frame(Type::kSettings, frame_flag::kAck, 0, "\0\3\0\0\0\1"s), Error::kFrameSize);
}

TEST_F(GrpcFramesTest, APingComesBack) {
  Serve(Frame(Type::kPing, 0, 0, "12345678") + Frame(Type::kPing, frame_flag::kAck, 0, "87654321"));
  const auto heard = TakeHeard();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].payload, "12345678");
  EXPECT_TRUE(heard[0].frame.has(frame_flag::kAck));
}
TEST_F(GrpcFramesTest, APingOfAnotherSizeEndsIt) {
  ExpectEnd(Frame(Type::kPing, 0, 0, "1234567"), Error::kFrameSize);
}
TEST_F(GrpcFramesTest, AResetOfACallThatNeverBeganEndsIt) {
  ExpectEnd(Frame(Type::kReset, 0, 1, "\0\0\0\x08"s), Error::kProtocol);
}
TEST_F(GrpcFramesTest, AResetOfAnotherSizeEndsIt) {
  ExpectEnd(Call(1) + Frame(Type::kReset, 0, 1, "\0\0\0"s), Error::kFrameSize);
}
TEST_F(GrpcFramesTest, APromiseEndsIt) {
  ExpectEnd(Frame(Type::kPushPromise, kWhole, 1, "\0\0\0\2"s), Error::kProtocol);
}
TEST_F(GrpcFramesTest, FramesThatNobodyKnowsArePassedOver) {
  Serve(Frame(static_cast<Type>(200), 0xFF, 77, "whatever"));
  EXPECT_TRUE(TakeHeard().empty());
  ExpectGoesOn();
}

TEST_F(GrpcFramesTest, WhoSaysGoodbyeGetsItsAnswersAndIsClosed) {
  EXPECT_FALSE(Serve(Call(1, "/later") + Frame(Type::kGoAway, 0, 0, std::string(8, '\0'))).close);
  service_.calls[0]->Send("answer");
  service_.calls[0]->Finish({});
  connection_.Write(said_);
  EXPECT_EQ(TakeHeard().size(), 3U);
  EXPECT_TRUE(connection_.is_over());
}

TEST_F(GrpcFramesTest, WhoBeginsACallAfterItsGoodbyeIsAnsweredAllTheSame) {
  Serve(Call(1, "/later") + Frame(Type::kGoAway, 0, 0, std::string(8, '\0')));
  EXPECT_FALSE(Serve(Call(3)).close);
  EXPECT_EQ(TakeHeard().size(), 3U);
}

TEST_F(GrpcFramesTest, CallsThatBeginAfterOurGoodbyeAreNotLookedAt) {
  Serve(Call(1, "/later"));
  connection_.GoAway();
  Serve(Call(3));
  const auto heard = TakeHeard();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].frame.type, Type::kGoAway);
  EXPECT_EQ(BigEndian32(heard[0].payload.data()), 1U) << "what came after that can be sent again";
  EXPECT_EQ(service_.answered, 1);
}

// Says 10,000 bytes to each message.
class Chatterbox final : public GrpcService {
 public:
  GrpcMethod Find(std::string_view /*path*/) override { return {GrpcShape::kStreams, 1}; }
  std::optional<GrpcStatus> Answer(GrpcCall& /*call*/, std::string_view /*message*/,
                                   std::string& /*response*/) override {
    return GrpcStatus{};
  }
  void OnMessage(GrpcCall& call, std::string_view /*message*/) override {
    call.Send(std::string(10'000, 'x'));
  }
  void OnEnd(GrpcCall& /*call*/) override {}
  void OnGone(GrpcCall& /*call*/) override {}
};

TEST_F(GrpcFramesTest, OneFrameCannotMakeUsSayWithoutEnd) {
  const GrpcLimits limits;
  Chatterbox chatterbox;
  GrpcConnection connection(chatterbox, limits);
  const auto serve = [&](int messages, std::uint32_t id) {
    std::string body;
    for (int i = 0; i < messages; ++i) body += Framed("");
    said_.clear();
    return connection.Serve(
        Frame(Type::kHeaders, kWhole, id, Block()) + Frame(Type::kData, kEnd, id, body), now_,
        said_);
  };
  // The client's windows have no end.
  connection.Serve(std::string(kHttp2Preface) + Frame(Type::kSettings, 0, 0, "\0\4\x7F\0\0\0"s) +
                       Frame(Type::kWindowUpdate, 0, 0, "\x7F\0\0\0"s),
                   now_, said_);
  EXPECT_FALSE(serve(400, 1).close);
  EXPECT_GT(said_.size(), 4'000'000U);
  EXPECT_TRUE(serve(3'000, 3).close);
  EXPECT_LT(said_.size(), limits.unsent + GrpcConnection::kEnough + 20'000);
}

}  // namespace
}  // namespace weir::wire
