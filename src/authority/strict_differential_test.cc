// Three hosts and one limiter: what the hosts admit together, over a network that delays and
// reorders, is what the library's limiter admits that is fed the same requests in the order in
// which they were written down.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithm/plan.h"
#include "algorithm/state.h"
#include "tests/random_limits.h"
#include "tests/strict_site.h"
#include "weir/keyed_limiter.h"

namespace weir::authority {
namespace {

using random::Random;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kKey = "key";

// The library's words, with looks that do not move them.
class Reference {
 public:
  explicit Reference(const Limit& limit)
      : plan_(algorithm::Plan::Of(limit).value()), words_(plan_.words()) {}

  Decision Take(Permits cost, Instant at) {
    algorithm::State state{std::span<const std::uint64_t>(words_)};
    const Decision decision = plan_.Admit(state, cost, at);
    for (const WordWrite& write : state.writes()) words_[write.index] = write.value;
    return decision;
  }
  [[nodiscard]] Decision Peek(Permits cost, Instant at) const {
    algorithm::State state{std::span<const std::uint64_t>(words_)};
    return plan_.Peek(state, cost, at);
  }

 private:
  algorithm::Plan plan_;
  std::vector<std::uint64_t> words_;
};

class StrictDifferentialTest : public testing::TestWithParam<const char*> {
 protected:
  struct Host {
    std::unique_ptr<SlowStore> wire;
    std::unique_ptr<StrictSite> site;
  };
  // What was written down, in order, and who was told of it when its answer arrived.
  struct Commit {
    Instant at;  // by the key's own time
    std::vector<StrictSettled> told;
  };

  StrictDifferentialTest() : limit_(Limit::Parse(GetParam()).value()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      StrictHostOptions options;
      options.deadline = hours(10'000);  // nobody is answered by a policy
      options.seed = seed;
      auto wire = std::make_unique<SlowStore>(memory_);
      auto site = std::make_unique<StrictSite>(*wire, options, now_);
      hosts_.push_back({std::move(wire), std::move(site)});
    }
  }

  void Ask(Host& host) {
    const Permits cost{random_.OneIn(4) ? 1 + random_.Below(4) : 1};
    const Waiter waiter = costs_.size();
    costs_.push_back(cost);
    const auto known = host.site->Ask({{.limit = &strict_, .key = kKey, .cost = cost}}, waiter);
    if (!known) return;
    ++told_;
    ASSERT_FALSE(known->front());  // only refusals are known
    ++refused_;
    known_.push_back({waiter, commits_.size(), now_});
  }

  // Something on the wire takes a step: it is executed, or its answer arrives.
  void Step(Host& host) {
    if (host.wire->size() == 0) return;
    const std::size_t i = random_.Below(host.wire->size());
    if (!host.wire->is_executed(i)) {
      if (!host.wire->Execute(i)) return;
      WrittenLimits limits;
      const StrictState state = StrictState::Read(memory_.Held(kKey, now_), limits);
      commits_.push_back({state.latest(), {}});
      written_[&host] = commits_.size() - 1;  // one at a time
      return;
    }
    host.wire->Answer(i);
    std::vector<StrictSettled> told = host.site->TakeSettled();
    told_ += told.size();
    if (told.empty()) return;
    if (const auto written = written_.find(&host); written != written_.end()) {
      commits_[written->second].told = std::move(told);
      written_.erase(written);
      return;
    }
    for (const StrictSettled& settled : told) {  // by a look
      EXPECT_FALSE(settled.decisions.front());
      ++refused_;
    }
  }

  void Run() {
    for (int i = 0; i < 6'000; ++i) {
      now_ += microseconds(random_.OneIn(50) ? random_.Below(400'000) : random_.Below(3'000));
      Host& host = hosts_[random_.Below(3)];
      if (random_.OneIn(3)) Ask(host);
      for (Host& each : hosts_) Step(each);
    }
    for (int i = 0; i < 100'000 && told_ < costs_.size(); ++i) {
      for (Host& each : hosts_) Step(each);
    }
    ASSERT_EQ(told_, costs_.size());
  }

  Instant now_{seconds(1'700'000'000)};
  Random random_{7};
  Limit limit_;
  StrictLimit strict_ = StrictLimit::Of(limit_).value();
  LocalSwapStore memory_{[this] { return now_; }};
  std::vector<Host> hosts_;
  std::vector<Permits> costs_;  // by waiter
  std::vector<Commit> commits_;
  std::map<const Host*, std::size_t> written_;  // whose answer has not arrived
  struct Known {
    Waiter waiter;
    std::size_t commits;
    Instant at;
  };
  std::vector<Known> known_;
  std::size_t told_ = 0;
  std::size_t refused_ = 0;
};

TEST_P(StrictDifferentialTest, AdmitsWhatOneLimiterAdmitsInTheSameOrder) {
  Run();
  KeyedLimiter limiter(limit_, {.max_keys = 100});
  Reference reference(limit_);
  std::size_t admitted = 0;
  auto known = known_.begin();
  for (std::size_t i = 0; i <= commits_.size(); ++i) {
    // Refusals from memory hold for everything that was written down until then.
    for (; known != known_.end() && known->commits == i; ++known) {
      EXPECT_FALSE(reference.Peek(costs_[known->waiter], known->at)) << "waiter " << known->waiter;
    }
    if (i == commits_.size()) break;
    const Commit& commit = commits_[i];
    ASSERT_FALSE(commit.told.empty()) << "nobody was told of what was written";
    for (const StrictSettled& settled : commit.told) {
      const Permits cost = costs_[settled.waiter];
      const Decision& told = settled.decisions.front();
      const Decision one = limiter.Take(kKey, cost, commit.at);
      ASSERT_EQ(told.verdict, one.verdict) << "commit " << i << ", waiter " << settled.waiter;
      ASSERT_EQ(told.remaining, one.remaining) << "commit " << i << ", waiter " << settled.waiter;
      EXPECT_EQ(reference.Take(cost, commit.at).verdict, one.verdict);
      admitted += told.allowed() ? 1 : 0;
      refused_ += told.allowed() ? 0 : 1;
    }
  }
  // The test is worth something: much was admitted, much refused, and races were lost.
  EXPECT_GT(admitted, 100U);
  EXPECT_GT(refused_, 100U);
  std::uint64_t surprises = 0;
  for (const Host& host : hosts_) surprises += host.site->host().counts().surprises;
  EXPECT_GT(surprises, 100U);
  EXPECT_EQ(admitted + refused_, costs_.size());
}

INSTANTIATE_TEST_SUITE_P(
    EveryAlgorithm, StrictDifferentialTest,
    testing::Values("token_bucket 40/1s burst 10", "leaky_bucket 40/1s queue 10",
                    "fixed_window 20/500ms", "fixed_window 20/500ms start first",
                    "fixed_window 20/500ms count_denied", "fixed_window 900/day zone UTC",
                    "sliding_window 20/500ms", "sliding_counters 20/500ms windows 5",
                    "sliding_log 20/500ms", "sliding_log 20/500ms min_gap 10ms",
                    "sliding_log 20/500ms count_denied", "pacer 40/1s",
                    "token_bucket 40/1s burst 10 + fixed_window 20/500ms + sliding_log 50/2s"),
    [](const auto& tested) {
      std::string name = "L" + std::to_string(tested.index) + "_";
      for (const char c : std::string(tested.param)) {
        if (c == ' ' && tested.index < 12) break;
        name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      }
      return name;
    });

}  // namespace
}  // namespace weir::authority
