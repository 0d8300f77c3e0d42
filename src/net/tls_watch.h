// Looks at the files of certificates every few seconds, so that to exchange them is all there is to
// do: certbot, cert-manager and the like need not tell anybody.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "net/tls_context.h"

namespace weir::net {

class TlsWatch {
 public:
  // Is told by our thread how it stood with the certificates after the look before, and how it
  // stands now.
  using Observe = std::function<void(const TlsStatus& before, const TlsStatus& after)>;

  // `context` outlives it.
  explicit TlsWatch(TlsContext& context,
                    std::chrono::milliseconds between_looks = std::chrono::seconds(2),
                    Observe observe = {});

 private:
  void Run(const std::stop_token& stop);

  TlsContext& context_;
  const std::chrono::milliseconds between_looks_;
  const Observe observe_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // last: it uses what is above, and ends first
};

}  // namespace weir::net
