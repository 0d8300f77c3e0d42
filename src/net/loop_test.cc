#include "net/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace weir::net {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

// A loop at a time that the test sets.
class LoopTest : public testing::Test {
 protected:
  void TurnAt(Nanos since_start) {
    now_ = kStart + since_start;
    loop_.Turn(Nanos(0));
  }
  Loop::Callback Note(std::string text) {
    return [this, text = std::move(text)] { notes_.push_back(text); };
  }

  static constexpr Instant kStart{hours(1)};
  Instant now_ = kStart;
  Loop loop_{[this] { return now_; }};
  std::vector<std::string> notes_;
};

TEST_F(LoopTest, ATimerGoesOffAtItsInstantAndNotANanosecondEarlier) {
  loop_.After(milliseconds(10), Note("timer"));
  TurnAt(milliseconds(10) - Nanos(1));
  EXPECT_THAT(notes_, IsEmpty());
  TurnAt(milliseconds(10));
  TurnAt(milliseconds(20));
  EXPECT_THAT(notes_, ElementsAre("timer"));
}

TEST_F(LoopTest, TimersGoOffInTheOrderOfTheirInstantsThenAsTheyWereSet) {
  loop_.After(milliseconds(2), Note("late"));
  loop_.After(milliseconds(1), Note("early"));
  loop_.After(milliseconds(2), Note("later"));
  TurnAt(milliseconds(5));
  EXPECT_THAT(notes_, ElementsAre("early", "late", "later"));
}

TEST_F(LoopTest, ATimerThatIsCancelledDoesNotGoOffNotEvenByAnother) {
  const Loop::Timer never = loop_.After(milliseconds(1), Note("never"));
  loop_.Cancel(never);
  loop_.Cancel(never);
  loop_.Cancel(Loop::kNoTimer);
  Loop::Timer victim = Loop::kNoTimer;
  loop_.After(milliseconds(1), [&] { loop_.Cancel(victim); });
  victim = loop_.After(milliseconds(1), Note("victim"));
  TurnAt(milliseconds(1));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(LoopTest, ATimerSetByATimerWaitsForTheNextTurn) {
  std::function<void()> again = [&] {
    notes_.emplace_back("again");
    loop_.After(Nanos(0), again);
  };
  loop_.After(Nanos(0), again);
  loop_.After(Nanos(1), Note("other"));
  TurnAt(Nanos(1));
  EXPECT_THAT(notes_, ElementsAre("again", "other"));
  TurnAt(Nanos(1));
  EXPECT_THAT(notes_, ElementsAre("again", "other", "again"));
}

TEST_F(LoopTest, TheLongestDelayIsNotInThePast) {
  loop_.After(Nanos::max(), Note("never"));
  TurnAt(hours(24 * 365));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(LoopTest, ATimerEndsTheWait) {
  // The only test here in real time: that epoll_wait() returns for it.
  Loop loop;
  bool rang = false;
  loop.After(milliseconds(5), [&] { rang = true; });
  const auto begin = std::chrono::steady_clock::now();
  while (!rang) loop.Turn(seconds(60));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(5));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(50));
}

class Pipe final : public Loop::Watcher {
 public:
  explicit Pipe(Loop& loop) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    out_ = Descriptor(ends[0]);
    in_ = Descriptor(ends[1]);
    EXPECT_EQ(loop.Watch(out_.get(), EPOLLIN, *this), 0);
  }
  void Write() const { EXPECT_EQ(write(in_.get(), "x", 1), 1); }
  void Read() const {
    char byte = 0;
    EXPECT_EQ(read(out_.get(), &byte, 1), 1);
  }
  void OnReady(std::uint32_t /*events*/) override { on_ready(); }
  void OnTurnEnds() override { on_turn_ends(); }
  [[nodiscard]] int fd() const { return out_.get(); }

  std::function<void()> on_ready;
  std::function<void()> on_turn_ends;

 private:
  Descriptor out_;
  Descriptor in_;
};

