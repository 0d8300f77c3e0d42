// What can happen to a database of rules: processes and servers are killed in the middle of
// writing, the disk is full, the folder read-only, the server away. Nothing that was committed is
// lost, and the error says what to do.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sched.h>
#include <soci/soci.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "catalog/database.h"
#include "catalog/rule_store.h"
#include "tests/child_process.h"
#include "tests/postgres.h"
#include "tests/rule_database.h"

namespace weir::catalog {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Changes rules as fast as it can, three at once, and reports each revision once it is committed.
// Ends at the first error.
void WriteWithoutEnd(const std::string& url, int report) {
  const auto store = RuleStore::Open(url);
  if (!store.ok()) return;
  for (int i = 0;; ++i) {
    const std::string text = std::to_string(getpid()) + ": " + std::to_string(i) +
                             std::string(static_cast<std::size_t>(i % 7) * 1000, '.');
    const StoreResult<Revision> revision =
        (*store)->Apply({{"shop", "a", text, std::nullopt},
                         {"shop", "b", i % 2 == 0 ? std::optional(text) : std::nullopt, {}},
                         {"shop", "c", text, std::nullopt}},
                        {"writer", ""});
    if (!std::holds_alternative<Revision>(revision)) return;
    const Revision committed = std::get<Revision>(revision);
    if (write(report, &committed, sizeof committed) != sizeof committed) return;
  }
}

// The last revision in a report.
Revision LastOf(const std::string& report) {
  Revision last = 0;
  const std::size_t whole = report.size() / sizeof last;
  if (whole > 0) std::memcpy(&last, report.data() + (whole - 1) * sizeof last, sizeof last);
  return last;
}

void ExpectThere(const std::string& url, Revision committed) {
  const auto store = RuleStore::Open(url);
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_GE((*store)->Latest().value(), committed);
  EXPECT_EQ(WhatIsWrongWith(url), "");
}

class RuleStoreKillTest : public testing::TestWithParam<Engine> {};
INSTANTIATE_TEST_SUITE_P(Sqlite, RuleStoreKillTest, testing::Values(Engine::kSqlite));
INSTANTIATE_TEST_SUITE_P(Postgres, RuleStoreKillTest, testing::Values(Engine::kPostgres));

TEST_P(RuleStoreKillTest, AWriterThatIsKilledLeavesTheDatabaseWhole) {
  const RuleDatabase database(GetParam());
  std::mt19937 random(1);
  for (int round = 0; round < 12; ++round) {
    ChildProcess writer([&](int report) { WriteWithoutEnd(database.url(), report); });
    if (round % 4 != 0) {  // or else it may be killed when it has not even begun
      ASSERT_EQ(writer.Read(sizeof(Revision)).size(), sizeof(Revision)) << "it does not write";
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    writer.Kill();
    ExpectThere(database.url(), LastOf(writer.ReadAll()));
  }
}

TEST(PostgresFailureTest, AServerThatIsKilledHasLostNothingThatWasCommitted) {
  Postgres server;
  const std::string url = server.NewDatabase();
  std::mt19937 random(2);
  for (int round = 0; round < 4; ++round) {
    ChildProcess writer([&](int report) { WriteWithoutEnd(url, report); });
    const std::string first = writer.Read(sizeof(Revision));
    ASSERT_EQ(first.size(), sizeof(Revision)) << "it does not write";
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 50'000));
    server.Kill();
    const std::string report = first + writer.ReadAll();  // it ends at the error
    server.Start();
    ExpectThere(url, LastOf(report));
  }
}

TEST(PostgresFailureTest, AServerThatWasAwayIsUsedAgainWhenItIsBack) {
  Postgres server;
  const std::string url = server.NewDatabase();
  const auto opened = RuleStore::Open(url);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  RuleStore& store = **opened;
  const auto put = [&](const char* text) {
    return store.Apply({{"shop", "login", text, std::nullopt}}, {});
  };
  RevisionOf(put("1"));
  while (store.WaitForChange(std::chrono::milliseconds(0)).value()) {
  }
  const auto is_named = AllOf(HasSubstr("database postgresql://weir@127.0.0.1:"),
                              Not(HasSubstr(Postgres::password())));
  server.Stop();
  EXPECT_THAT(store.WaitForChange(std::chrono::hours(1)).error().message, is_named);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(MessageOf(put("2")), AllOf(is_named, HasSubstr("cannot change rules")));
    EXPECT_THAT(store.Latest().error().message, is_named);
    EXPECT_THAT(store.ReadAll().error().message, AllOf(is_named, HasSubstr("cannot connect")));
    EXPECT_THAT(store.WaitForChange(std::chrono::hours(1)).error().message, is_named);
  }
  EXPECT_THAT(RuleStore::Open(url).error().message, AllOf(is_named, HasSubstr("server runs")));

  server.Start();
  EXPECT_EQ(store.Latest().value(), 1);
  EXPECT_EQ(RevisionOf(put("2")), 2);
  EXPECT_TRUE(store.WaitForChange(std::chrono::hours(1)).value());
}

TEST(PostgresFailureTest, AServerThatStopsToAnswerIsGivenUp) {
  Database database(*ParseDatabaseUrl(RuleDatabase(Engine::kPostgres).url()));
  const auto ask = [&](const char* question, std::chrono::milliseconds patience) {
    return database.Run(
        "ask", [&](soci::session& session) { return session << question, 1; }, patience);
  };
  EXPECT_TRUE(ask("SELECT pg_sleep(0.05)", std::chrono::hours(1)).ok());
  EXPECT_THAT(ask("SELECT pg_sleep(9)", std::chrono::milliseconds(50)).error().message,
              AllOf(HasSubstr("cannot ask: the server does not answer and was given up"),
                    HasSubstr("postgresql://weir@127.0.0.1")));
  EXPECT_TRUE(ask("SELECT 1", std::chrono::hours(1)).ok());
}

TEST(PostgresFailureTest, AWriterThatWaitsTooLongForOthersSaysSo) {
  const RuleDatabase database(Engine::kPostgres);
  const auto store = RuleStore::Open(database.url() + "?options=-c%20lock_timeout%3D50ms").value();
  const auto other = Connect(*ParseDatabaseUrl(database.url()));
  other->begin();
  long long latest = 0;
  *other << "SELECT latest FROM weir_revision FOR UPDATE", soci::into(latest);
  const std::vector<Edit> edits = {{"shop", "login", "5/min", 0}};
  EXPECT_THAT(MessageOf(store->Apply(edits, {})), HasSubstr("others have kept the rules locked"));
  EXPECT_EQ(store->Latest().value(), 0);  // who only reads does not wait
  other->rollback();
  EXPECT_EQ(RevisionOf(store->Apply(edits, {})), 1);
}

TEST(PostgresFailureTest, AWrongPasswordOrDatabaseIsNamedAndNoPasswordShown) {
  const std::string url = RuleDatabase(Engine::kPostgres).url();
  std::string wrong = url;
  wrong.replace(wrong.find(Postgres::password()), std::strlen(Postgres::password()), "guessed");
  EXPECT_THAT(RuleStore::Open(wrong).error().message,
              AllOf(HasSubstr("cannot connect"), HasSubstr("password authentication failed"),
                    Not(HasSubstr("guessed"))));
  EXPECT_THAT(RuleStore::Open(url + "0").error().message, HasSubstr("does not exist"));
}

TEST(DatabaseFailureTest, AServerThatDoesNotAnswerIsGivenUp) {
  const int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(silent, 1), 0);
  ASSERT_EQ(getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string url =
      "postgresql://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/rules";
  // Two seconds are the least that libpq knows.
  EXPECT_THAT(RuleStore::Open(url + "?connect_timeout=2").error().message,
              AllOf(HasSubstr("cannot connect"), HasSubstr("timeout")));
  close(silent);
}

TEST(SqliteFailureTest, AFileThatIsNoDatabaseIsLeftAlone) {
  const TemporaryFile file;
  const std::string text(8192, 'x');
  std::ofstream(file.path()) << text;
  EXPECT_THAT(RuleStore::Open(file.path()).error().message,
              AllOf(HasSubstr(file.path()), HasSubstr("the file is not a database")));
  std::ifstream again(file.path());
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(again), {}), text);
}

