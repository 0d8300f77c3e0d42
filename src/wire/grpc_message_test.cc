#include "wire/grpc_message.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/flood_guard.h"
#include "wire/grpc_status.h"

namespace weir::wire {
namespace {

constexpr std::size_t kLongest = 1000;

std::string Framed(std::string_view message) {
  const auto prefix = GrpcPrefix(message.size());
  return std::string(prefix.data(), prefix.size()).append(message);
}

TEST(GrpcMessageReaderTest, AMessageInOnePieceIsNotCopied) {
  GrpcMessageReader reader;
  const std::string bytes = Framed("hello") + Framed("");
  const GrpcRead first = reader.Next(bytes, kLongest);
  EXPECT_EQ(first.status, GrpcReadStatus::kMessage);
  EXPECT_EQ(first.message, "hello");
  EXPECT_EQ(first.message.data(), bytes.data() + kGrpcPrefix);
  const GrpcRead second = reader.Next(std::string_view(bytes).substr(first.consumed), kLongest);
  EXPECT_EQ(second.status, GrpcReadStatus::kMessage);
  EXPECT_EQ(second.message, "");
  EXPECT_EQ(first.consumed + second.consumed, bytes.size());
}

TEST(GrpcMessageReaderTest, EveryCutGivesTheSameMessages) {
  const std::string bytes = Framed("hello") + Framed("") + Framed(std::string(300, 'x'));
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    GrpcMessageReader reader;
    std::string seen;
    for (std::string_view rest :
         {std::string_view(bytes).substr(0, cut), std::string_view(bytes).substr(cut)}) {
      while (!rest.empty()) {
        const GrpcRead read = reader.Next(rest, kLongest);
        rest.remove_prefix(read.consumed);
        if (read.status == GrpcReadStatus::kMessage) seen += std::string(read.message) + "|";
      }
    }
    EXPECT_EQ(seen, "hello||" + std::string(300, 'x') + "|") << cut;
  }
}

TEST(GrpcMessageReaderTest, WhatIsKeptOutlivesItsBytes) {
  GrpcMessageReader reader;
  std::string bytes = Framed("hello");
  const std::string_view kept = reader.Keep(reader.Next(bytes, kLongest).message);
  bytes.assign(bytes.size(), '?');
  EXPECT_EQ(kept, "hello");
  EXPECT_EQ(reader.kept(), 5);
  EXPECT_EQ(reader.Next(Framed("next"), kLongest).consumed, 9);
  EXPECT_EQ(reader.kept(), 0);
}

TEST(GrpcMessageReaderTest, TheLengthIsRefusedBeforeItsBytesCome) {
  EXPECT_EQ(GrpcMessageReader().Next(Framed(std::string(kLongest, 'x')), kLongest).status,
            GrpcReadStatus::kMessage);
  const auto prefix = GrpcPrefix(kLongest + 1);
  EXPECT_EQ(GrpcMessageReader().Next({prefix.data(), prefix.size()}, kLongest).status,
            GrpcReadStatus::kTooLong);
  const auto largest = GrpcPrefix(0xFFFFFFFF);
  EXPECT_EQ(GrpcMessageReader().Next({largest.data(), largest.size()}, kLongest).status,
            GrpcReadStatus::kTooLong);
}

TEST(GrpcMessageReaderTest, AMessageThatIsCompressedIsNotRead) {
  std::string bytes = Framed("hello");
  bytes[0] = 1;
  EXPECT_EQ(GrpcMessageReader().Next(bytes, kLongest).status, GrpcReadStatus::kCompressed);
}

TEST(GrpcMessageTest, TheTextOfAStatusIsPrintableAndNotEndless) {
  EXPECT_EQ(EncodeGrpcMessage("plain, ~ and space"), "plain, ~ and space");
  EXPECT_EQ(EncodeGrpcMessage("50%\r\n\x7F\xFF"), "50%25%0D%0A%7F%FF");
  EXPECT_EQ(EncodeGrpcMessage(std::string(5000, 'x')), std::string(1024, 'x'));
}

TEST(FloodGuardTest, ABurstIsPaidBackByTimeAndByCalls) {
  FloodGuard guard;
  Instant now(std::chrono::hours(1));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(guard.Charge(FloodGuard::kReset, now));
  EXPECT_FALSE(guard.Charge(FloodGuard::kFrame, now));
  now += std::chrono::milliseconds(11);
  EXPECT_TRUE(guard.Charge(FloodGuard::kReset, now));
  EXPECT_FALSE(guard.Charge(FloodGuard::kFrame, now));
  guard.Earn(FloodGuard::kReset);
  EXPECT_TRUE(guard.Charge(FloodGuard::kFrame, now));
}

TEST(FloodGuardTest, CallsEarnNothingInAdvance) {
  FloodGuard guard;
  const Instant now(std::chrono::hours(1));
  for (int i = 0; i < 100'000; ++i) guard.Earn(FloodGuard::kReset);
  int allowed = 0;
  while (guard.Charge(FloodGuard::kReset, now)) ++allowed;
  EXPECT_EQ(allowed, 1000);
}

}  // namespace
}  // namespace weir::wire
