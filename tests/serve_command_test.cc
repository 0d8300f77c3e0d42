// `weir serve` from its command line on: where it takes its configuration from, what it says before
// it serves, and what signals make of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "rule/api_keys.h"
#include "server/program.h"
#include "tests/child_process.h"
#include "tests/shell.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kRules = "namespace: default\nrules: [{name: all, limit: 1/h}]\n";

class Folder {
 public:
  std::string Write(const std::string& name, std::string_view text) {
    const std::string path = Path(name);
    std::ofstream(path) << text;
    return path;
  }
  [[nodiscard]] std::string Path(const std::string& name) const {
    return (files_.folder() / name).string();
  }

 private:
  TemporaryFile files_;
};

class ServeCommandTest : public ::testing::Test {
 protected:
  // `weir serve` with these words. What it says is in `out_` and `err_`.
  int Serve(std::vector<std::string> words) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    words.insert(words.begin(), "serve");
    const int code = RunProgram(words, "1", {in, out, err});
    out_ = out.str();
    err_ = err.str();
    return code;
  }
  // A file of rules, and the names of all others in it.
  std::string Configuration(const std::string& rest) {
    return folder_.Write("weir.yaml", "rules: " + folder_.Write("rules.yaml", kRules) +
                                          "\nstate: " + folder_.Path("state") + "\n" + rest);
  }

  Folder folder_;
  std::string out_;
  std::string err_;
};

// --- what is in force ----------------------------------------------------------------------------

TEST_F(ServeCommandTest, PrintsWhatIsInForceAndWhoSaidSo) {
  const std::string file = Configuration("max-keys: 5\ngateway: ['::1', 10.0.0.0/8]\n");
  setenv("WEIR_THREADS", "3", 1);
  EXPECT_EQ(Serve({"--config", file, "--fields", "none", "--print-config"}), 0) << err_;
  unsetenv("WEIR_THREADS");
  EXPECT_THAT(out_, ContainsRegex("\nmax-keys: 5 +# " + file + ":3:11\n"));
  EXPECT_THAT(out_, ContainsRegex("\ngateway: \\[\"::1\", 10.0.0.0/8\\] +# " + file + ":4:10\n"));
  EXPECT_THAT(out_, ContainsRegex("\nthreads: 3 +# WEIR_THREADS\n"));
  EXPECT_THAT(out_, ContainsRegex("\nfields: none +# --fields\n"));
  EXPECT_THAT(out_, ContainsRegex("http: 127.0.0.1:8080 +# by default\n"));
}

TEST_F(ServeCommandTest, WhatIsPrintedIsAConfigurationThatSaysTheSame) {
  ASSERT_EQ(Serve({"--config", Configuration("api-key-header: 'a: b # c'\nthreads: 2\n"),
                   "--print-config"}),
            0);
  const std::string first = out_;
  ASSERT_EQ(Serve({"--config", folder_.Write("again.yaml", first), "--print-config"}), 0) << err_;
  const auto values = [](const std::string& text) {
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      result += line.substr(0, line.find("  # ")) + "\n";
    }
    return result;
  };
  EXPECT_EQ(values(first), values(out_));
  EXPECT_THAT(first, HasSubstr("api-key-header: \"a: b # c\""));
}

TEST_F(ServeCommandTest, SecretsAreNotPrinted) {
  setenv("WEIR_PASSWORD", "hunter2", 1);
  EXPECT_EQ(Serve({"--database", "postgresql://weir:hunter2@db/rules", "--print-config"}), 0);
  unsetenv("WEIR_PASSWORD");
  EXPECT_THAT(out_, Not(HasSubstr("hunter2")));
  EXPECT_THAT(out_, ContainsRegex("password: \"\\*+\" +# WEIR_PASSWORD"));
  EXPECT_THAT(out_, HasSubstr("postgresql://weir:********@db/rules"));
}

TEST_F(ServeCommandTest, TheVariablesOfRatelimitCountLessThanItsOwn) {
  setenv("PORT", "1234", 1);
  EXPECT_EQ(Serve({"--ratelimit-environment", "--print-config"}), 0);
  EXPECT_THAT(out_, ContainsRegex("http: 0.0.0.0:1234 +# --ratelimit-environment"));
  EXPECT_EQ(Serve({"--config", Configuration("http: ''\nratelimit-environment: true\n"),
                   "--print-config"}),
            0);
  unsetenv("PORT");
  EXPECT_THAT(out_, ContainsRegex("http: \"\" +# .*weir.yaml:3:7"));
}

