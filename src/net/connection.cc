#include "net/connection.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/time.h"
#include "net/connections.h"
#include "wire/proxy_protocol.h"

namespace weir::net {
namespace {

constexpr std::uint32_t kPeerGone = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

}  // namespace

Connection::Connection(Connections& all, const ListenerOptions& listener, Descriptor socket,
                       std::size_t place)
    : all_(all),
      listener_(listener),
      transport_(std::move(socket)),
      place_(place),
      since_(all.loop_.now()) {}

Instant Connection::now() const { return all_.loop_.now(); }

void Connection::Close(Ending ending) {
  if (!is_open()) return;
  // Not left to closing: a process that is being forked has the socket too for a moment, and the
  // kernel would go on telling of it.
  if (is_watched_) all_.loop_.Unwatch(transport_.fd());
  is_watched_ = false;
  transport_.Close();
  if (wait_ == Wait::kEndOfTurn) all_.put_off_.Drop();
  all_.loop_.Cancel(timer_);
  Deadlines::Clear(*this);
  if (held_ || owes_) {
    held_ = owes_ = false;
    try {
      handler_->OnGone(*this);
    } catch (...) {
      ending = Ending::kHandlerFailed;
    }
  }
  seat_.reset();
  all_.counters_.CountClosed(ending);
  all_.Remove(*this);
}

// --- what happens to it
// ---------------------------------------------------------------------------

void Connection::OnReady(std::uint32_t events) {
  if (!is_open()) return;  // closed earlier in this turn
  switch (wait_) {
    case Wait::kProxyHeader:
    case Wait::kHandshake:
    case Wait::kRequest:
    case Wait::kRestOfRequest:
      if ((events & EPOLLRDHUP) != 0) peer_ended_ = true;
      if (wait_ == Wait::kHandshake) return ShakeHands();
      Read();
      return;
    case Wait::kPeerToRead:
      if (held_ && (events & kPeerGone) != 0) return Close(Ending::kPeerClosed);
      return Flush();
    case Wait::kHold:
      if ((events & kPeerGone) != 0) Close(Ending::kPeerClosed);
      return;
    case Wait::kEndOfTurn:
    case Wait::kTurn:
      return;
    case Wait::kFarewell:
      return Discard();
  }
}

void Connection::OnDeadline() {
  switch (wait_) {
    case Wait::kProxyHeader:
      return Close(Ending::kSlowProxyHeader);
    case Wait::kHandshake:
      return Close(Ending::kSlowHandshake);
    case Wait::kRequest:
      return End(Ending::kIdle);
    case Wait::kRestOfRequest:
      return Close(Ending::kSlowRequest);
    case Wait::kPeerToRead:
      return Close(Ending::kSlowReader);
    case Wait::kFarewell:
      return Close(ending_);
    case Wait::kHold:
    case Wait::kEndOfTurn:
    case Wait::kTurn:
      return;  // these have no deadline
  }
}

// --- from the socket to the handler
// ---------------------------------------------------------------

// Reads once. Returns whether anything was there.
bool Connection::Read() {
  const std::span<char> in = all_.in();
  const std::size_t room = std::min(in.size(), most_unread() - unread_.size());
  const std::ptrdiff_t got = Receive(in.first(room));
  if (got < 0) {
    if (errno == EAGAIN) {
      AwaitRecord();
      return false;
    }
    Close(Ending::kPeerLost);
  } else if (got == 0) {
    Close(Ending::kPeerClosed);  // all that could be answered has been
  } else {
    const std::string_view fresh(in.data(), static_cast<std::size_t>(got));
    if (unread_.empty()) {
      Handle(fresh);
    } else {
      unread_.append(fresh);
      Handle(unread_);
    }
  }
  return true;
}

void Connection::ReadMore() {
  if (is_reading()) Read();
}

// `unread` is unread_, or, if that is empty, what has just been read.
void Connection::Handle(std::string_view unread) {
  if (early_) {
    const std::optional<std::string_view> rest = AfterProxyHeader(unread);
    if (!rest) return;
    unread = *rest;
    if (unread.empty()) {
      Keep(unread);
      return Continue();
    }
  }
  if (unread.size() < need_) {
    Keep(unread);
    return Await(Wait::kRestOfRequest);
  }
  Call(unread);
}

void Connection::Call(std::string_view unread) {
  std::string& out = all_.EmptyOut();
  Progress progress;
  const bool owed = std::exchange(owes_, false);
  try {
    progress = handler_->OnBytes(unread, *this, out);
  } catch (...) {
    owes_ |= owed;  // it is told that it ends
    return Close(Ending::kHandlerFailed);
  }
  Finish(unread, progress, out);
}

void Connection::Hold(Nanos time) {
  held_ = true;
  held_until_ = Later(now(), std::max(time, Nanos(0)));
}

void Connection::HoldUntilWoken() {
  held_ = true;
  held_until_ = Instant::max();
}

void Connection::Wake() {
  // Otherwise as soon as the peer has read what was sent.
  if (held_) {
    held_until_ = now();
    if (wait_ == Wait::kHold) Resume();
  } else if (owes_) {
    is_woken_ = true;
    if (is_reading()) PayBack();
  }
}

void Connection::Resume() {
  held_ = false;
  std::string& out = all_.EmptyOut();
  Progress progress;
  try {
    progress.next = handler_->OnResume(*this, out);
    const bool goes_on = progress.next == Next::kRead || progress.next == Next::kAgain;
    if (goes_on && !held_ && !unread_.empty() && unread_.size() >= need_) {
      progress = handler_->OnBytes(unread_, *this, out);
    }
  } catch (...) {
    return Close(Ending::kHandlerFailed);
  }
  Finish(unread_, progress, out);
}

// Whatever the connection waits for, it goes on waiting for it.
void Connection::PayBack() {
  is_woken_ = owes_ = false;
  std::string& out = all_.EmptyOut();
  Progress progress{.need = need_, .in_request = in_request_};
  try {
    progress.next = handler_->OnResume(*this, out);
  } catch (...) {
    owes_ = true;  // it is told that it ends
    return Close(Ending::kHandlerFailed);
  }
  if (progress.next == Next::kRead) progress.next = next_;
  Finish(unread_, progress, out);
}

void Connection::TellNews() {
  has_news_ = !is_reading();
  if (has_news_) return;  // as soon as it is again
  std::string& out = all_.EmptyOut();
  try {
    handler_->OnNews(out);
  } catch (...) {
    return Close(Ending::kHandlerFailed);
  }
  if (out.empty()) return;
  Finish(unread_, {.next = next_, .need = need_, .in_request = in_request_}, out);
}

// --- from the handler to the socket
// ---------------------------------------------------------------

void Connection::Finish(std::string_view unread, const Progress& progress, std::string_view out) {
  WEIR_CHECK(progress.consumed <= unread.size());
  if (progress.next == Next::kDrop) return Close(Ending::kHandlerDropped);
  WEIR_CHECK(!held_ || progress.next != Next::kClose);
  Keep(unread.substr(progress.consumed));
  next_ = progress.next;
  need_ = progress.need;
  in_request_ = progress.in_request || !unread_.empty();
  // Something is complete: what is left is another request, with a time of its own.
  if (progress.consumed > 0 && !progress.in_request) since_ = now();
  if (next_ == Next::kRead && std::max(need_, unread_.size() + 1) > most_unread()) {
    next_ = Next::kClose;
    ending_ = Ending::kRequestTooLarge;
  }
  if (!PutOff(out)) Send(out);
}

// Only what is simple: somebody has asked, is answered, and may ask the next.
bool Connection::PutOff(std::string_view out) {
  if (next_ != Next::kRead || in_request_ || held_ || is_woken_) return false;
  const std::optional<PutOffAnswers::Place> place = all_.put_off_.Add(out);
  if (!place) return false;
  put_off_ = *place;
  wait_ = Wait::kEndOfTurn;  // the kernel is asked nothing else meanwhile
  all_.loop_.TellAtEnd(*this);
  return true;
}

void Connection::OnTurnEnds() {
  if (wait_ == Wait::kEndOfTurn && is_open()) Send(all_.put_off_.At(put_off_));
}

void Connection::Send(std::string_view out) {
  const std::optional<std::size_t> sent = Transmit(out);
  if (!sent) return Close(Ending::kPeerLost);
  if (*sent < out.size()) unsent_.assign(out.substr(*sent));
  if (wait_ == Wait::kEndOfTurn) {
    all_.put_off_.Drop();
    wait_ = Wait::kRequest;
  }
  if (unsent_.empty()) return Continue();
  Await(Wait::kPeerToRead, Since::kNow);
}

// Memory is given back as soon as nothing is in it: most connections are idle most of the time.
void Connection::Keep(std::string_view unread) {
  if (unread.empty()) {
    if (!unread_.empty()) unread_ = std::string();
  } else if (unread_.empty()) {
    unread_.assign(unread);
  } else {
    unread_.erase(0, unread_.size() - unread.size());  // the rest of itself
  }
}

void Connection::Flush() {
  const std::optional<std::size_t> sent = Transmit(std::string_view(unsent_).substr(sent_));
  if (!sent) return Close(Ending::kPeerLost);
  sent_ += *sent;
  if (sent_ < unsent_.size()) return;
  unsent_ = std::string();
  sent_ = 0;
  Continue();
}

// Everything is sent: what comes next?
void Connection::Continue() {
  if (next_ == Next::kClose) return SayFarewell();
  if (held_) {
    Await(Wait::kHold);
    if (held_until_ == Instant::max()) return;
    return CallAfter(held_until_ - now(), &Connection::Resume);
  }
  if (is_woken_) return PayBack();
  if (next_ == Next::kAgain && !unread_.empty()) {
    Await(Wait::kTurn);
    return CallAfter(Nanos(0), &Connection::HandleAgain);
  }
  if (in_request_) {
    Await(Wait::kRestOfRequest);
  } else {
    Await(Wait::kRequest, Since::kNow);
    if (draining_) CallAfter(Nanos(0), &Connection::Drain);
  }
  if (has_news_) TellNews();
}

// --- waiting
// --------------------------------------------------------------------------------------

void Connection::Await(Wait wait, Since since) {
  if (wait != wait_ || since == Since::kNow) since_ = now();
  wait_ = wait;
  const std::uint32_t interest = Interest();
  if (interest != interest_) {
    interest_ = interest;
    all_.loop_.ChangeWatch(transport_.fd(), interest, *this);
  }
  all_.deadlines_.Set(*this, Later(since_, Patience()));
  // What was decrypted already the kernel does not tell of.
  if (transport_.has_more() && is_reading()) CallAfter(Nanos(0), &Connection::ReadMore);
}

// Bytes may have come and yet none that a handler can be shown, where they are encrypted.
void Connection::AwaitRecord() {
  if (transport_.tls() == nullptr || wait_ == Wait::kProxyHeader) return;
  // It has to say something itself before it can go on, and the peer does not read.
  if (transport_.wants_room()) return Await(Wait::kPeerToRead);
  Await(in_request_ || transport_.has_part() ? Wait::kRestOfRequest : Wait::kRequest);
}

void Connection::CallAfter(Nanos delay, void (Connection::*method)()) {
  all_.loop_.Cancel(timer_);
  timer_ = all_.loop_.After(delay, [this, method] {
    timer_ = Loop::kNoTimer;
    (this->*method)();
  });
}

std::uint32_t Connection::Interest() const {
  const std::uint32_t peer_end = peer_ended_ ? 0U : static_cast<std::uint32_t>(EPOLLRDHUP);
  switch (wait_) {
    case Wait::kPeerToRead:
      return EPOLLOUT | (held_ ? peer_end : 0U);
    case Wait::kHold:
      return peer_end;
    case Wait::kHandshake:
      return transport_.wants_room() ? static_cast<std::uint32_t>(EPOLLOUT) : kReading;
    default:
      return kReading;
  }
}

Nanos Connection::Patience() const {
  const ConnectionLimits& limits = listener_.limits;
  switch (wait_) {
    case Wait::kProxyHeader:
      return limits.proxy_header;
    case Wait::kRequest:
      return owes_ ? Nanos::max() : limits.idle;
    case Wait::kHandshake:
    case Wait::kRestOfRequest:
      return limits.request;
    case Wait::kPeerToRead:
      return limits.reading;
    case Wait::kFarewell:
      return limits.farewell;
    case Wait::kHold:
    case Wait::kEndOfTurn:
    case Wait::kTurn:
      break;
  }
  return Nanos::max();
}

std::size_t Connection::most_unread() const {
  return early_ ? wire::kLongestProxyV2 : listener_.limits.unread_bytes;
}

// --- the socket
// -----------------------------------------------------------------------------------

std::ptrdiff_t Connection::Receive(std::span<char> buffer) {
  const std::ptrdiff_t got = transport_.Receive(buffer);
  if (got > 0) all_.counters_.CountBytesIn(static_cast<std::size_t>(got));
  return got;
}

std::optional<std::size_t> Connection::Transmit(std::string_view bytes) {
  const std::optional<std::size_t> sent = transport_.Transmit(bytes);
  if (sent) all_.counters_.CountBytesOut(*sent);
  return sent;
}

}  // namespace weir::net