TEST_F(LoopTest, TellsOfADescriptorUntilItIsDealtWith) {
  Pipe pipe(loop_);
  int calls = 0;
  pipe.on_ready = [&] { ++calls; };
  TurnAt(Nanos(0));
  EXPECT_EQ(calls, 0);
  pipe.Write();
  TurnAt(Nanos(0));
  TurnAt(Nanos(0));
  EXPECT_EQ(calls, 2);
  loop_.ChangeWatch(pipe.fd(), 0, pipe);
  TurnAt(Nanos(0));
  EXPECT_EQ(calls, 2);
  loop_.ChangeWatch(pipe.fd(), EPOLLIN, pipe);
  TurnAt(Nanos(0));
  EXPECT_EQ(calls, 3);
  pipe.Read();
  TurnAt(Nanos(0));
  EXPECT_EQ(calls, 3);
}

TEST_F(LoopTest, AWatcherThatAnotherRetiresLivesUntilTheTurnIsOver) {
  // Both are told of in the same turn; whichever comes first retires the other.
  auto first = std::make_unique<Pipe>(loop_);
  auto second = std::make_unique<Pipe>(loop_);
  first->Write();
  second->Write();
  int calls = 0;
  const auto retire_other = [&](std::unique_ptr<Pipe>& other) {
    ++calls;
    if (other) {
      loop_.Unwatch(other->fd());
      loop_.Retire(std::move(other));
    }
  };
  first->on_ready = [&] { retire_other(second); };
  second->on_ready = [&] { retire_other(first); };
  TurnAt(Nanos(0));
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(!first && !second);
  TurnAt(Nanos(0));
  EXPECT_EQ(calls, 2);
}

TEST_F(LoopTest, MessagesAreRunInOrderAndAMessageOfAMessageInTheNextTurn) {
  loop_.Post(Note("one"));
  loop_.Post([this] {
    notes_.emplace_back("two");
    loop_.Post(Note("three"));
  });
  TurnAt(Nanos(0));
  EXPECT_THAT(notes_, ElementsAre("one", "two"));
  TurnAt(Nanos(0));
  EXPECT_THAT(notes_, ElementsAre("one", "two", "three"));
}

TEST_F(LoopTest, StopBeforeRunEndsItAndItCanRunAgain) {
  loop_.Stop();
  loop_.Run();
  loop_.Post(Note("again"));
  loop_.Stop();
  loop_.Run();
  EXPECT_THAT(notes_, ElementsAre("again"));
}

TEST(LoopConcurrentTest, NoMessageIsLostWhoeverPosts) {
  constexpr int kThreads = 4;
  constexpr int kMessages = 5000;
  Loop loop;
  int received = 0;  // by the loop's thread only
  {
    std::vector<std::jthread> posters;
    for (int i = 0; i < kThreads; ++i) {
      posters.emplace_back([&] {
        for (int j = 0; j < kMessages; ++j) {
          loop.Post([&] {
            if (++received == kThreads * kMessages) loop.Stop();
          });
        }
      });
    }
    loop.Run();
  }
  EXPECT_EQ(received, kThreads * kMessages);
}

TEST_F(LoopTest, TellsOfTheEndOfATurnWhenEverybodyWasTold) {
  Pipe first(loop_);
  Pipe second(loop_);
  std::string order;
  for (Pipe* pipe : {&first, &second}) {
    pipe->on_ready = [&, pipe] {
      pipe->Read();
      order += "ready ";
      loop_.TellAtEnd(*pipe);
    };
    pipe->on_turn_ends = [&] { order += "end "; };
    pipe->Write();
  }
  loop_.After(Nanos(0), [&] { order += "timer "; });
  TurnAt(Nanos(0));
  EXPECT_EQ(order, "ready ready end end timer ");
  TurnAt(Nanos(0));
  EXPECT_EQ(order, "ready ready end end timer ") << "told once";
}

TEST_F(LoopTest, WhoAsksForTheEndOfATurnBetweenTurnsOrInATimerIsToldToo) {
  Pipe pipe(loop_);
  int ends = 0;
  pipe.on_turn_ends = [&] { ++ends; };
  loop_.TellAtEnd(pipe);
  loop_.Turn(seconds(60));  // which does not take so long
  EXPECT_EQ(ends, 1);
  loop_.After(Nanos(0), [&] { loop_.TellAtEnd(pipe); });
  TurnAt(Nanos(0));
  EXPECT_EQ(ends, 2);
}

}  // namespace
}  // namespace weir::net
