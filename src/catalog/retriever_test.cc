#include "catalog/retriever.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <stdexcept>

namespace weir::catalog {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using State = RetrieverStatus::State;

constexpr seconds kLong{60};

// A source that brings what a test puts there. Its waits take no time but until the test has
// something, or wakes it.
class ScriptedSource final : public RuleSource {
 public:
  struct Script {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<Retrieved()>> answers;
    std::vector<milliseconds> waits;
    bool woken = false;

    void Put(std::function<Retrieved()> answer) {
      {
        const std::lock_guard lock(mutex);
        answers.push_back(std::move(answer));
      }
      changed.notify_all();
    }
  };

  explicit ScriptedSource(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  Retrieved Look() override {
    std::function<Retrieved()> answer;
    {
      const std::lock_guard lock(script_->mutex);
      if (script_->answers.empty()) return {};
      answer = std::move(script_->answers.front());
      script_->answers.pop_front();
    }
    return answer();
  }
  void Wait(milliseconds timeout) override {
    std::unique_lock lock(script_->mutex);
    script_->waits.push_back(timeout);
    script_->changed.wait(lock, [&] { return script_->woken || !script_->answers.empty(); });
    script_->woken = false;
  }
  void Wake() override {
    {
      const std::lock_guard lock(script_->mutex);
      script_->woken = true;
    }
    script_->changed.notify_all();
  }
  [[nodiscard]] std::string Describe() const override { return "the script"; }

 private:
  std::shared_ptr<Script> script_;
};

Retrieved Rules(const std::string& version) {
  Retrieved found;
  found.outcome = Retrieved::Outcome::kRules;
  found.sets = {{"shop", {}}};
  found.version = version;
  return found;
}
Retrieved Away() {
  Retrieved found;
  found.outcome = Retrieved::Outcome::kAway;
  found.away = "nobody is there";
  return found;
}

class RetrieverConcurrentTest : public testing::Test {
 protected:
  std::unique_ptr<Retriever> Make(Retriever::Publish publish) {
    return std::make_unique<Retriever>(std::make_unique<ScriptedSource>(script_),
                                       RetrieverOptions{.jitter_percent = 0}, std::move(publish));
  }
  std::unique_ptr<Retriever> Make() {
    return Make([this](const std::vector<rule::RuleSet>& sets, const std::string& version) {
      EXPECT_EQ(sets.size(), 1);
      published_.push_back(version);
      return rule::Problems{};
    });
  }
  void Put(const Retrieved& found) {
    script_->Put([found] { return found; });
  }

  std::shared_ptr<ScriptedSource::Script> script_ = std::make_shared<ScriptedSource::Script>();
  std::vector<std::string> published_;  // by the retriever's threads; read when they have ended
};

TEST_F(RetrieverConcurrentTest, TheFirstLookIsMadeBeforeStartReturns) {
  Put(Rules("1"));
  const auto retriever = Make();
  EXPECT_EQ(retriever->status().state(), State::kNoRules);
  const RetrieverStatus status = retriever->Start();
  EXPECT_EQ(status.state(), State::kInForce);
  EXPECT_EQ(status.version, "1");
  EXPECT_EQ(status.source, "the script");
}

TEST_F(RetrieverConcurrentTest, WhatChangesIsPublishedOnceAndInOrder) {
  Put(Rules("1"));
  auto retriever = Make();
  retriever->Start();
  for (const char* version : {"2", "3", "4"}) Put(Rules(version));
  while (retriever->LookNow(kLong).version != "4") {
  }
  EXPECT_EQ(retriever->status().published, 4);
  retriever.reset();
  EXPECT_THAT(published_, ElementsAre("1", "2", "3", "4"));
}

TEST_F(RetrieverConcurrentTest, StartsWithoutItsSourceAndCatchesUp) {
  Put(Away());
  auto retriever = Make();
  EXPECT_EQ(retriever->Start().state(), State::kAway);
  for (int i = 0; i < 3; ++i) Put(Away());
  Put(Rules("1"));
  while (retriever->LookNow(kLong).version != "1") {
  }
  EXPECT_EQ(retriever->status().state(), State::kInForce);
  retriever.reset();
  ASSERT_GE(script_->waits.size(), 4);
  script_->waits.resize(4);
  EXPECT_THAT(script_->waits, ElementsAre(seconds(2), seconds(4), seconds(8), seconds(16)));
}

TEST_F(RetrieverConcurrentTest, WhatThePublisherRefusesOrThrowsIsShownAndOverWithTheNextRules) {
  auto retriever = Make([](const std::vector<rule::RuleSet>&, const std::string& version) {
    if (version == "throws") throw std::runtime_error("no room");
    if (version == "bad") return rule::Problems{{"f", {}, "login", "makes no sense", ""}};
    return rule::Problems{};
  });
  Put(Rules("1"));
  retriever->Start();
  Put(Rules("bad"));
  RetrieverStatus status = retriever->LookNow(kLong);
  while (status.state() != State::kBad) status = retriever->LookNow(kLong);
  EXPECT_EQ(status.version, "1");
  EXPECT_EQ(status.problems[0].what, "makes no sense");
  Put(Rules("throws"));
  while (status.bad_version != "throws") status = retriever->LookNow(kLong);
  EXPECT_EQ(status.version, "1");
  EXPECT_THAT(status.problems[0].what, HasSubstr("no room"));
  Put(Rules("2"));
  while (status.version != "2") status = retriever->LookNow(kLong);
  EXPECT_EQ(status.state(), State::kInForce);
}

TEST_F(RetrieverConcurrentTest, ASourceThatThrowsIsAway) {
  Put(Rules("1"));
  const auto retriever = Make();
  retriever->Start();
  script_->Put([]() -> Retrieved { throw std::runtime_error("out of everything"); });
  RetrieverStatus status = retriever->LookNow(kLong);
  while (status.away.empty()) status = retriever->LookNow(kLong);
  EXPECT_EQ(status.away, "out of everything");
  EXPECT_EQ(status.version, "1");
  EXPECT_EQ(retriever->LookNow(kLong).state(), State::kInForce);
}

// What a caller has changed before the call is seen, also if a look was under way that missed it.
TEST_F(RetrieverConcurrentTest, LookNowWaitsForALookThatBeganAfterTheCall) {
  const auto retriever = Make();
  retriever->Start();
  for (int i = 1; i <= 200; ++i) {
    Put(Rules(std::to_string(i)));
    EXPECT_EQ(retriever->LookNow(kLong).version, std::to_string(i));
  }
}

TEST_F(RetrieverConcurrentTest, LookNowWithoutPatienceDoesNotWait) {
  const auto retriever = Make();
  EXPECT_EQ(retriever->LookNow().looks, 0);  // nobody looks before Start()
}

TEST_F(RetrieverConcurrentTest, EndsPromptlyWhetherStartedOrNot) {
  Make().reset();
  for (int i = 0; i < 50; ++i) {
    auto retriever = Make();
    retriever->Start();
    retriever.reset();  // its wait has no end but by Wake()
  }
}

TEST_F(RetrieverConcurrentTest, ManyThreadsReadTheStatusMeanwhile) {
  const auto retriever = Make();
  retriever->Start();
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const RetrieverStatus status = retriever->status();
        EXPECT_EQ(status.version.empty(), !status.since.has_value());
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    Put(Rules(std::to_string(i)));
    retriever->LookNow(kLong);
  }
}

}  // namespace
}  // namespace weir::catalog