// --- what is wrong -------------------------------------------------------------------------------

TEST_F(ServeCommandTest, EverythingThatIsWrongWithTheConfigurationIsToldAtOnce) {
  const std::string file = Configuration("htp: x\nthreads: many\n");
  EXPECT_EQ(Serve({"--config", file}), 2);
  EXPECT_EQ(err_, "weir serve: " + file + ":3:1: unknown name 'htp'; did you mean 'http'?\n" +
                      file +
                      ":4:10: threads: Value many not in range 0 to 1024; weir serve --help says "
                      "what it may be\n");
}

TEST_F(ServeCommandTest, TheVariableNamesTheFileToo) {
  setenv("WEIR_CONFIG", folder_.Path("missing.yaml").c_str(), 1);
  EXPECT_EQ(Serve({"--print-config"}), 2);
  EXPECT_THAT(err_, HasSubstr("missing.yaml: cannot be read: No such file"));
  EXPECT_EQ(Serve({"--config", Configuration(""), "--print-config"}), 0)
      << "the option counts more";
  unsetenv("WEIR_CONFIG");
}

TEST_F(ServeCommandTest, AVariableOfTheServerIsNoneOfOtherCommands) {
  setenv("WEIR_THREADS", "many", 1);
  std::istringstream in(std::string{kRules});
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunProgram({"rules", "check", "-"}, "1", {in, out, err}), 0) << err.str();
  unsetenv("WEIR_THREADS");
}

// --- --check -------------------------------------------------------------------------------------

TEST_F(ServeCommandTest, ACheckSaysWhatWouldBeServedAndTouchesNothing) {
  EXPECT_EQ(Serve({"--config", Configuration("http: 127.0.0.1:1\ngrpc: ''\n"), "--check"}), 0)
      << err_;
  EXPECT_THAT(out_, AllOf(StartsWith("nothing is wrong; it would serve\nHTTP   on 127.0.0.1:1\n"),
                          Not(HasSubstr("gRPC")), HasSubstr("rules  from the file "),
                          Not(HasSubstr("Try it"))));
  EXPECT_FALSE(std::filesystem::exists(folder_.Path("state")));
}