TEST(SqliteFailureTest, AFolderThatIsNotThereIsNamed) {
  const TemporaryFile file;
  EXPECT_THAT(RuleStore::Open(file.path() + "/rules.db").error().message,
              AllOf(HasSubstr(file.path() + "/rules.db"), HasSubstr("its folder must exist")));
}

// --- what needs a process of its own: it gives up rights, or sees another file system ------------

// Becomes somebody who may not write everywhere, as root may.
void GiveUpRoot() {
  if (geteuid() != 0) return;
  const passwd* nobody = getpwnam("nobody");
  if (setgroups(0, nullptr) != 0 || setgid(nobody->pw_gid) != 0 || setuid(nobody->pw_uid) != 0) {
    abort();
  }
}

void Tell(int report, const std::string& text) {
  if (write(report, text.data(), text.size()) < 0) abort();
}

TEST(SqliteFailureTest, AReadOnlyFolderIsSaidAndNothingIsLost) {
  const RuleDatabase database(Engine::kSqlite);
  RevisionOf(database.Open()->Apply({{"shop", "login", "5/min", 0}}, {}));
  const std::string file = database.folder() / "rules.db";
  chmod(file.c_str(), 0444);
  chmod(database.folder().c_str(), 0555);
  ChildProcess child([&](int report) {
    GiveUpRoot();
    const auto store = RuleStore::Open(file);
    if (!store.ok()) return Tell(report, store.error().message);
    Tell(report, MessageOf((*store)->Apply({{"shop", "login", "6/min", 1}}, {})));
  });
  EXPECT_THAT(child.ReadAll(), AllOf(HasSubstr(file), HasSubstr("write")));
  ChildProcess other([&](int report) {
    GiveUpRoot();
    Tell(report, RuleStore::Open(database.folder() / "new.db").error().message);
  });
  EXPECT_THAT(other.ReadAll(), AllOf(HasSubstr("new.db"), HasSubstr("cannot be opened or made"),
                                     HasSubstr("write the file and the folder")));

  chmod(database.folder().c_str(), 0755);
  chmod(file.c_str(), 0644);
  EXPECT_EQ(WhatIsWrongWith(file), "");
  EXPECT_EQ(RevisionOf(database.Open()->Apply({{"shop", "login", "6/min", 1}}, {})), 2);
}

