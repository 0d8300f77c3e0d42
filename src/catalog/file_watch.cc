#include "catalog/file_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "catalog/rule_files.h"

namespace weir::catalog {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// What leads to another file under the same name, and what changes a file that stays.
constexpr std::uint32_t kPlaces =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kContents =
    IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
// As many as the kernel follows.
constexpr int kMostLinks = 40;
// Directories such as /tmp are full of other people's files. Between two batches of notices that
// do not concern us is a pause, so that they cannot keep us busy.
constexpr milliseconds kPauseAfterNoise{20};

// The names of a path, the last one first: a stack of where to go.
std::vector<std::string> Steps(const fs::path& path) {
  std::vector<std::string> steps;
  for (const fs::path& name : path.relative_path()) steps.push_back(name.string());
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace

FileWatch::FileWatch(const fs::path& path, const FileWatchOptions& options)
    : path_(fs::absolute(path)), options_(options), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
  if (options_.notifications == FileWatchOptions::Notifications::kWhereThereAre) {
    notices_ = Descriptor(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  }
  Arm();
}

FileWatch::Reason FileWatch::Wait(milliseconds timeout) {
  // What is watched from now on may have changed before.
  if (Arm()) return Reason::kChange;
  const Moment end = steady_clock::now() + timeout;
  for (;;) {
    const Sign sign = AwaitSign(end);
    if (sign == Sign::kNothing) return Reason::kTime;
    if (sign == Sign::kWake) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t got = read(wake_.get(), &ignored, sizeof ignored);
      return Reason::kWoken;
    }
    if (ReadNotices()) {
      Settle();
      // Before the caller reads: what changes while it reads is told by the next Wait().
      Arm();
      return Reason::kChange;
    }
    pollfd wake{wake_.get(), POLLIN, 0};
    poll(&wake, 1, static_cast<int>(kPauseAfterNoise.count()));
  }
}

void FileWatch::Wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = write(wake_.get(), &one, sizeof one);
}

// Watches what the path goes through now, and nothing else any more. Returns whether that is
// anything new.
bool FileWatch::Arm() {
  if (!notices_.is_open()) return false;
  complete_ = true;
  Interests interests;
  AddWay(path_, interests);
  bool is_new = false;
  for (const auto& watch : interests) is_new = is_new || !interests_.contains(watch.first);
  for (const auto& watch : interests_) {
    if (!interests.contains(watch.first)) inotify_rm_watch(notices_.get(), watch.first);
  }
  interests_ = std::move(interests);
  return is_new;
}

void FileWatch::Add(const fs::path& path, std::uint32_t events, const Interest& interest,
                    Interests& interests) {
  const int watch = inotify_add_watch(notices_.get(), path.c_str(), events | IN_MASK_ADD);
  if (watch < 0) {
    // A directory on the way that we may pass through but not read is left out.
    if (errno == ENOSPC || errno == ENOMEM) complete_ = false;
    return;
  }
  Interest& known = interests[watch];
  known.names.insert(interest.names.begin(), interest.names.end());
  known.rule_files = known.rule_files || interest.rule_files;
}

// Goes from the root to where `path` leads, as the kernel would. A directory is watched before it
// is asked what a name in it stands for, so that no change can slip through in between.
void FileWatch::AddWay(const fs::path& path, Interests& interests) {
  fs::path here = "/";
  std::vector<std::string> steps = Steps(path);
  int links = 0;
  while (!steps.empty()) {
    const std::string name = std::move(steps.back());
    steps.pop_back();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      here = here.parent_path();  // `here` holds no links
      continue;
    }
    Add(here, kPlaces, {.names = {name}}, interests);
    const fs::path next = here / name;
    std::error_code error;
    const fs::file_type type = fs::symlink_status(next, error).type();
    if (type == fs::file_type::symlink) {
      const fs::path target = fs::read_symlink(next, error);
      if (error || ++links > kMostLinks) return;
      if (target.is_absolute()) here = "/";
      for (std::string& step : Steps(target)) steps.push_back(std::move(step));
    } else if (type == fs::file_type::directory) {
      here = next;
    } else {
      // The file itself too: it may be written to by another name, or through a mount of its own.
      if (type == fs::file_type::regular) Add(next, kContents, {}, interests);
      return;
    }
  }
  AddDirectory(here, interests);
}

void FileWatch::AddDirectory(const fs::path& directory, Interests& interests) {
  Add(directory, kPlaces | kContents, {.rule_files = true}, interests);
  std::error_code error;
  std::size_t links = 0;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    // A link to a directory is no rule file; this is also why the walk ends.
    if (IsRuleFileName(entry->path().filename().string()) && entry->is_symlink(ignored) &&
        !entry->is_directory(ignored) && ++links <= RuleFileLimits{}.files) {
      AddWay(entry->path(), interests);
    }
  }
}

FileWatch::Sign FileWatch::AwaitSign(Moment until) const {
  std::array<pollfd, 2> signs{pollfd{wake_.get(), POLLIN, 0},
                              pollfd{notices_.get(), POLLIN, 0}};  // -1 is passed over
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
    const int most = std::numeric_limits<int>::max();
    const int ready =
        poll(signs.data(), signs.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, most)));
    if (ready < 0 && errno == EINTR) continue;
    if (signs[0].revents != 0) return Sign::kWake;
    if (signs[1].revents != 0) return Sign::kNotices;
    if (steady_clock::now() >= until) return Sign::kNothing;
  }
}

// Takes all notices there are. Returns whether one of them concerns us.
bool FileWatch::ReadNotices() {
  bool concerned = false;
  alignas(inotify_event) std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = read(notices_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return concerned;
    if (got <= 0) {
      notices_ = Descriptor();  // never seen; looking goes on without
      return true;
    }
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = event.len > 0 ? buffer.data() + at + sizeof event : "";
      at += sizeof event + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) concerned = true;
      const auto interest = interests_.find(event.wd);
      if (interest == interests_.end() || (event.mask & IN_IGNORED) != 0) continue;
      concerned = concerned || *name == '\0' || interest->second.names.contains(name) ||
                  (interest->second.rule_files && IsRuleFileName(name));
    }
  }
}

// Waits until there are no notices for a while, but not for ever.
void FileWatch::Settle() {
  const Moment end = steady_clock::now() + options_.settle_at_most;
  for (;;) {
    const Moment quiet = steady_clock::now() + options_.settle;
    // A wake is left for the next Wait().
    if (AwaitSign(std::min(quiet, end)) != Sign::kNotices || steady_clock::now() >= end) return;
    ReadNotices();
  }
}

}  // namespace weir::catalog
