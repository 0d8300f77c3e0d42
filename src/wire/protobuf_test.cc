#include "wire/protobuf.h"

#include <gmock/gmock.h>
#include <google/protobuf/empty.pb.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "envoy/service/ratelimit/v3/rls.pb.h"

namespace weir::wire {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;

// All fields of a message, "number:value" or "number:'bytes'"; ends in "!" if it made no sense.
std::string Fields(std::string_view message) {
  ProtoReader reader(message);
  std::string text;
  for (ProtoField field; reader.Next(field);) {
    text += std::to_string(field.number) + ":";
    text += field.type == ProtoType::kBytes ? "'" + std::string(field.bytes) + "'"
                                            : std::to_string(field.value);
    text += " ";
  }
  return reader.ok() ? text : text + "!";
}

std::string Bytes(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text += static_cast<char>(byte);
  return text;
}

TEST(ProtoReaderTest, ReadsWhatLibprotobufWrites) {
  RateLimitRequest request;
  request.set_domain("shop");
  request.set_hits_addend(300);
  auto* entry = request.add_descriptors()->add_entries();
  entry->set_key("a");
  EXPECT_EQ(Fields(request.SerializeAsString()),
            "1:'shop' 2:'\n\x03\n\x01"
            "a' 3:300 ");
  EXPECT_EQ(Fields(""), "");
}

TEST(ProtoReaderTest, ReadsNumbersOfAllSizes) {
  EXPECT_EQ(Fields(Bytes({0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01})),
            "1:18446744073709551615 ");
  EXPECT_EQ(Fields(Bytes({0x08, 0x80, 0x80, 0x00})), "1:0 ");  // longer than it need be
  EXPECT_EQ(Fields(Bytes({0x0D, 1, 2, 0, 0x80})), "1:2147484161 ");
  EXPECT_EQ(Fields(Bytes({0x09, 1, 0, 0, 0, 0, 0, 0, 0x80})), "1:9223372036854775809 ");
  // The largest number of a field.
  EXPECT_EQ(Fields(Bytes({0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 7})), "536870911:7 ");
}

TEST(ProtoReaderTest, RefusesWhatMakesNoSense) {
  for (const std::string& bytes : {
           Bytes({0x08}),                             // no value
           Bytes({0x08, 0x80}),                       // a number that is cut off
           Bytes({0x00, 0x01}),                       // field 0
           Bytes({0x80, 0x80, 0x80, 0x80, 0x10, 0}),  // field 2^29
           Bytes({0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02}),  // 65 bits
           Bytes({0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0}),
           Bytes({0x0A, 0x02, 'a'}),  // longer than what is there
           Bytes({0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 'a'}),
           Bytes({0x0D, 1, 2, 3}), Bytes({0x0E, 1}),  // types there are not
           Bytes({0x0F, 1}), Bytes({0x0C}),           // the end of a group that never began
           Bytes({0x0B, 0x08, 1}),                    // a group that never ends
           Bytes({0x0B, 0x14}),                       // or ends as another
       }) {
    EXPECT_EQ(Fields(bytes), "!") << testing::PrintToString(bytes);
  }
}

TEST(ProtoReaderTest, SkipsGroupsUpToADepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '\x0B') + std::string(depth, '\x0C') + Bytes({0x08, 5});
  };
  EXPECT_EQ(Fields(nested(1)), "1:5 ");
  EXPECT_EQ(Fields(nested(32)), "1:5 ");
  EXPECT_EQ(Fields(nested(33)), "!");
  EXPECT_EQ(Fields(Bytes({0x0B, 0x0A, 1, 'x', 0x15, 0, 0, 0, 0, 0x0C, 0x08, 5})), "1:5 ");
}

TEST(ProtoReaderTest, AgreesWithLibprotobufOnWhatIsAMessage) {
  RateLimitRequest whole;
  whole.set_domain("a domain");
  for (int i = 0; i < 3; ++i) {
    auto* descriptor = whole.add_descriptors();
    descriptor->add_entries()->set_key("some key");
    descriptor->mutable_hits_addend()->set_value(std::uint64_t{1} << (20 * i));
  }
  const std::string bytes = whole.SerializeAsString();
  std::mt19937 random(7);
  std::size_t good = 0;
  constexpr std::size_t kRounds = 20'000;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::string cut = bytes.substr(0, random() % (bytes.size() + 1));
    // Numbers of more than 64 bits are cut by libprotobuf, and refused here: none are made.
    for (int i = 0; i < 2 && !cut.empty(); ++i) cut[random() % cut.size()] = random() % 0x80;
    google::protobuf::Empty any;  // all fields are unknown to it
    const bool is_message = any.ParseFromString(cut);
    EXPECT_EQ(Fields(cut).ends_with("!"), !is_message) << testing::PrintToString(cut);
    good += is_message ? 1 : 0;
  }
  EXPECT_GT(good, kRounds / 50);
  EXPECT_LT(good, kRounds / 50 * 49);
}

TEST(ProtoWriterTest, WritesWhatLibprotobufReads) {
  for (const std::size_t size :
       {0U, 1U, 100U, 120U, 127U, 128U, 240U, 250U, 260U, 16'383U, 16'384U, 100'000U}) {
    const std::string name(size, 'n');
    std::string bytes = "kept ";
    {
      ProtoWriter writer(bytes);
      writer.Number(1, 2);
      for (int i = 0; i < 2; ++i) {
        writer.Message(2, [&] {
          writer.Message(2, [&] {
            writer.Number(1, std::numeric_limits<std::uint32_t>::max());
            writer.Text(3, name);
          });
          writer.Message(4, [] {});
        });
      }
    }
    RateLimitResponse response;
    ASSERT_TRUE(response.ParseFromString(bytes.substr(5)));
    EXPECT_EQ(response.SerializeAsString(), bytes.substr(5));  // byte for byte
    ASSERT_EQ(response.statuses_size(), 2);
    EXPECT_EQ(response.statuses(1).current_limit().name(), name);
    EXPECT_EQ(response.statuses(1).current_limit().requests_per_unit(), 4294967295U);
    EXPECT_TRUE(response.statuses(1).has_duration_until_reset());
  }
}

TEST(ProtoWriterTest, WritesAnyNumberOfFields) {
  std::string bytes;
  RateLimitResponse expected;
  {
    ProtoWriter writer(bytes);
    for (std::uint32_t i = 0; i < 300; ++i) {
      auto* status = expected.add_statuses();
      status->set_limit_remaining(i * 50);
      status->mutable_current_limit()->set_name(std::string(i % 40, 'x'));
      writer.Message(2, [&] {
        writer.Message(2, [&] { writer.Text(3, std::string(i % 40, 'x')); });
        writer.Number(3, i * 50);
      });
    }
  }
  EXPECT_EQ(bytes, expected.SerializeAsString());
}

TEST(ProtoWriterTest, LeavesOutWhatHasItsDefaultValue) {
  std::string bytes;
  {
    ProtoWriter writer(bytes);
    writer.Number(1, 0);
    writer.Text(2, "");
  }
  EXPECT_EQ(bytes, "");
  ProtoWriter(bytes).Message(3, [] {});
  EXPECT_EQ(bytes, Bytes({0x1A, 0}));
}

}  // namespace
}  // namespace weir::wire
