#include "server/serve_loop.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ostream>

#include "server/log.h"
#include "server/running_server.h"
#include "server/supervisor.h"

namespace weir {
namespace {

// SIGTERM, SIGINT and SIGHUP. Blocked before any thread is made, so that all of them leave these to
// sigwait().
sigset_t BlockSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// A terminal that is closed says SIGHUP too. Then it is no terminal any more.
bool HasTerminal() { return isatty(STDERR_FILENO) == 1; }

int Fail(const ServeTold& told, const Error& error, Streams io) {
  io.err << "weir serve: " << Locate(told.settings, error.message) << "\n";
  return kUnreadable;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Until the time is over, or somebody tells it to end at once.
void WaitForDelay(const sigset_t& signals, Nanos delay, bool had_terminal) {
  const auto end = std::chrono::steady_clock::now() + delay;
  int signal = SIGHUP;
  // There is nothing left to reload for.
  while (signal == SIGHUP && HasTerminal() == had_terminal) {
    const Nanos left = std::max(Nanos(end - std::chrono::steady_clock::now()), Nanos(0));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec time{.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
    signal = sigtimedwait(&signals, nullptr, &time);
    if (signal < 0 && errno == EINTR) signal = SIGHUP;
  }
}

// A server under way, with all that a reload touches.
class Session {
 public:
  Session(const ServeTold& told, RunningServer& server, Log& log)
      : told_(told), server_(server), log_(log) {}

  void TellStart() {
    log_.Write(Event::kStarted, "serving",
               {{"version", told_.options.version},
                {"http", server_.http_address()},
                {"grpc", server_.grpc_address()},
                {"resp", server_.resp_address()},
                {"admin", server_.admin_address()},
                {"rules", server_.rules_version()},
                {"state", told_.options.state}});
  }

  // Each part by itself: what cannot be read leaves that part as it is.
  void Reload(const Result<ServeTold>& again) {
    std::vector<std::string> problems;
    if (!again) {
      problems.push_back(again.error().message);
    } else {
      TakeOver(*again, problems);
    }
    for (const std::string& problem : server_.Reload()) {
      problems.push_back(Locate(told_.settings, problem));
    }
    for (const std::string& problem : problems) {
      log_.Write(Event::kReloadFailed, "what was in force stays: " + problem);
    }
    if (problems.empty()) {
      log_.Write(Event::kReloaded, "everything was read again",
                 {{"rules", server_.rules_version()}});
    }
  }

 private:
  // The level of the log is all that can change while it runs. Anything else is compared with what
  // the server was started with, so that it is named at every reload until it is in force.
  void TakeOver(const ServeTold& again, std::vector<std::string>& problems) {
    if (const Result<LogSettings> log = Read(again.options.log)) {
      log_.SetLevel(log->level);
    } else {
      problems.push_back(Locate(again.settings, log.error().message));
    }
    std::vector<std::string> changed = Changed(told_.settings, again.settings);
    std::erase(changed, "log-level");
    if (changed.empty()) return;
    log_.Write(Event::kNeedsRestart, "changed, and in force only after a restart",
               {{"settings", Join(changed)}});
  }

  const ServeTold& told_;
  RunningServer& server_;
  Log& log_;
};

}  // namespace

int CheckServer(const ServeTold& told, Streams io) {
  if (const auto log = Read(told.options.log); !log) return Fail(told, log.error(), io);
  const Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(told.options);
  if (!server) return Fail(told, server.error(), io);
  for (const std::string& note : told.notes) io.out << note << "\n";
  io.out << "nothing is wrong; it would serve\n" << (*server)->Banner();
  return kDone;
}

int Serve(const ServeTold& told, const std::function<Result<ServeTold>()>& read_again, Streams io) {
  const sigset_t signals = BlockSignals();
  const bool had_terminal = HasTerminal();
  RaiseDescriptorLimit();
  const Result<LogSettings> settings = Read(told.options.log);
  if (!settings) return Fail(told, settings.error(), io);
  Log log(io.err, settings->format, settings->level);
  for (const std::string& note : told.notes) log.Write(Event::kNote, note);
  const Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(told.options, &log);
  if (!server) return Fail(told, server.error(), io);

  const char* socket = std::getenv("NOTIFY_SOCKET");
  const Supervisor supervisor(socket != nullptr ? socket : "");
  io.out << (*server)->Banner() << std::flush;
  Session session(told, **server, log);
  session.TellStart();
  supervisor.Ready("rules " + (*server)->rules_version());

  int signal = 0;
  while (sigwait(&signals, &signal) == 0 && signal == SIGHUP && HasTerminal() == had_terminal) {
    supervisor.Reloading();
    session.Reload(read_again());
    supervisor.Ready("rules " + (*server)->rules_version());
  }
  // Who presses Ctrl-C does not want to wait.
  const Nanos delay = signal == SIGTERM ? (*server)->drain_delay() : Nanos(0);
  supervisor.Stopping(delay);
  if (delay > Nanos(0)) {
    (*server)->TurnAway();
    const std::string message =
        "not ready any more, ends in " + told.options.connections.drain_delay;
    io.out << "\n" << message << "\n" << std::flush;
    log.Write(Event::kTurningAway, message);
    WaitForDelay(signals, delay, had_terminal);
  }
  io.out << "\nends: requests under way are answered\n" << std::flush;
  log.Write(Event::kStopping, "requests under way are answered",
            {{"signal", std::string("SIG") + sigabbrev_np(signal)}});
  (*server)->Stop();
  log.TellSuppressed();
  log.Write(Event::kStopped, "nothing is under way");
  return kDone;
}

}  // namespace weir
