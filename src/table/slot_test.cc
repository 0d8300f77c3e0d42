#include "table/slot.h"

#include <gtest/gtest.h>

#include <random>

namespace weir::table {
namespace {

void Put(Line& line, std::size_t slot, std::uint64_t tag) {
  const Slot held = line.slots[slot].Load();
  ASSERT_TRUE(line.slots[slot].Swap(held, {tag, 7}));
}

TEST(LineTest, AGlanceMissesNoSlotThatHasTheTag) {
  std::mt19937_64 random(1);
  Line line{};
  for (int round = 0; round < 10'000; ++round) {
    for (std::size_t slot = 0; slot < Line::kSlots; ++slot) Put(line, slot, random());
    const std::size_t wanted = random() % Line::kSlots;
    const std::uint64_t tag = line.slots[wanted].tag();
    ASSERT_EQ(&line.SlotAt(line.Match(tag)), &line.slots[wanted]);
    ASSERT_EQ(line.Glance(tag), 1U << wanted);
    ASSERT_EQ(&line.SlotAtBit(line.Glance(tag)), &line.slots[wanted]);
    ASSERT_EQ(line.Glance(~tag), 0U);
  }
}

TEST(LineTest, AGlanceSeesTheUpperHalfOfATagAndNoWords) {
  Line line{};
  Put(line, 1, 0x1234'5678'0000'0001);
  Put(line, 3, 0x1234'5678'FFFF'0001);
  EXPECT_EQ(line.Glance(0x1234'5678'FFFF'0001), 0b1010U) << "one of them is a wrong guess";
  EXPECT_EQ(line.Match(0x1234'5678'FFFF'0001), 0x1000U);
  EXPECT_EQ(line.Match(0x1234'5678'AAAA'0001), 0U);
  EXPECT_EQ(line.Glance(0x1234'5679'FFFF'0001), 0U);
  EXPECT_EQ(line.Glance(0x0000'0007'0000'0000), 0U) << "7 is a word";
}

}  // namespace
}  // namespace weir::table
