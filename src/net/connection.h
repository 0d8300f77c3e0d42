// One connection: a socket, what is unread and unsent, and what it waits for.
//
// A connection waits for exactly one thing at a time (Wait). From that follows what the kernel is
// asked to tell of it, how long it may take, and why it is closed if it takes longer.
//
//         +------------------------------ all sent ------------------------------+
//         v                                                                      |
//   request -> bytes -> Handler::OnBytes -> send -> peer does not take it all: peer to read
//                                           (a short answer: at the end of the turn)
//                              ^              |---> Hold():  hold -> OnResume --> send
//                              +--next turn <-+---> kAgain
//                                             |---> kClose:  farewell -> closed
//                                             +---> Owe():   request, or Wake() -> OnResume -> send
//
// Short answers go out when all who were ready have been heard: the kernel takes longer to send one
// than all of the rest, and so does not push the rest out of the caches between any two; and a
// client with several connections is woken by all of its answers, not by the first.
//
// While anything is unsent, nothing more is read: a peer that does not take its answers can pile up
// no more than one call of the handler writes.
//
// Bytes come in by Receive() and go out by Transmit() only, through the Transport, which encrypts
// them where it should. A connection begins in connection_start.cc: with a PROXY header and with a
// handshake, where there is one, before the handler sees anything.
#pragma once

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "net/admission.h"
#include "net/counters.h"
#include "net/deadlines.h"
#include "net/handler.h"
#include "net/listener_options.h"
#include "net/loop.h"
#include "net/put_off_answers.h"
#include "net/transport.h"

namespace weir::net {

class Connections;

// Thread safety: the loop's thread only.
class Connection final : public Loop::Watcher, public Deadlines::Entry {
 public:
  // --- for handlers, while they are called

  // Sends what was written so far, and handles nothing more before `time` is over; then OnResume()
  // is called. Goes with Next::kRead or kAgain.
  //
  // A peer that closes its side meanwhile has gone: a client that gives up does just that. Only if
  // its end was there when the request was read, it is one that says all it has to say at once and
  // then listens.
  void Hold(Nanos time);
  // The same until Wake(), which is for whoever has the answer: in the loop's thread, while no
  // handler is called.
  void HoldUntilWoken();
  // Answers are still to come, and whatever else the peer asks is handled meanwhile. Whoever has
  // one calls Wake(), and then OnResume() is called. Good until the handler is called again: who
  // still owes something then says so again. Until nothing is owed the connection is not idle.
  void Owe() { owes_ = true; }
  void Wake();
  // Whether more may be written. If not, return Next::kAgain.
  [[nodiscard]] bool HasRoom(const std::string& out) const {
    return out.size() < listener_.limits.unsent_bytes;
  }
  // The server is about to stop: a protocol that can say so should.
  [[nodiscard]] bool is_draining() const { return draining_; }
  [[nodiscard]] Instant now() const;

  // --- for Connections

  Connection(Connections& all, const ListenerOptions& listener, Descriptor socket,
             std::size_t place);
  void Start(const ConnectionFacts& facts);
  // Handler::OnNews(), now or as soon as what is under way allows.
  void TellNews();
  // Closes as soon as nothing is under way.
  void Drain();
  // At once.
  void Close(Ending ending);
  void OnReady(std::uint32_t events) override;
  void OnTurnEnds() override;
  void OnDeadline() override;

 private:
  friend class Connections;

  enum class Wait : std::uint8_t {
    kProxyHeader,
    kHandshake,
    kRequest,
    kRestOfRequest,
    kPeerToRead,
    kHold,
    kEndOfTurn,  // its answer goes out then
    kTurn,       // the next one of the loop
    kFarewell,
  };
  enum class Since : std::uint8_t { kNow, kBefore };
  static constexpr std::uint32_t kReading = EPOLLIN | EPOLLRDHUP;

  void BeginHandshake(std::string_view early);
  void ShakeHands();
  void Begin(const ConnectionFacts& facts);
  bool Read();
  void ReadMore();
  void Handle(std::string_view unread);
  std::optional<std::string_view> AfterProxyHeader(std::string_view unread);
  void Call(std::string_view unread);
  void Resume();
  void PayBack();
  void Finish(std::string_view unread, const Progress& progress, std::string_view out);
  void Keep(std::string_view unread);
  bool PutOff(std::string_view out);
  void Send(std::string_view out);
  void Flush();
  void Continue();
  void End(Ending ending);
  void SayFarewell();
  void Discard();

  void Await(Wait wait, Since since = Since::kBefore);
  void AwaitRecord();
  void CallAfter(Nanos delay, void (Connection::*method)());
  void HandleAgain() { Call(unread_); }
  [[nodiscard]] std::uint32_t Interest() const;
  [[nodiscard]] Nanos Patience() const;
  [[nodiscard]] bool is_open() const { return transport_.is_open(); }
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] bool is_reading() const {
    return wait_ == Wait::kRequest || wait_ == Wait::kRestOfRequest;
  }
  [[nodiscard]] std::size_t most_unread() const;

  std::ptrdiff_t Receive(std::span<char> buffer);
  std::optional<std::size_t> Transmit(std::string_view bytes);

  Connections& all_;
  const ListenerOptions& listener_;
  Transport transport_;
  std::size_t place_;  // in all_
  std::unique_ptr<Handler> handler_;
  std::unique_ptr<ConnectionFacts> early_;  // until there is a handler, where that is not at once
  std::optional<Seat> seat_;

  std::string unread_;                 // of a request that is not complete
  std::string unsent_;                 // what the peer did not take
  std::size_t sent_ = 0;               // bytes of unsent_ that have gone out since
  PutOffAnswers::Place put_off_ = {};  // of kEndOfTurn
  std::size_t need_ = 0;               // as in Progress

  Instant since_;  // when the wait began
  Instant held_until_;
  Loop::Timer timer_ = Loop::kNoTimer;  // of kHold and kTurn
  std::uint32_t interest_ = 0;          // what the kernel was asked to tell
  bool is_watched_ = false;
  Wait wait_ = Wait::kRequest;
  Next next_ = Next::kRead;                 // when all is sent
  Ending ending_ = Ending::kHandlerClosed;  // when all is said
  bool held_ = false;
  bool owes_ = false;
  bool is_woken_ = false;  // and what is owed can be paid back as soon as the peer has read
  bool in_request_ = false;
  bool peer_ended_ = false;  // it sends no more
  bool draining_ = false;
  bool has_news_ = false;  // that could not be told yet
};

}  // namespace weir::net
