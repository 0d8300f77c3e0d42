// The small parts of a host: reservation, demand, the warm bucket, and messages that come once.
#include <gtest/gtest.h>

#include "authority/demand_meter.h"
#include "authority/local_authority.h"
#include "authority/once.h"
#include "authority/reservation.h"
#include "authority/warm_bucket.h"

namespace weir::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Instant At(int ms) { return Instant(seconds(1000)) + milliseconds(ms); }

TEST(ReservationTest, ALeaseBecomesCreditEvenly) {
  Reservation reservation;
  reservation.Add(0, 10, milliseconds(100), At(0));
  EXPECT_EQ(reservation.WaitFor(1, At(0)), milliseconds(10));
  EXPECT_EQ(reservation.WaitFor(11, At(0)), Nanos::max());
  reservation.Pass(At(9));
  EXPECT_FALSE(reservation.Spend(1));
  reservation.Pass(At(55));
  EXPECT_EQ(reservation.credit(), 5);
  EXPECT_TRUE(reservation.Spend(5));
  EXPECT_EQ(reservation.WaitFor(1, At(55)), milliseconds(5));
  reservation.Pass(At(1000));
  EXPECT_EQ(reservation.at_hand(), 5);
  EXPECT_EQ(reservation.spent(), 5);
}

TEST(ReservationTest, ANewLeaseTakesTheRestOfTheOldOneAlong) {
  Reservation reservation;
  reservation.Add(0, 10, milliseconds(100), At(0));
  reservation.Pass(At(60));
  reservation.Add(0, 6, milliseconds(100), At(60));
  EXPECT_EQ(reservation.at_hand(), 16);
  reservation.Pass(At(160));
  EXPECT_EQ(reservation.credit(), 16);
}

TEST(ReservationTest, GivesBackCreditFirstAndKeepsThePaceOfTheLease) {
  Reservation reservation;
  reservation.Add(3, 10, milliseconds(100), At(0));
  EXPECT_EQ(reservation.GiveBack(8, At(0)), 8);
  EXPECT_EQ(reservation.credit(), 0);
  EXPECT_EQ(reservation.lease_left(), 5);
  EXPECT_EQ(reservation.WaitFor(5, At(0)), milliseconds(100));
  EXPECT_EQ(reservation.GiveBack(100, At(0)), 5);
  EXPECT_EQ(reservation.total(), 0);
}

TEST(DemandMeterTest, WeighsTheLastWindowByWhatIsStillInView) {
  DemandMeter meter(milliseconds(100));
  meter.Add(50, At(0));
  meter.Add(50, At(99));
  EXPECT_EQ(meter.In(milliseconds(100), At(100)), 100);
  EXPECT_EQ(meter.In(milliseconds(100), At(150)), 50);
  EXPECT_EQ(meter.In(seconds(1), At(150)), 500);
  EXPECT_EQ(meter.In(milliseconds(100), At(200)), 0);
}

TEST(DemandMeterTest, SeesARushBeforeTheWindowIsOver) {
  DemandMeter meter(milliseconds(80));
  meter.Add(1, At(0));
  for (int i = 0; i < 99; ++i) meter.Add(1, At(10));
  EXPECT_EQ(meter.Rush(8, At(10)), 800);
  EXPECT_EQ(meter.Rush(101, At(10)), 0) << "too few to believe";
  EXPECT_EQ(meter.Rush(8, At(80)), 100) << "what it came to";
}

TEST(WarmBucketTest, IsAsLargeAsTheShareAndAsFullAsItShouldBe) {
  const Terms terms = Terms::Of(Quota::PerSecond(100)).value();
  constexpr std::uint64_t kQuarter = 250'000;
  WarmBucket bucket;
  EXPECT_TRUE(bucket.HasRoom(terms, kQuarter, 25, At(0)));
  EXPECT_FALSE(bucket.HasRoom(terms, kQuarter, 26, At(0)));
  bucket.Note(terms, kQuarter, 25, At(0));
  EXPECT_EQ(bucket.WaitFor(terms, kQuarter, 1, At(0)), milliseconds(40));
  EXPECT_FALSE(bucket.HasRoom(terms, kQuarter, 1, At(39)));
  EXPECT_TRUE(bucket.HasRoom(terms, kQuarter, 1, At(40)));
  EXPECT_EQ(bucket.Owed(terms, kQuarter, At(400)), 15);
}

TEST(WarmBucketTest, LetsOnePermitThroughHoweverSmallTheShare) {
  const Terms terms = Terms::Of(Quota::PerSecond(100)).value();
  WarmBucket bucket;
  EXPECT_TRUE(bucket.HasRoom(terms, 1, 1, At(0)));
  bucket.Note(terms, 1, 1, At(0));
  EXPECT_FALSE(bucket.HasRoom(terms, 1, 1, At(60'000)));
}

TEST(OnceTest, LetsEachNumberThroughOnceInAnyOrder) {
  Once once;
  EXPECT_TRUE(once.LetsThrough(1));
  EXPECT_FALSE(once.LetsThrough(1));
  EXPECT_TRUE(once.LetsThrough(5));
  EXPECT_TRUE(once.LetsThrough(3));
  EXPECT_FALSE(once.LetsThrough(3));
  EXPECT_FALSE(once.LetsThrough(5));
  EXPECT_TRUE(once.LetsThrough(200));
  EXPECT_FALSE(once.LetsThrough(136)) << "too old to know";
  EXPECT_TRUE(once.LetsThrough(137));
}

class Collected final : public Replies {
 public:
  void OnReply(Ticket ticket, const SyncReply& reply) override {
    ++count;
    last_ticket = ticket;
    last = reply;
  }
  int count = 0;
  Ticket last_ticket = 0;
  SyncReply last;
};

TEST(LocalAuthorityTest, AnswersABatchInOrderAndForgetsKeysThatDoNotMatter) {
  const Terms terms = Terms::Of(Quota::PerSecond(10)).value();
  std::uint64_t now = 1'000'000'000;
  LocalAuthority authority([&now] { return now; });
  Collected replies;
  for (int i = 0; i < 5'000; ++i) {
    const std::string key = std::to_string(i);
    const SyncRequest batch[] = {{.ticket = 1, .key = key, .terms = &terms, .take = 10},
                                 {.ticket = 2, .key = key, .terms = &terms, .take = 1}};
    authority.Sync(batch, replies);
    ASSERT_EQ(replies.last_ticket, 2);
    ASSERT_FALSE(replies.last.taken);
    now += 10'000;
  }
  EXPECT_EQ(replies.count, 10'000);
  EXPECT_LT(authority.size(), 1'100) << "a key matters for 3 s, in which 300 more come";
}

}  // namespace
}  // namespace weir::authority
