// A process that does something while the test looks on, and can be killed in the middle of it.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>

namespace weir {

class ChildProcess {
 public:
  // `work` gets a descriptor to report to.
  explicit ChildProcess(const std::function<void(int report)>& work) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) abort();
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      Run(work, ends[1]);
    }
    close(ends[1]);
    reports_ = ends[0];
  }
  ~ChildProcess() {
    Kill();
    close(reports_);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t id() const { return child_; }

  // `kill -9`, if it is still there.
  void Kill() {
    if (child_ < 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }

  // Waits for so many bytes of the report, or for the child's end; returns what came.
  std::string Read(std::size_t bytes) {
    std::string text(bytes, '\0');
    std::size_t size = 0;
    while (size < bytes) {
      const ssize_t more = read(reports_, text.data() + size, bytes - size);
      if (more <= 0) break;
      size += static_cast<std::size_t>(more);
    }
    text.resize(size);
    return text;
  }
  // Everything that it reports until its end.
  std::string ReadAll() {
    std::string all;
    for (std::string more = Read(4096); !more.empty(); more = Read(4096)) all += more;
    return all;
  }

 private:
  // What is thrown ends the child: its copy of the test must not go on.
  [[noreturn]] static void Run(const std::function<void(int report)>& work, int report) noexcept {
    work(report);
    _exit(0);
  }

  pid_t child_ = -1;
  int reports_ = -1;
};

}  // namespace weir
