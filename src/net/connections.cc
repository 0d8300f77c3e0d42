#include "net/connections.h"

#include <utility>

namespace weir::net {

Connections::Connections(Loop& loop, Admission& admission, Counters& counters)
    : loop_(loop),
      admission_(admission),
      counters_(counters),
      deadlines_(loop.now()),
      in_(std::make_unique<std::array<char, kReadAtOnce>>()) {}

Connections::~Connections() {
  when_empty_ = nullptr;
  CloseAll(Ending::kServerCut);
  loop_.Cancel(tick_);
}

void Connections::Add(Descriptor socket, const ConnectionFacts& facts,
                      const ListenerOptions& listener) {
  auto connection = std::make_unique<Connection>(*this, listener, std::move(socket), all_.size());
  all_.push_back(std::move(connection));
  all_.back()->Start(facts);
  if (tick_ == Loop::kNoTimer) tick_ = loop_.After(Deadlines::kTick, [this] { Tick(); });
}

// From the last to the first, here and below: who is closed leaves its place to the last one.
void Connections::TellNews() {
  for (std::size_t i = all_.size(); i > 0; --i) all_[i - 1]->TellNews();
}

void Connections::Drain() {
  for (std::size_t i = all_.size(); i > 0; --i) all_[i - 1]->Drain();
}

void Connections::CloseAll(Ending ending) {
  while (!all_.empty()) all_.back()->Close(ending);
}

void Connections::WhenEmpty(Loop::Callback callback) {
  when_empty_ = std::move(callback);
  if (all_.empty()) when_empty_();
}

std::string& Connections::EmptyOut() {
  if (out_.capacity() > kOutKept) out_ = std::string();
  out_.clear();
  return out_;
}

void Connections::Remove(Connection& connection) {
  std::unique_ptr<Connection>& place = all_[connection.place_];
  std::swap(place, all_.back());
  place->place_ = connection.place_;
  loop_.Retire(std::move(all_.back()));
  all_.pop_back();
  if (all_.empty() && when_empty_) when_empty_();
}

// Meets the deadlines. While there is nobody, the loop sleeps.
void Connections::Tick() {
  deadlines_.Meet(loop_.now());
  tick_ = all_.empty() ? Loop::kNoTimer : loop_.After(Deadlines::kTick, [this] { Tick(); });
}

}  // namespace weir::net
