#include "weir/awaitable.h"

#include <gtest/gtest.h>

#include <coroutine>
#include <string>
#include <vector>

#include "weir/keyed_limiter.h"
#include "weir/limiter.h"

namespace weir {
namespace {

using std::chrono::milliseconds;

constexpr Instant At(Nanos since_start) { return Instant(since_start); }

// A coroutine that runs by itself and can be ended from outside.
class Task {
 public:
  struct promise_type {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

class AwaitableTest : public testing::Test {
 protected:
  AwaitableTest() { timers_.RunDue(At(Nanos(0))); }

  // Notes in the journal who got what.
  Task Ask(std::string name, Permits cost, Nanos patience) {
    const Decision d = co_await Acquire(limiter_, timers_, cost, patience);
    journal_.push_back(name + (d ? " served" : " refused"));
  }

  Limiter limiter_{Quota::PerSecond(10).Burst(1), {}, At(Nanos(0))};
  TimerQueue timers_;
  std::vector<std::string> journal_;
};

TEST_F(AwaitableTest, ServesInTheOrderOfAsking) {
  std::vector<Task> tasks;
  for (const char* name : {"a", "b", "c"}) tasks.push_back(Ask(name, Permits{1}, Nanos::max()));
  EXPECT_EQ(journal_, std::vector<std::string>{"a served"});
  EXPECT_EQ(timers_.NextDue(), At(milliseconds(100)));
  timers_.RunDue(At(milliseconds(99)));
  EXPECT_EQ(journal_.size(), 1);
  timers_.RunDue(At(milliseconds(100)));
  timers_.RunDue(At(milliseconds(200)));
  EXPECT_EQ(journal_, (std::vector<std::string>{"a served", "b served", "c served"}));
  EXPECT_FALSE(timers_.NextDue());
}

TEST_F(AwaitableTest, RefusesAtOnceWhatCannotBeHadInTime) {
  std::vector<Task> tasks;
  tasks.push_back(Ask("a", Permits{1}, Nanos(0)));
  tasks.push_back(Ask("b", Permits{1}, milliseconds(99)));
  EXPECT_EQ(journal_, (std::vector<std::string>{"a served", "b refused"}));
}

TEST_F(AwaitableTest, AWaiterThatIsDestroyedGivesItsPermitsBack) {
  std::vector<Task> tasks;
  tasks.push_back(Ask("a", Permits{1}, Nanos::max()));
  { const Task gives_up = Ask("b", Permits{1}, Nanos::max()); }
  EXPECT_FALSE(timers_.NextDue()) << "nobody is woken any more";
  tasks.push_back(Ask("c", Permits{1}, milliseconds(100)));
  timers_.RunDue(At(milliseconds(100)));
  EXPECT_EQ(journal_, (std::vector<std::string>{"a served", "c served"}));
}

TEST_F(AwaitableTest, WaitsForAKeyToo) {
  KeyedLimiter clients(Quota::PerSecond(10).Burst(1), {.max_keys = 10});
  const auto ask = [&]() -> Task {
    const Decision d = co_await Acquire(clients.At("user:7"), timers_);
    journal_.push_back(d ? "served" : "refused");
  };
  std::vector<Task> tasks;
  tasks.push_back(ask());
  tasks.push_back(ask());
  EXPECT_EQ(journal_.size(), 1);
  timers_.RunDue(At(milliseconds(100)));
  EXPECT_EQ(journal_.size(), 2);
}

}  // namespace
}  // namespace weir
