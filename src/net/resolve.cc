#include "net/resolve.h"

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "rule/address.h"

namespace weir::net {

// What the loop's thread and the one that looks up both have.
struct Resolution::Shared {
  std::mutex mutex;
  Loop* loop;   // null when nobody wants to know any more; guarded by mutex
  Found found;  // for the loop's thread only
};

Resolution::Resolution(Loop& loop, const Endpoint& endpoint, Found found) {
  if (endpoint.is_unix() || rule::Address::Parse(endpoint.host)) {
    found(ToSocketAddress(endpoint));
    return;
  }
  shared_ = std::make_shared<Shared>();
  shared_->loop = &loop;
  shared_->found = std::move(found);
  try {
    std::thread([shared = shared_, endpoint] {
      auto address = ToSocketAddress(endpoint);
      const std::lock_guard lock(shared->mutex);  // until it is posted, the loop is there
      if (shared->loop == nullptr) return;
      shared->loop->Post([shared, address = std::move(address)] {
        {
          const std::lock_guard wanted(shared->mutex);
          if (shared->loop == nullptr) return;
        }
        shared->found(address);
      });
    }).detach();
  } catch (const std::system_error& problem) {
    // No thread to be had: told later, as a look-up that failed would be.
    loop.Post([shared = shared_, reason = std::string(problem.what())] {
      if (shared->loop != nullptr) shared->found(Error{reason});
    });
  }
}

Resolution::~Resolution() {
  if (shared_ == nullptr) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->loop = nullptr;
}

}  // namespace weir::net