// A file system of a megabyte in `folder`, for this process alone. Whoever is not root needs a
// kernel that lets users have their own, in which they stay who they are.
bool MountSmallDisk(const std::string& folder) {
  if (geteuid() == 0) {
    if (unshare(CLONE_NEWNS) != 0) return false;
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  } else {
    const std::string user = std::to_string(geteuid());
    const std::string group = std::to_string(getegid());
    if (unshare(CLONE_NEWNS | CLONE_NEWUSER) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user + " " + user + " 1";
    std::ofstream("/proc/self/gid_map") << group + " " + group + " 1";
  }
  return mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") == 0;
}

// Without one: no file of this process grows beyond this.
void LimitFiles(rlim_t size) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{size, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
}

// Fills the disk that `url` is on, and says what is not as it should be.
std::string FillTheDisk(const std::string& url, const std::function<void()>& make_room,
                        const std::string& expected) {
  auto store = RuleStore::Open(url).value();
  const std::string text(20'000, 'x');
  Revision committed = 0;
  std::string message;
  for (int i = 0; i < 1000 && message.empty(); ++i) {
    const auto result = store->Apply({{"shop", std::to_string(i), text, 0}}, {});
    message = MessageOf(result);
    if (message.empty()) committed = std::get<Revision>(result);
  }
  if (message.find(expected) == std::string::npos) return "said: " + message;
  if (message.find("rules.db") == std::string::npos) return "does not name it: " + message;
  if (committed < 5) return "stopped after " + std::to_string(committed);
  const auto all = store->ReadAll();
  if (!all.ok()) return "cannot be read: " + all.error().message;
  if (all->revision != committed) return "has " + std::to_string(all->revision);
  make_room();
  if (const std::string wrong = WhatIsWrongWith(url); !wrong.empty()) return wrong;
  const auto next = store->Apply({{"shop", "more", text, 0}}, {});
  if (!std::holds_alternative<Revision>(next)) return "afterwards: " + MessageOf(next);
  return "ok";
}

TEST(SqliteFailureTest, AFullDiskIsSaidAndNothingIsLost) {
  const TemporaryFile disk;
  const std::string url = disk.folder() / "rules.db";
  ChildProcess child([&](int report) {
    const std::string filler = disk.folder() / "filler";
    if (!MountSmallDisk(disk.folder())) return Tell(report, "no disk");
    std::ofstream(filler) << std::string(400'000, 'f');
    Tell(report, FillTheDisk(
                     url, [&] { std::filesystem::remove(filler); }, "the disk is full"));
  });
  // Where no file system may be mounted, the next test shows the same in another way.
  EXPECT_THAT(child.ReadAll(), testing::AnyOf("ok", "no disk"));
}

TEST(SqliteFailureTest, AFileThatMayNotGrowIsSaidAndNothingIsLost) {
  const TemporaryFile disk;
  ChildProcess child([&](int report) {
    LimitFiles(1'000'000);
    Tell(report,
         FillTheDisk(
             disk.folder() / "rules.db", [] { LimitFiles(RLIM_INFINITY); }, "nothing was changed"));
  });
  EXPECT_EQ(child.ReadAll(), "ok");
}

}  // namespace
}  // namespace weir::catalog
