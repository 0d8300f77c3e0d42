#include "net/loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include "base/check.h"
#include "base/time.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;

Descriptor Demand(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return Descriptor(fd);
}

}  // namespace

Loop::Loop(TimeSource time)
    : time_(std::move(time)),
      epoll_(Demand(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wake_(Demand(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      now_(time_()) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};  // nobody: a message
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }
}

Loop::~Loop() = default;

int Loop::Watch(int fd, std::uint32_t events, Watcher& watcher) {
  epoll_event event{.events = events, .data = {.ptr = &watcher}};
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : errno;
}

void Loop::ChangeWatch(int fd, std::uint32_t events, Watcher& watcher) {
  epoll_event event{.events = events, .data = {.ptr = &watcher}};
  WEIR_CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0);
}

void Loop::Unwatch(int fd) { WEIR_CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr) == 0); }

void Loop::Retire(std::unique_ptr<Watcher> watcher) { retired_.push_back(std::move(watcher)); }

Loop::Timer Loop::After(Nanos delay, Callback callback) {
  const Timer timer{Later(now_, std::max(delay, Nanos(0))), ++timers_set_};
  timers_.emplace(timer, std::move(callback));
  return timer;
}

void Loop::Cancel(Timer timer) { timers_.erase(timer); }

void Loop::Post(Callback callback) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(callback));
  if (posted_.size() > 1) return;  // who came first has woken it
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = write(wake_.get(), &one, sizeof one);
}

void Loop::Run() {
  while (!stopped_) Turn(Nanos::max());
  stopped_ = false;
}

void Loop::Stop() {
  Post([this] { stopped_ = true; });
}

void Loop::Turn(Nanos longest) {
  const int ready = epoll_wait(epoll_.get(), events_.data(), kEventsAtOnce, WaitFor(longest));
  now_ = time_();
  bool has_messages = false;
  for (int i = 0; i < ready; ++i) {  // -1 if a signal came
    if (void* const watcher = events_[i].data.ptr) {
      static_cast<Watcher*>(watcher)->OnReady(events_[i].events);
    } else {
      has_messages = true;
    }
  }
  TellOfEnd();
  RunTimers();
  if (has_messages) RunPosted();
  TellOfEnd();  // of what these have put off
  retired_.clear();
}

void Loop::TellOfEnd() {
  while (!to_tell_.empty()) {  // they may ask again
    telling_.swap(to_tell_);
    for (Watcher* watcher : telling_) watcher->OnTurnEnds();
    telling_.clear();
  }
}

// For epoll_wait(): milliseconds, or -1 for as long as it takes. Rounded up, so that a timer is due
// when the wait is over. A turn that took long makes the next timer late by as much: to know better
// would cost a second look at the clock in every turn.
int Loop::WaitFor(Nanos longest) const {
  constexpr Nanos kLongest = std::chrono::hours(24);  // then it looks again
  if (!to_tell_.empty()) return 0;                    // they have asked between two turns
  if (!timers_.empty()) longest = std::min(longest, timers_.begin()->first.first - now_);
  if (longest == Nanos::max()) return -1;
  return static_cast<int>(
      std::chrono::ceil<milliseconds>(std::clamp(longest, Nanos(0), kLongest)).count());
}

void Loop::RunTimers() {
  const std::uint64_t last = timers_set_;  // those that are set meanwhile wait for the next turn
  auto next = timers_.begin();
  while (next != timers_.end() && next->first.first <= now_) {
    if (next->first.second > last) {
      ++next;
      continue;
    }
    const Callback callback = std::move(next->second);
    timers_.erase(next);
    callback();
    next = timers_.begin();  // the callback may have cancelled any
  }
}

void Loop::RunPosted() {
  std::vector<Callback> callbacks;
  {
    const std::lock_guard lock(mutex_);
    std::uint64_t ignored = 0;
    [[maybe_unused]] const ssize_t got = read(wake_.get(), &ignored, sizeof ignored);
    callbacks.swap(posted_);
  }
  for (const Callback& callback : callbacks) callback();
}

}  // namespace weir::net
