#include "net/worker.h"

#include <chrono>
#include <utility>

namespace weir::net {
namespace {

// What a companion may take to leave, after all connections have gone.
constexpr Nanos kLongestLeave = std::chrono::seconds(1);

}  // namespace

Worker::Worker(Admission& admission, Loop::TimeSource time, std::size_t number)
    : number_(number), loop_(std::move(time)), connections_(loop_, admission, counters_) {}

void Worker::Listen(std::shared_ptr<ListeningSocket> socket, const ListenerOptions& options) {
  acceptors_.push_back(
      std::make_unique<Acceptor>(loop_, counters_, std::move(socket),
                                 [this, &options](Descriptor connection, ConnectionFacts facts) {
                                   facts.loop = number_;
                                   connections_.Add(std::move(connection), facts, options);
                                 }));
}

void Worker::Stop(Nanos drain) {
  loop_.Post([this, drain] { BeginStop(drain); });
}

void Worker::BeginStop(Nanos drain) {
  // Who has connected already may have sent a request.
  for (const auto& acceptor : acceptors_) acceptor->OnReady(EPOLLIN);
  acceptors_.clear();
  connections_.Drain();
  loop_.After(drain, [this] { connections_.CloseAll(Ending::kServerCut); });
  connections_.WhenEmpty([this] { EndStop(); });
}

void Worker::EndStop() {
  if (companion_ == nullptr) return loop_.Stop();
  loop_.After(kLongestLeave, [this] { loop_.Stop(); });
  companion_->Leave([this] { loop_.Stop(); });
}

}  // namespace weir::net
