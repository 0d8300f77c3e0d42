#include "catalog/change_listener.h"

#include <poll.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>

#include "base/check.h"
#include "catalog/database.h"

namespace weir::catalog {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

PGconn* ConnectionOf(soci::session& session) {
  return static_cast<soci::postgresql_session_backend*>(session.get_backend())->conn_;
}

// Rounded up, or poll() would return a little early, again and again.
int MillisecondsUntil(SteadyTime deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, INT_MAX));
}

// Whether there was a notification. Throws if the connection is lost.
bool TakeNotifications(PGconn* connection) {
  if (PQconsumeInput(connection) == 0) {
    throw soci::postgresql_soci_error(PQerrorMessage(connection), "08006");
  }
  bool notified = false;
  while (PGnotify* notification = PQnotifies(connection)) {
    notified = true;
    PQfreemem(notification);
  }
  return notified;
}

}  // namespace

Result<std::unique_ptr<ChangeListener>> ChangeListener::Make(DatabaseUrl url) {
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) {
    return Error{"database " + url.shown + ": cannot wait for changes: " + std::strerror(errno) +
                 "; raise the limit of open files"};
  }
  return std::unique_ptr<ChangeListener>(new ChangeListener(std::move(url), wake));
}

ChangeListener::~ChangeListener() { close(wake_); }

void ChangeListener::Wake() {
  const std::uint64_t one = 1;
  WEIR_CHECK(write(wake_, &one, sizeof one) == sizeof one || errno == EAGAIN);
}

Result<bool> ChangeListener::Wait(std::chrono::milliseconds timeout) {
  // A day is as good as for ever, and does not overflow.
  const auto deadline = std::chrono::steady_clock::now() +
                        std::min<std::chrono::milliseconds>(timeout, std::chrono::hours(24));
  try {
    if (url_.engine == Engine::kPostgres && listening_ == nullptr) return Listen();
    return WaitUntil(deadline);
  } catch (...) {
    listening_.reset();
    return ExplainFailure(url_, "wait for changes", std::current_exception());
  }
}

bool ChangeListener::Listen() {
  std::unique_ptr<soci::session> session = Connect(url_);
  *session << std::string("LISTEN ") + kChannel;
  listening_ = std::move(session);
  return true;  // what was notified before, nobody heard
}

bool ChangeListener::WaitUntil(SteadyTime deadline) {
  PGconn* connection = listening_ == nullptr ? nullptr : ConnectionOf(*listening_);
  for (;;) {
    if (connection != nullptr && TakeNotifications(connection)) return true;
    // poll() passes over a negative descriptor.
    const int socket = connection == nullptr ? -1 : PQsocket(connection);
    std::array<pollfd, 2> awaited = {{{wake_, POLLIN, 0}, {socket, POLLIN, 0}}};
    const int ready = poll(awaited.data(), awaited.size(), MillisecondsUntil(deadline));
    if (ready < 0 && errno != EINTR) WEIR_CHECK(errno == ENOMEM);  // then it is tried again
    if (ready > 0 && awaited[0].revents != 0) {
      std::uint64_t count = 0;
      WEIR_CHECK(read(wake_, &count, sizeof count) == sizeof count);
      return false;
    }
    if (ready <= 0 && std::chrono::steady_clock::now() >= deadline) return false;
  }
}

}  // namespace weir::catalog
