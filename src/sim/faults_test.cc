// What goes wrong, one thing at a time: how much is let through while it lasts, and that it is over
// when it is over. The failure table of docs/cluster.md.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "sim/chance.h"
#include "sim/cluster.h"
#include "sim/method.h"

namespace weir::sim {
namespace {

using authority::Breaker;
using authority::Mode;
using authority::OnFailure;
using authority::Terms;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kHosts = 4;
constexpr double kRate = 1000;  // and so much at once

// A cluster that is asked for twice its limit, evenly at all hosts, second by second.
class FaultsTest : public testing::TestWithParam<Mode> {
 protected:
  void Start(OnFailure on_failure) {
    ClusterOptions options;
    options.hosts = kHosts;
    options.policy.terms = Terms::Of(Quota::PerSecond(1000)).value();
    options.policy.mode = GetParam();
    options.policy.on_failure = on_failure;
    cluster_ = std::make_unique<Cluster>(
        events_, options, [this](RequestId, bool is_admitted) { admitted_ += is_admitted; });
    Second();
    Second();  // the first took the burst along
    EXPECT_NEAR(Second(), kRate, 0.03 * kRate) << "before anything goes wrong";
  }

  // How much is admitted in the next second.
  double Second() {
    const std::uint64_t before = admitted_;
    for (int i = 0; i < 2000; ++i) {
      events_.RunUntil(events_.now() + Nanos(500'000));
      cluster_->Arrive(++id_, static_cast<int>(chance_.Below(kHosts)));
    }
    EXPECT_EQ(cluster_->Count().Imbalance(), 0);
    return static_cast<double>(admitted_ - before);
  }

  // Within so many seconds it is as if nothing had happened.
  void ExpectRecoveryIn(int most) {
    for (int i = 0; i < most; ++i) Second();
    EXPECT_NEAR(Second(), kRate, 0.03 * kRate) << "afterwards";
  }

  // The authority dies for two seconds and comes back without its memory. In the second of them, so
  // much of the limit is admitted.
  void SurvivesItsAuthority(OnFailure on_failure, double least, double most) {
    Start(on_failure);
    cluster_->KillAuthority();
    Second();  // what was at hand, and those who waited
    EXPECT_NE(cluster_->breaker(0).state(), Breaker::State::kClosed);
    const double second = Second();
    EXPECT_GE(second, least * kRate);
    EXPECT_LE(second, most * kRate);
    cluster_->StartAuthority();
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += Second();
    // One bucket more, and what hosts admitted before they knew.
    EXPECT_LE(sum, 3 * kRate + kRate + 1.3 * most * kRate);
    EXPECT_EQ(cluster_->breaker(0).state(), Breaker::State::kClosed);
    ExpectRecoveryIn(1);
  }

  Events events_;
  Chance chance_{7};
  std::unique_ptr<Cluster> cluster_;
  std::uint64_t admitted_ = 0;
  RequestId id_ = 0;
};

TEST_P(FaultsTest, LostMessagesCostPermitsRatherThanGivingAny) {
  Start(OnFailure::kDeny);
  cluster_->network().set_faults({.lost = 0.05});
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += Second();
  EXPECT_LE(sum, 3 * kRate * 1.05 + 50);
  EXPECT_GT(sum, 3 * kRate * 0.4);
  cluster_->network().set_faults({});
  ExpectRecoveryIn(2);
}

TEST_P(FaultsTest, MessagesThatComeTwiceCountOnce) {
  Start(OnFailure::kDeny);
  cluster_->network().set_faults({.duplicated = 0.5});
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(Second(), kRate, 0.03 * kRate);
  EXPECT_EQ(cluster_->Count().wasted, 0);
  EXPECT_EQ(cluster_->Count().unpaid, 0);
}

TEST_P(FaultsTest, MessagesOutOfOrderAreLateAndNothingElse) {
  Start(OnFailure::kDeny);
  cluster_->network().set_faults({.reordered = 0.3, .held_back = milliseconds(5)});
  for (int i = 0; i < 3; ++i) {
    const double second = Second();
    EXPECT_LE(second, 1.06 * kRate);
    EXPECT_GE(second, 0.7 * kRate);
  }
  cluster_->network().set_faults({});
  ExpectRecoveryIn(1);
}

TEST_P(FaultsTest, HostsThatAreCutOffGoOnWithTheirShare) {
  Start(OnFailure::kLocal);
  cluster_->network().Cut(0, true);
  cluster_->network().Cut(1, true);
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += Second();
  // Two of four have half the limit, and the two that are left are given all of it; those that are
  // cut off begin with a share of the burst at most.
  EXPECT_LE(sum, 3 * 1.5 * kRate + 0.5 * kRate + 0.1 * kRate);
  EXPECT_GE(sum, 3 * 1.2 * kRate);
  cluster_->network().Cut(0, false);
  cluster_->network().Cut(1, false);
  ExpectRecoveryIn(3);
}

TEST_P(FaultsTest, AHostThatWasPausedDoesNotSpendWhatIsNoLongerItsOwn) {
  Start(OnFailure::kDeny);
  cluster_->PauseHost(0, seconds(2));
  Second();
  Second();
  // It finds two seconds of requests; the rest of the cluster has used all there was.
  EXPECT_LE(Second(), kRate * 1.05 + 50);
  ExpectRecoveryIn(1);
}

TEST_P(FaultsTest, AClockThatIsSetForwardGivesWhatItSaysAndNoMoreThanABurst) {
  Start(OnFailure::kDeny);
  cluster_->StepAuthorityClock(milliseconds(500));
  const double second = Second();
  EXPECT_GE(second, 1.4 * kRate);
  EXPECT_LE(second, 1.6 * kRate);
  ExpectRecoveryIn(0);
  cluster_->StepAuthorityClock(seconds(100));
  EXPECT_LE(Second(), 2 * kRate);
  ExpectRecoveryIn(1);
}

TEST_P(FaultsTest, AClockThatIsSetBackGivesNothingAndLocksNobodyOut) {
  Start(OnFailure::kDeny);
  cluster_->StepAuthorityClock(-seconds(100));
  EXPECT_LE(Second(), 1.05 * kRate);
  ExpectRecoveryIn(1);
}

TEST_P(FaultsTest, WithoutAnAuthorityAllIsAllowedIfThePolicySaysSo) {
  SurvivesItsAuthority(OnFailure::kAllow, 1.9, 2.0);
}
TEST_P(FaultsTest, WithoutAnAuthorityNothingIsAllowedIfThePolicySaysSo) {
  SurvivesItsAuthority(OnFailure::kDeny, 0.0, 0.02);
}
TEST_P(FaultsTest, WithoutAnAuthorityTheSharesOfAllHostsAreTheLimit) {
  SurvivesItsAuthority(OnFailure::kLocal, 0.9, 1.1);
}

INSTANTIATE_TEST_SUITE_P(AllModes, FaultsTest,
                         testing::Values(Mode::kStrict, Mode::kLease, Mode::kWriteBack),
                         [](const auto& mode) {
                           switch (mode.param) {
                             case Mode::kStrict:
                               return "Strict";
                             case Mode::kLease:
                               return "Lease";
                             case Mode::kWriteBack:
                               return "WriteBack";
                           }
                           return "";
                         });

}  // namespace
}  // namespace weir::sim
