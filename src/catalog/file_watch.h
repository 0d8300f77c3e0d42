// Waits until something may have changed at a path.
//
// A path is more than a file: `rules/shop.yaml` changes when the file is written, when another is
// renamed over it, when `rules` becomes another directory, and, if it is a link (as in a ConfigMap
// of Kubernetes, `shop.yaml -> ..data/shop.yaml` with `..data -> ..2026_01_31`), when any link on
// the way is swapped. So each directory that the path goes through is watched, links followed, and
// anew after each change. If the path is a directory, its rule files are watched.
//
// The kernel's notifications (inotify) only make it immediate. They may be used up, and do not come
// from other hosts: the caller looks when the time is over too.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/descriptor.h"

namespace weir::catalog {

struct FileWatchOptions {
  enum class Notifications : unsigned char { kWhereThereAre, kNone };
  Notifications notifications = Notifications::kWhereThereAre;
  // A change is told when nothing happened for `settle`, so that a file is not read while it is
  // being written, and after `settle_at_most` in any case.
  std::chrono::milliseconds settle{50};
  std::chrono::milliseconds settle_at_most{500};
};

// Thread safety: one thread at a time, but for Wake().
class FileWatch {
 public:
  // Notices what changes from now on. Throws std::system_error if the process has no descriptors
  // left.
  explicit FileWatch(const std::filesystem::path& path, const FileWatchOptions& options = {});

  enum class Reason : unsigned char { kChange, kTime, kWoken };
  // Waits until something may have changed since the last Wait() said so, at most `timeout`.
  Reason Wait(std::chrono::milliseconds timeout);
  // Ends the Wait() of another thread, or the next one.
  void Wake() noexcept;

  // Whether changes are told at once. If not, the kernel has no more watches to give.
  [[nodiscard]] bool is_immediate() const noexcept { return notices_.is_open() && complete_; }

 private:
  using Moment = std::chrono::steady_clock::time_point;
  enum class Sign : unsigned char { kNothing, kNotices, kWake };

  // What is of interest in a directory or file that is watched.
  struct Interest {
    std::set<std::string, std::less<>> names = {};
    bool rule_files = false;
  };
  using Interests = std::map<int, Interest>;  // by the kernel's number of the watch

  bool Arm();
  void Add(const std::filesystem::path& path, std::uint32_t events, const Interest& interest,
           Interests& interests);
  void AddWay(const std::filesystem::path& path, Interests& interests);
  void AddDirectory(const std::filesystem::path& directory, Interests& interests);
  Sign AwaitSign(Moment until) const;
  bool ReadNotices();
  void Settle();

  std::filesystem::path path_;  // absolute
  FileWatchOptions options_;
  Descriptor wake_;
  Descriptor notices_;
  Interests interests_;
  bool complete_ = true;  // all that should be watched is
};

}  // namespace weir::catalog
