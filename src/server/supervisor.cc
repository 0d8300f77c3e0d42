#include "server/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "base/descriptor.h"

namespace weir {
namespace {

// After the delay: as long as the unit gives it without one (packaging/weir.service).
constexpr Nanos kLongestEnd = std::chrono::seconds(25);

}  // namespace

void Supervisor::Ready(std::string_view status) const {
  // A line is an assignment: one in the status must not become another.
  std::string line(status.substr(0, status.find('\n')));
  Tell("READY=1\nSTATUS=" + line);
}

void Supervisor::Reloading() const {
  // systemd compares the time with that of its request.
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  Tell("RELOADING=1\nMONOTONIC_USEC=" +
       std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
}

void Supervisor::Stopping(Nanos delay) const {
  std::string state = "STOPPING=1";
  if (delay > Nanos(0)) {
    const auto time = std::chrono::ceil<std::chrono::microseconds>(delay + kLongestEnd);
    state += "\nEXTEND_TIMEOUT_USEC=" + std::to_string(time.count());
  }
  Tell(state);
}

void Supervisor::Tell(const std::string& state) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  std::copy(socket_.begin(), socket_.end(), address.sun_path);
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const Descriptor sender(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  static_cast<void>(sendto(sender.get(), state.data(), state.size(), MSG_NOSIGNAL,
                           reinterpret_cast<const sockaddr*>(&address), size));
}

}  // namespace weir