TEST_F(ServeCommandTest, ACheckDoesNotMakeTheDatabase) {
  EXPECT_EQ(Serve({"--state", folder_.Path("new"), "--check"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("weir.db, which is still to be made, with an example\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_.Path("new")));
}

TEST_F(ServeCommandTest, ACheckFindsWhatIsWrongInEachPlace) {
  const auto error = [&](const std::string& rest) {
    EXPECT_EQ(Serve({"--config", Configuration(rest), "--check"}), 2) << rest;
    return err_;
  };
  EXPECT_THAT(error("idle-timeout: soon\n"),
              HasSubstr("weir.yaml:3:15: idle-timeout: expected a time such as 10s or 5m"));
  EXPECT_THAT(error("http: nowhere\n"), HasSubstr("weir.yaml:3:7: http: "));
  EXPECT_THAT(error("log-level: loud\n"), HasSubstr("weir.yaml:3:12: log-level: there is debug"));
  EXPECT_THAT(error("api-keys: " + folder_.Path("keys") + "\n"),
              HasSubstr("weir.yaml:3:11: api-keys: cannot read "));
  const std::string bad = folder_.Write("bad.yaml", "namespace: default\nrules: [{name: all}]\n");
  EXPECT_EQ(Serve({"--rules", bad, "--check"}), 2);
  EXPECT_THAT(err_, HasSubstr("bad.yaml:2:9: rule 'all': there is no limit"));
}

// --- signals -------------------------------------------------------------------------------------

// `weir serve` in a process of its own.
class Process {
 public:
  explicit Process(std::vector<std::string> words, const std::string& notify = "")
      : child_([words, notify](int report) mutable {
          // What it says goes where the test reads.
          dup2(report, STDOUT_FILENO);
          dup2(report, STDERR_FILENO);
          if (!notify.empty()) setenv("NOTIFY_SOCKET", notify.c_str(), 1);
          words.insert(words.begin(), "serve");
          const int code = RunProgram(words, "1", {std::cin, std::cout, std::cerr});
          std::cout << "exit code " << code << std::endl;
        }) {}

  // All it has said until `text` is in what it says, or until its end.
  std::string ReadUntil(const std::string& text) {
    std::string said;
    while (said.find(text) == std::string::npos) {
      const std::string more = child_.Read(1);
      if (more.empty()) break;
      said += more;
    }
    return said;
  }
  std::string ReadLine(const std::string& text) {
    std::string said = ReadUntil(text);
    return said += ReadUntil("\n");
  }
  void Signal(int signal) const { kill(child_.id(), signal); }
  std::string End() {
    Signal(SIGTERM);
    return child_.ReadAll();
  }

 private:
  ChildProcess child_;
};

class ServeSignalsConcurrentTest : public ::testing::Test {
 protected:
  ServeSignalsConcurrentTest() { folder_.Write("rules.yaml", kRules); }
  void Configure(const std::string& rest) {
    folder_.Write("weir.yaml",
                  "http: 127.0.0.1:0\ngrpc: ''\nresp: ''\nadmin: ''\nstate: memory\nthreads: 1\n"
                  "max-keys: 1000\nrules: " +
                      folder_.Path("rules.yaml") + "\n" + rest);
  }
  Process Start() { return Process({"--config", folder_.Path("weir.yaml")}); }
  // Where it listens, from the line of its log that says that it has started.
  static std::string AddressOf(const std::string& started) {
    const std::size_t at = started.find(" http=") + 6;
    return started.substr(at, started.find(' ', at) - at);
  }

  Folder folder_;
};

TEST_F(ServeSignalsConcurrentTest, ItStartsEndsAndSaysSo) {
  Configure("log-format: json\n");
  Process server = Start();
  EXPECT_THAT(server.ReadLine("\"event\":\"started\""),
              AllOf(StartsWith("HTTP   on 127.0.0.1:"), HasSubstr("\"version\":\"1\"")));
  EXPECT_THAT(server.End(),
              AllOf(HasSubstr("\"event\":\"stopping\",\"message\":\"requests under way are "
                              "answered\",\"signal\":\"SIGTERM\"}\n"),
                    HasSubstr("\"event\":\"stopped\""), HasSubstr("exit code 0\n")));
}

TEST_F(ServeSignalsConcurrentTest, ReadinessGoesFirstAndEverythingIsStillAnswered) {
  Configure("drain-delay: 1h\n");
  Process server = Start();
  const std::string http = "http://" + AddressOf(server.ReadLine("started:"));
  const auto code = [&](const std::string& path) {
    return Shell("curl -s -o /dev/null -w '%{http_code}' --max-time 20 " + http + path);
  };
  EXPECT_EQ(code("/readyz"), "200");
  server.Signal(SIGTERM);
  EXPECT_THAT(server.ReadLine("turning_away"), HasSubstr("not ready any more, ends in 1h"));
  EXPECT_EQ(code("/readyz"), "503");
  EXPECT_EQ(code("/healthz"), "200");
  EXPECT_EQ(code("/check"), "200");
  EXPECT_EQ(code("/check"), "429");
  server.Signal(SIGHUP);  // too late for a reload
  EXPECT_EQ(code("/check"), "429");
  EXPECT_THAT(server.End(),
              AllOf(Not(HasSubstr("reload")), HasSubstr("stopped"), HasSubstr("exit code 0\n")))
      << "the second time it ends at once";
}

TEST_F(ServeSignalsConcurrentTest, TheDelayEndsByItself) {
  Configure("drain-delay: 20ms\n");
  Process server = Start();
  server.ReadLine("started:");
  EXPECT_THAT(server.End(), AllOf(HasSubstr("turning_away"), HasSubstr("exit code 0\n")));
}

TEST_F(ServeSignalsConcurrentTest, WhoInterruptsDoesNotWaitForTheDelay) {
  Configure("drain-delay: 1h\n");
  Process server = Start();
  server.ReadLine("started:");
  server.Signal(SIGINT);
  EXPECT_THAT(server.ReadUntil("exit code 0\n"),
              AllOf(Not(HasSubstr("turning_away")), HasSubstr("exit code 0\n")));
}

TEST_F(ServeSignalsConcurrentTest, ASignalHasRulesAndKeysReadAgain) {
  folder_.Write("rules.yaml", "namespace: default\nrules: [{name: u, by: [user], limit: 1/h}]\n");
  const std::string keys = folder_.Write("keys", rule::ApiKeys::Digest("old key") + " ann\n");
  Configure("api-keys: " + keys + "\n");
  Process server = Start();
  const std::string http = AddressOf(server.ReadLine("started:"));
  const auto ask = [&](const std::string& key) {
    return Shell("curl -s -o /dev/null -w '%{http_code}' --max-time 20 -H 'X-API-Key: " + key +
                 "' http://" + http + "/check");
  };
  EXPECT_EQ(ask("old key"), "200");
  EXPECT_EQ(ask("old key"), "429");
  EXPECT_EQ(ask("new key"), "200");
  EXPECT_EQ(ask("new key"), "200") << "nobody's";
  folder_.Write("keys", rule::ApiKeys::Digest("new key") + " ann\n");
  server.Signal(SIGHUP);
  EXPECT_THAT(server.ReadLine("reloaded:"), Not(HasSubstr("reload_failed")));
  EXPECT_EQ(ask("new key"), "429") << "ann's, who has taken all";
  EXPECT_EQ(ask("old key"), "200") << "nobody's any more";
  EXPECT_EQ(ask("old key"), "200");
  EXPECT_THAT(server.End(), HasSubstr("exit code 0\n"));
}

TEST_F(ServeSignalsConcurrentTest, WhatCannotBeReadAgainStaysAsItWas) {
  const std::string keys = folder_.Write("keys", rule::ApiKeys::Digest("key") + " ann\n");
  Configure("api-keys: " + keys + "\n");
  Process server = Start();
  const std::string http = AddressOf(server.ReadLine("started:"));
  folder_.Write("keys", "no digest\n");
  folder_.Write("rules.yaml", "rules: 7\n");
  folder_.Write("weir.yaml", "htp: x\n");
  server.Signal(SIGHUP);
  const std::string said = server.ReadLine("rules.yaml: version");
  EXPECT_THAT(said, HasSubstr("what was in force stays: " + folder_.Path("weir.yaml") +
                              ":1:1: unknown name 'htp'; did you mean 'http'?"));
  EXPECT_THAT(said, HasSubstr("what was in force stays: " + keys + ":1: "));
  EXPECT_EQ(Shell("curl -s -o /dev/null -w '%{http_code}' http://" + http + "/check"), "200");
  EXPECT_EQ(Shell("curl -s -o /dev/null -w '%{http_code}' http://" + http + "/check"), "429");
  EXPECT_THAT(server.End(), HasSubstr("exit code 0\n"));
}

TEST_F(ServeSignalsConcurrentTest, TheLevelOfTheLogChangesAndTheRestIsNamed) {
  Configure("");
  Process server = Start();
  server.ReadLine("started:");
  Configure("log-level: warning\nfields: none\nidle-timeout: 1m\n");
  server.Signal(SIGHUP);
  EXPECT_THAT(server.ReadLine("needs_restart:"), HasSubstr("settings=\"fields, idle-timeout\"\n"));
  EXPECT_THAT(server.End(), AllOf(Not(HasSubstr("stopping:")), HasSubstr("exit code 0\n")));
}

TEST_F(ServeSignalsConcurrentTest, NewerRulesAreLoggedAndSoAreBadOnes) {
  Configure("");
  Process server = Start();
  server.ReadLine("started:");
  folder_.Write("rules.yaml", "namespace: default\nrules: [{name: all, limit: 2/h}]\n");
  EXPECT_THAT(server.ReadLine("rules_replaced:"), HasSubstr("source=\"the file "));
  folder_.Write("rules.yaml", "namespace: default\nrules: [{name: all}]\n");
  EXPECT_THAT(server.ReadLine("rules_refused:"), HasSubstr("rule 'all': there is no limit"));
  EXPECT_THAT(server.End(), HasSubstr("exit code 0\n"));
}

TEST_F(ServeSignalsConcurrentTest, ATerminalThatIsClosedEndsIt) {
  Configure("");
  const std::vector<std::string> words = {"serve", "--config", folder_.Path("weir.yaml")};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) _exit(RunProgram(words, "1", {std::cin, std::cout, std::cerr}));
  ASSERT_GT(child, 0);
  std::string said;
  for (char letter = 0; said.find("started:") == std::string::npos;) {
    if (read(terminal, &letter, 1) != 1) break;
    said += letter;
  }
  EXPECT_THAT(said, HasSubstr("started:"));
  close(terminal);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace weir
