#include "net/tls_watch.h"

#include <pthread.h>
#include <signal.h>

#include <utility>

namespace weir::net {

TlsWatch::TlsWatch(TlsContext& context, std::chrono::milliseconds between_looks, Observe observe)
    : context_(context),
      between_looks_(between_looks),
      observe_(std::move(observe)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void TlsWatch::Run(const std::stop_token& stop) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are for the main thread
  pthread_setname_np(pthread_self(), "weir-tls");
  std::unique_lock lock(mutex_);
  TlsStatus before = context_.status();
  while (!stop.stop_requested()) {
    static_cast<void>(context_.Reload());  // what is wrong is in its status
    TlsStatus after = context_.status();
    if (observe_) observe_(before, after);
    before = std::move(after);
    stopped_.wait_for(lock, stop, between_looks_, [] { return false; });
  }
}

}  // namespace weir::net
