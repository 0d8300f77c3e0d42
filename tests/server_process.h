// A server in a process of its own, which can be killed.
#pragma once

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "server/running_server.h"
#include "tests/child_process.h"

namespace weir {

// Make it while no other threads run: a process that was forked from several has only one of them.
class ServerProcess {
 public:
  // With at most so many descriptors; 0: as many as there can be.
  explicit ServerProcess(const ServeOptions& options, rlim_t descriptors = 0)
      : process_([options, descriptors](int report) {
          const rlimit fewer{descriptors, descriptors};
          if (descriptors != 0 && setrlimit(RLIMIT_NOFILE, &fewer) != 0) _exit(1);
          RaiseDescriptorLimit();
          const auto server = RunningServer::Start(options);
          const std::string told = server.ok() ? (*server)->http_address() + "\n" +
                                                     (*server)->resp_address() + "\n" +
                                                     (*server)->grpc_address() + "\n."
                                               : server.error().message;
          if (write(report, (told + "\n\n").c_str(), told.size() + 2) < 0) _exit(1);
          // Ends with whoever made it.
          for (pollfd maker{report, 0, 0}; poll(&maker, 1, -1) <= 0;) continue;
        }) {
    std::string told;
    while (!told.ends_with("\n\n")) {
      const std::string more = process_.Read(1);
      if (more.empty()) break;
      told += more;
    }
    std::istringstream lines(told);
    std::getline(lines, http_address_);
    std::getline(lines, resp_address_);
    std::getline(lines, grpc_address_);
  }

  // As `kill -9` does.
  void Kill() { process_.Kill(); }

  // Where it listens; if it could not start, why.
  [[nodiscard]] const std::string& http_address() const { return http_address_; }
  [[nodiscard]] const std::string& resp_address() const { return resp_address_; }
  [[nodiscard]] const std::string& grpc_address() const { return grpc_address_; }
  [[nodiscard]] pid_t id() const { return process_.id(); }

 private:
  ChildProcess process_;
  std::string http_address_;
  std::string resp_address_;
  std::string grpc_address_;
};

}  // namespace weir
