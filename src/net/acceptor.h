// Accepts the connections of one listening socket in one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/descriptor.h"
#include "net/counters.h"
#include "net/handler.h"
#include "net/listening_socket.h"
#include "net/loop.h"

namespace weir::net {

class Acceptor final : public Loop::Watcher {
 public:
  using Receive = std::function<void(Descriptor, const ConnectionFacts&)>;

  // Throws std::system_error if the kernel cannot watch the socket.
  Acceptor(Loop& loop, Counters& counters, std::shared_ptr<ListeningSocket> socket,
           Receive receive);
  // REQUIRES: not within OnReady()
  ~Acceptor() override;

  // Accepts what is waiting.
  void OnReady(std::uint32_t events) override;

 private:
  void Resume();
  void Shed();
  void Pause();

  Loop& loop_;
  Counters& counters_;
  std::shared_ptr<ListeningSocket> socket_;
  Receive receive_;
  Descriptor spare_;  // given up when there are no descriptors left, to turn somebody away with
  Loop::Timer pause_ = Loop::kNoTimer;
};

}  // namespace weir::net
