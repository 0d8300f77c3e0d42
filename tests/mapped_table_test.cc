// Tables in mapped files: they survive `kill -9`, processes share them, and what is not one is
// refused and left alone.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/temporary_file.h"
#include "weir/keyed_limiter.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Instant At(Nanos since_start) { return Instant(since_start); }

// Runs `work` in a process of its own.
pid_t Start(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
    } catch (...) {
      _exit(1);  // not on into the tests of the parent
    }
    _exit(0);
  }
  return child;
}
void Join(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
void Kill(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// Numbers that parent and children share.
template <typename T>
class Shared {
 public:
  Shared() {
    void* raw = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    value_ = new (raw) T();
  }
  ~Shared() { munmap(value_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  T* value_;
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class MappedTableTest : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] KeyedLimiter Open() const {
    return KeyedLimiter(*Limit::Parse(GetParam()), {.max_keys = 1000, .file = file_.path()});
  }

  TemporaryFile file_;
};

TEST_P(MappedTableTest, ContinuesWhereTheLastProcessWas) {
  {
    KeyedLimiter clients = Open();
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(clients.Take("user:" + std::to_string(i), Permits{60}, At(hours(9))));
    }
  }
  KeyedLimiter clients = Open();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(clients.Take("user:" + std::to_string(i), Permits{1}, At(hours(9))).remaining,
              Permits{39});
  }
  EXPECT_EQ(clients.Take("stranger", Permits{1}, At(hours(9))).remaining, Permits{99});
}

TEST_P(MappedTableTest, TwoProcessesTogetherGetExactlyTheLimit) {
  constexpr std::size_t kKeys = 16;
  const Shared<std::array<std::atomic<int>, kKeys>> taken;
  const auto hammer = [&] {
    KeyedLimiter clients = Open();
    for (std::size_t i = 0; i < 200 * kKeys; ++i) {
      if (clients.Take("user:" + std::to_string(i % kKeys), Permits{1}, At(hours(9)))) {
        (*taken)[i % kKeys].fetch_add(1);
      }
    }
  };
  const pid_t first = Start(hammer);
  const pid_t second = Start(hammer);
  Join(first);
  Join(second);
  for (const std::atomic<int>& count : *taken) EXPECT_EQ(count.load(), 100);
}

TEST_P(MappedTableTest, LosesNothingToKillNine) {
  // A victim takes one permit after the other, counting before and after. Whenever it is killed, at
  // most the one decision under way may be counted in the table and not by the victim.
  struct Counts {
    std::atomic<int> begun{0};
    std::atomic<int> taken{0};
  };
  for (int round = 0; round < 12; ++round) {
    std::filesystem::remove(file_.path());
    const Shared<Counts> counts;
    const pid_t victim = Start([&] {
      KeyedLimiter clients = Open();
      for (;;) {
        for (int key = 0; key < 20; ++key) {
          counts->begun.fetch_add(1);
          if (clients.Take("user:" + std::to_string(key), Permits{1}, At(hours(9)))) {
            counts->taken.fetch_add(1);
          }
        }
        if (counts->taken.load() == 2000) pause();
      }
    });
    while (counts->taken.load() < 1 + round * 150) {
      ASSERT_EQ(waitpid(victim, nullptr, WNOHANG), 0) << "the victim ended by itself";
    }
    Kill(victim);

    KeyedLimiter clients = Open();
    int used = 0;
    for (int key = 0; key < 20; ++key) {
      const Decision d = clients.Peek("user:" + std::to_string(key), Permits{1}, At(hours(9)));
      used += 100 - static_cast<int>(d.remaining.count);
    }
    EXPECT_GE(used, counts->taken.load()) << "something was lost";
    EXPECT_LE(used, counts->taken.load() + 1) << "something was counted twice";
    // And everything can still be changed: whatever the victim held is taken over.
    for (int key = 0; key < 40; ++key) {
      clients.Take("user:" + std::to_string(key), Permits{1}, At(hours(9)));
    }
  }
}

TEST_P(MappedTableTest, OpenedWithAnotherLimitKeepsWhatWasUsed) {
  {
    KeyedLimiter clients = Open();
    ASSERT_TRUE(clients.Take("user:7", Permits{60}));
  }
  std::string limit = GetParam();
  limit.replace(limit.find("100/"), 4, "200/");
  const bool same_size = limit.find("sliding_log") == std::string::npos;
  Result<KeyedLimiter> clients =
      KeyedLimiter::Open(*Limit::Parse(limit), {.max_keys = 1000, .file = file_.path()});
  if (!same_size) {
    EXPECT_FALSE(clients) << "a longer log does not fit the records of the file";
    return;
  }
  ASSERT_TRUE(clients) << clients.error().message;
  // A few may have come back by now, or a window may have ended.
  const Permits remaining = clients->Peek("user:7").remaining;
  EXPECT_TRUE(remaining >= Permits{140} && remaining <= Permits{141}) << remaining.count;
}

INSTANTIATE_TEST_SUITE_P(Algorithms, MappedTableTest,
                         testing::Values("token_bucket 100/1h", "fixed_window 100/1h",
                                         "sliding_window 100/1h", "sliding_log 100/1h",
                                         "sliding_counters 100/1h windows 6",
                                         "token_bucket 100/1h + fixed_window 200/1d"));

class FileThatIsNoTable : public testing::Test {
 protected:
  // Opens the file and expects an error that says `why`, and that nothing was written.
  void ExpectRefusal(const std::string& why) {
    const std::string before = ReadAll(file_.path());
    const Result<KeyedLimiter> clients = KeyedLimiter::Open(kLimit, Options());
    ASSERT_FALSE(clients);
    EXPECT_NE(clients.error().message.find(file_.path() + ": " + why), std::string::npos)
        << clients.error().message;
    EXPECT_TRUE(ReadAll(file_.path()) == before) << "it was changed";
  }
  [[nodiscard]] KeyedOptions Options() const { return {.max_keys = 100, .file = file_.path()}; }

  const Limit kLimit = Quota::PerSecond(10);
  TemporaryFile file_;
};

TEST_F(FileThatIsNoTable, IsRefusedIfItIsSomethingElse) {
  std::ofstream(file_.path()) << "user,limit\nacme,100\n" << std::string(100'000, 'x');
  ExpectRefusal("is not a table of Weir's");
}

TEST_F(FileThatIsNoTable, IsRefusedIfItIsEmpty) {
  std::ofstream(file_.path()).flush();
  ExpectRefusal("is not a table of Weir's");
}

TEST_F(FileThatIsNoTable, IsRefusedIfItIsCutShort) {
  KeyedLimiter(kLimit, Options());
  std::filesystem::resize_file(file_.path(), std::filesystem::file_size(file_.path()) - 1);
  ExpectRefusal("is damaged: it should have");
}

TEST_F(FileThatIsNoTable, IsRefusedIfItsHeaderIsDamaged) {
  KeyedLimiter(kLimit, Options());
  std::fstream file(file_.path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(20).put('!');
  file.close();
  ExpectRefusal("is damaged: its header does not add up");
}

TEST_F(FileThatIsNoTable, IsRefusedIfItWasMadeForAnotherSize) {
  KeyedLimiter(kLimit, {.max_keys = 1'000'000, .file = file_.path()});
  ExpectRefusal("was made for 15");
}

TEST_F(FileThatIsNoTable, IsRefusedIfItCannotBeMade) {
  const Result<KeyedLimiter> clients = KeyedLimiter::Open(
      kLimit, {.max_keys = 100, .file = (file_.folder() / "no" / "such" / "folder").string()});
  ASSERT_FALSE(clients);
  EXPECT_NE(clients.error().message.find("cannot be made: No such file or directory"),
            std::string::npos);
}

TEST_F(FileThatIsNoTable, IsRefusedIfTheDiskIsTooSmall) {
  const Result<KeyedLimiter> clients =
      KeyedLimiter::Open(kLimit, {.max_keys = std::uint64_t{1} << 36, .file = file_.path()});
  ASSERT_FALSE(clients);
  EXPECT_NE(clients.error().message.find("cannot reserve"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(file_.folder())) << "nothing is left behind";
}

TEST_F(FileThatIsNoTable, IsRefusedWhileOthersUseItWithAnotherLimit) {
  const KeyedLimiter first(kLimit, Options());
  const Result<KeyedLimiter> second = KeyedLimiter::Open(Quota::PerSecond(20), Options());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("is in use with the limit 'token_bucket 10/1s'"),
            std::string::npos)
      << second.error().message;
  EXPECT_TRUE(KeyedLimiter::Open(kLimit, Options())) << "with the same one it may be shared";
}

TEST(ConcurrentMappedTableTest, ManyMayMakeTheSameFileAtOnce) {
  const TemporaryFile file;
  std::atomic<int> opened{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      const KeyedOptions options{.max_keys = 100, .file = file.path()};
      if (KeyedLimiter::Open(Quota::PerSecond(10), options)) opened.fetch_add(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(opened.load(), 8);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.folder()), {}), 1)
      << "no drafts are left behind";
}

TEST(MappedTableLimit, ThatBecameSmallerOpensWithTheSmallerOne) {
  const TemporaryFile file;
  const Limit small = FixedWindow{Permits{10}, hours(1), WindowStart::kFirstRequest};
  {
    KeyedLimiter clients(SlidingLog{Quota::PerHour(20)}, {.max_keys = 10, .file = file.path()});
    ASSERT_TRUE(clients.Take("a", Permits{4}));
    ASSERT_TRUE(clients.SetLimit(small));
  }
  KeyedLimiter clients(small, {.max_keys = 10, .file = file.path()});
  EXPECT_EQ(clients.Peek("a").remaining, Permits{6});
}

TEST(MappedTableLimit, ChangedInTheMiddleOfEverythingLosesNothing) {
  // A victim that changes limits back and forth is killed at any moment; the next one wants a
  // third.
  const TemporaryFile file;
  const KeyedOptions options{.max_keys = 3000, .file = file.path()};
  for (int round = 0; round < 8; ++round) {
    std::filesystem::remove(file.path());
    const Shared<std::atomic<int>> changes;
    const pid_t victim = Start([&] {
      KeyedLimiter clients(Quota::PerHour(10), options);
      for (int i = 0; i < 2000; ++i) {
        clients.Take("user:" + std::to_string(i), Permits{4}, At(hours(9)));
      }
      for (;;) {
        (void)clients.SetLimit(FixedWindow{Permits{20}, hours(1)}, At(hours(9)));
        (void)clients.SetLimit(Quota::PerHour(10), At(hours(9)));
        changes->fetch_add(1);
      }
    });
    while (changes->load() < 1 + round * 3) {
      ASSERT_EQ(waitpid(victim, nullptr, WNOHANG), 0) << "the victim ended by itself";
    }
    Kill(victim);
    KeyedLimiter clients(SlidingWindow{Quota::PerHour(50)}, options);
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(clients.Peek("user:" + std::to_string(i), Permits{1}, At(hours(9))).remaining,
                Permits{46})
          << i;
    }
  }
}

TEST(MappedTableClock, IsTheSameForAllThatShareTheTable) {
  const TemporaryFile file;
  const KeyedLimiter first(Quota::PerSecond(10), {.max_keys = 10, .file = file.path()});
  const KeyedLimiter second(Quota::PerSecond(10), {.max_keys = 10, .file = file.path()});
  const Instant before = first.Now();
  const Instant between = second.Now();
  const Instant after = first.Now();
  EXPECT_LE(before, between);
  EXPECT_LE(between, after);
}

}  // namespace
}  // namespace weir
