// The connections of one loop, and what they share.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "net/admission.h"
#include "net/connection.h"
#include "net/counters.h"
#include "net/deadlines.h"
#include "net/listener_options.h"
#include "net/loop.h"
#include "net/put_off_answers.h"

namespace weir::net {

// Thread safety: the loop's thread only.
class Connections {
 public:
  // All of them outlive it.
  Connections(Loop& loop, Admission& admission, Counters& counters);
  ~Connections();  // closes those that are left
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // A connection that was accepted and counted. `listener` outlives it.
  void Add(Descriptor socket, const ConnectionFacts& facts, const ListenerOptions& listener);
  [[nodiscard]] std::size_t size() const { return all_.size(); }

  // Lets the handlers of all say what is new.
  void TellNews();
  // Closes each connection as soon as it has nothing under way.
  void Drain();
  void CloseAll(Ending ending);
  // Calls when the last one has gone, at once if there is none.
  void WhenEmpty(Loop::Callback callback);

 private:
  friend class Connection;
  // As much as is read from a connection in one turn: then it is somebody else's turn.
  static constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;
  // A buffer that one large answer has made larger is not kept.
  static constexpr std::size_t kOutKept = std::size_t{1} << 20;

  // Buffers for the time of one call: while nothing is under way, a connection needs none.
  std::span<char> in() { return *in_; }
  std::string& EmptyOut();
  void Remove(Connection& connection);
  void Tick();

  Loop& loop_;
  Admission& admission_;
  Counters& counters_;
  Deadlines deadlines_;
  Loop::Timer tick_ = Loop::kNoTimer;
  std::vector<std::unique_ptr<Connection>> all_;  // each knows its place
  Loop::Callback when_empty_;
  std::unique_ptr<std::array<char, kReadAtOnce>> in_;
  std::string out_;
  PutOffAnswers put_off_;
};

}  // namespace weir::net
