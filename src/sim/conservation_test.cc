// No permit is made or lost: whatever happens to hosts, messages and clocks, in whatever order,
// each one is accounted for, to the tick.
//
// RapidCheck makes up what happens, and cuts a sequence that fails down to what matters.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "sim/cluster.h"
#include "sim/events.h"

namespace weir::sim {
namespace {

using authority::KeyPolicy;
using authority::Mode;
using authority::OnFailure;
using authority::Terms;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kHosts = 4;

enum class Kind : std::uint8_t {
  kAsk,
  kRush,
  kRushAtOnce,
  kRefund,
  kWait,
  kIdle,
  // from here on it is trouble
  kLose,
  kDuplicate,
  kReorder,
  kHeal,
  kCut,
  kJoin,
  kPause,
  kKill,
  kStart,
  kStepClock,
};
constexpr auto kPeaceful = static_cast<std::uint8_t>(Kind::kIdle);
constexpr auto kAll = static_cast<std::uint8_t>(Kind::kStepClock);

struct Step {
  Kind kind;
  int host;
  std::uint64_t amount;  // 0 to 1000

  friend std::ostream& operator<<(std::ostream& out, const Step& step) {
    return out << "{" << int{static_cast<std::uint8_t>(step.kind)} << ", " << step.host << ", "
               << step.amount << "}";
  }
};

rc::Gen<std::vector<Step>> Steps(std::uint8_t last_kind) {
  return rc::gen::container<std::vector<Step>>(rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0, last_kind + 1), rc::gen::inRange(0, kHosts),
                     rc::gen::inRange<std::uint64_t>(0, 1001)),
      [](const std::tuple<int, int, std::uint64_t>& step) {
        return Step{static_cast<Kind>(std::get<0>(step)), std::get<1>(step), std::get<2>(step)};
      }));
}

// A cluster to which things happen.
class World {
 public:
  World(const Quota& quota, Mode mode, OnFailure on_failure)
      : cluster_(events_, Options(quota, mode, on_failure), [](RequestId, bool) {}) {}

  void Do(const Step& step) {
    const auto amount = static_cast<std::int64_t>(step.amount);
    switch (step.kind) {
      case Kind::kAsk:
        return cluster_.Arrive(++asked_, step.host, 1 + step.amount % 5);
      case Kind::kRush:
        for (std::int64_t i = 0; i < amount; ++i) cluster_.Arrive(++asked_, step.host, 1);
        return;
      case Kind::kRushAtOnce:
        cluster_.Rush(asked_ + 1, step.amount, step.host);
        asked_ += step.amount;
        return;
      case Kind::kRefund:
        return cluster_.Refund(step.host, step.amount % 3 == 0 ? step.amount : step.amount % 5);
      case Kind::kWait:
        return events_.RunUntil(events_.now() + microseconds(amount * 50));
      case Kind::kIdle:
        return events_.RunUntil(events_.now() + milliseconds(amount * 2));
      case Kind::kLose:
        faults_.lost = static_cast<double>(step.amount) / 1000;
        return cluster_.network().set_faults(faults_);
      case Kind::kDuplicate:
        faults_.duplicated = static_cast<double>(step.amount) / 1000;
        return cluster_.network().set_faults(faults_);
      case Kind::kReorder:
        faults_.reordered = static_cast<double>(step.amount) / 1000;
        return cluster_.network().set_faults(faults_);
      case Kind::kHeal:
        faults_ = {};
        return cluster_.network().set_faults(faults_);
      case Kind::kCut:
        return cluster_.network().Cut(step.host, true);
      case Kind::kJoin:
        return cluster_.network().Cut(step.host, false);
      case Kind::kPause:
        return cluster_.PauseHost(step.host, milliseconds(amount));
      case Kind::kKill:
        return cluster_.KillAuthority();
      case Kind::kStart:
        return cluster_.StartAuthority();
      case Kind::kStepClock:
        return cluster_.StepAuthorityClock(milliseconds(2 * (amount - 500)));
    }
  }

  Cluster& cluster() { return cluster_; }
  Events& events() { return events_; }

 private:
  static ClusterOptions Options(const Quota& quota, Mode mode, OnFailure on_failure) {
    ClusterOptions options;
    options.hosts = kHosts;
    options.policy.terms = Terms::Of(quota).value();
    options.policy.mode = mode;
    options.policy.on_failure = on_failure;
    return options;
  }

  Events events_;
  Faults faults_;
  Cluster cluster_;
  RequestId asked_ = 0;
};

const Quota kQuotas[] = {Quota::PerSecond(100'000), Quota::PerSecond(1'000).Burst(300),
                         Quota::PerSecond(4).Burst(5), Quota::PerMinute(10),
                         Quota::Per(7, milliseconds(3)).Burst(5'000)};

void Conserves(const std::vector<Step>& steps, bool is_peaceful) {
  const Quota quota =
      *rc::gen::elementOf(std::vector<Quota>(std::begin(kQuotas), std::end(kQuotas)));
  const Mode mode = *rc::gen::element(Mode::kStrict, Mode::kLease, Mode::kWriteBack);
  const OnFailure on_failure =
      *rc::gen::element(OnFailure::kAllow, OnFailure::kDeny, OnFailure::kLocal);
  RC_LOG() << quota.permits().count << " in " << quota.period().count() << " ns, mode "
           << int{static_cast<std::uint8_t>(mode)} << ", failure "
           << int{static_cast<std::uint8_t>(on_failure)} << "\n";
  World world(quota, mode, on_failure);
  for (const Step& step : steps) {
    world.Do(step);
    const Audit audit = world.cluster().Count();
    RC_ASSERT(audit.Imbalance() == 0);
    if (is_peaceful) {
      RC_ASSERT(audit.wasted == 0);
      RC_ASSERT(audit.unpaid == 0);
    }
  }
}

TEST(ConservationTest, EveryPermitIsAccountedForWhileNothingGoesWrong) {
  EXPECT_TRUE(rc::check([] { Conserves(*rc::gen::scale(3.0, Steps(kPeaceful)), true); }));
}

TEST(ConservationTest, EveryPermitIsAccountedForWhateverGoesWrong) {
  EXPECT_TRUE(rc::check([] { Conserves(*rc::gen::scale(3.0, Steps(kAll)), false); }));
}

}  // namespace
}  // namespace weir::sim
