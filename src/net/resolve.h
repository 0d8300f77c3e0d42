// Names to addresses, without holding up a loop.
//
// A name server may take seconds, and the library that asks it blocks. So a name is looked up in a
// thread of its own, which ends with the answer; what is no name is known at once. Names are looked
// up for new connections only, which are few.
#pragma once

#include <functional>
#include <memory>

#include "net/endpoint.h"
#include "net/loop.h"
#include "weir/result.h"

namespace weir::net {

// One look-up under way. Destroyed before it is done, it tells nobody.
class Resolution {
 public:
  // Called on the loop's thread: before the constructor returns if `endpoint` is no name, otherwise
  // in a later turn. The error is a reason without the endpoint's name.
  using Found = std::function<void(const Result<SocketAddress>& address)>;

  Resolution(Loop& loop, const Endpoint& endpoint, Found found);
  ~Resolution();
  Resolution(const Resolution&) = delete;
  Resolution& operator=(const Resolution&) = delete;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // none if it was known at once
};

}  // namespace weir::net
