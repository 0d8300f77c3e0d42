// An event loop: one thread that waits for sockets, timers and messages, and calls whoever they are
// for.
//
// Each turn of the loop waits once, reads the clock once, and then calls everybody concerned; all
// that happens in a turn happens at `now()`. What a turn pays besides is one system call, however
// many sockets were ready.
//
// Thread safety: everything is for the loop's own thread, but for Post() and Stop().
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "weir/units.h"

namespace weir::net {

class Loop {
 public:
  using Callback = std::function<void()>;
  using TimeSource = std::function<Instant()>;

  // Whoever waits for a descriptor.
  class Watcher {
   public:
    Watcher() = default;
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    virtual ~Watcher() = default;
    // `events`: EPOLLIN and so on. May come once more in the turn in which the watch ended.
    virtual void OnReady(std::uint32_t events) = 0;
    // Everybody who was ready in this turn has been told, and this one has asked to know.
    virtual void OnTurnEnds() {}
  };

  // Throws std::system_error if the process has no descriptors left.
  explicit Loop(TimeSource time = Clock::now);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  // The watch is level-triggered: what is not dealt with is told again in the next turn. It ends
  // with Unwatch(), which comes before the descriptor is closed.
  // Returns 0 or an error number: the kernel has no memory or no watches left.
  [[nodiscard]] int Watch(int fd, std::uint32_t events, Watcher& watcher);
  void ChangeWatch(int fd, std::uint32_t events, Watcher& watcher);
  void Unwatch(int fd);
  // Keeps `watcher` until the turn is over: the kernel may have told of it in this turn already.
  void Retire(std::unique_ptr<Watcher> watcher);

  // Calls watcher.OnTurnEnds() when everybody who is ready in this turn has been told.
  void TellAtEnd(Watcher& watcher) { to_tell_.push_back(&watcher); }

  // A timer that has not gone off. None is a timer that was never set.
  using Timer = std::pair<Instant, std::uint64_t>;
  static constexpr Timer kNoTimer{};
  // Calls once, `delay` from now or up to a millisecond later, but never in this turn.
  Timer After(Nanos delay, Callback callback);
  // Does nothing if it has gone off.
  void Cancel(Timer timer);

  // Calls in the loop's thread, in a turn that begins after this. From any thread.
  void Post(Callback callback);

  // Turns until Stop(), which may come from any thread and before Run(). Can run again after it.
  void Run();
  void Stop();
  // Waits until there is something to do, but at most `longest`, and does it.
  void Turn(Nanos longest);

  // The instant at which this turn began.
  [[nodiscard]] Instant now() const noexcept { return now_; }

 private:
  static constexpr int kEventsAtOnce = 256;

  [[nodiscard]] int WaitFor(Nanos longest) const;
  void TellOfEnd();
  void RunTimers();
  void RunPosted();

  TimeSource time_;
  Descriptor epoll_;
  Descriptor wake_;
  Instant now_;
  std::array<epoll_event, kEventsAtOnce> events_;
  std::map<Timer, Callback> timers_;  // the next one first
  std::uint64_t timers_set_ = 0;
  std::vector<Watcher*> to_tell_;  // of the end of the turn
  std::vector<Watcher*> telling_;
  std::vector<std::unique_ptr<Watcher>> retired_;
  bool stopped_ = false;

  std::mutex mutex_;
  std::vector<Callback> posted_;  // guarded by mutex_
};

}  // namespace weir::net
