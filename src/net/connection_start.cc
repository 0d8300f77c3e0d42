// How a connection begins: a seat, the PROXY header, the handshake of TLS, a handler; each where
// there is one.
#include <sys/epoll.h>

#include <memory>
#include <utility>

#include "net/connection.h"
#include "net/connections.h"
#include "net/tls_context.h"
#include "wire/proxy_protocol.h"

namespace weir::net {

void Connection::Start(const ConnectionFacts& facts) {
  const bool is_proxied = listener_.proxy_protocol.IsExpectedFrom(facts.peer);
  seat_.emplace(all_.admission_);
  if (!seat_->Take()) return Close(Ending::kTooManyConnections);
  // A proxy is nobody's connection but those whom it speaks for.
  if (facts.peer && !is_proxied && !seat_->TakeFor(*facts.peer)) {
    return Close(Ending::kTooManyFromPeer);
  }
  if (all_.loop_.Watch(transport_.fd(), kReading, *this) != 0) {
    return Close(Ending::kNoDescriptors);
  }
  interest_ = kReading;
  is_watched_ = true;
  if (is_proxied) {
    early_ = std::make_unique<ConnectionFacts>(facts);
    Await(Wait::kProxyHeader);
  } else if (listener_.tls != nullptr) {
    early_ = std::make_unique<ConnectionFacts>(facts);
    BeginHandshake({});
  } else {
    Begin(facts);
    if (is_open()) Await(Wait::kRequest);
  }
}

// What follows the header; none if it is not complete, or is for the handshake, or the connection
// has ended.
std::optional<std::string_view> Connection::AfterProxyHeader(std::string_view unread) {
  const wire::ProxyHeader header = wire::ParseProxyHeader(unread);
  if (header.status == wire::ProxyStatus::kNeedMore) {
    Keep(unread);
    return std::nullopt;
  }
  if (header.status != wire::ProxyStatus::kHeader) {
    Close(Ending::kBadProxyHeader);
    return std::nullopt;
  }
  if (header.source) {
    early_->proxied = header.source->address;
    if (!seat_->TakeFor(*early_->proxied)) {
      Close(Ending::kTooManyFromPeer);
      return std::nullopt;
    }
  }
  unread.remove_prefix(header.size);
  if (listener_.tls != nullptr) {
    BeginHandshake(unread);
    return std::nullopt;
  }
  Begin(*std::exchange(early_, nullptr));
  if (!is_open()) return std::nullopt;
  return unread;
}

void Connection::BeginHandshake(std::string_view early) {
  transport_.Encrypt(std::make_unique<TlsStream>(listener_.tls->settings(), transport_.fd(),
                                                 listener_.protocol, early));
  Keep({});
  ShakeHands();
}

void Connection::ShakeHands() {
  TlsStream& tls = *transport_.tls();
  switch (tls.ShakeHands()) {
    case TlsStream::Shake::kGoesOn:
      return Await(Wait::kHandshake);
    case TlsStream::Shake::kFailed:
      all_.counters_.CountHandshake(tls.failure());
      // Not at once: the client is to read why.
      early_.reset();
      ending_ = Ending::kBadHandshake;
      return SayFarewell();
    case TlsStream::Shake::kDone:
      break;
  }
  all_.counters_.CountHandshake();
  const std::unique_ptr<ConnectionFacts> facts = std::move(early_);
  facts->client_name = tls.ClientName();
  Begin(*facts);
  if (!is_open()) return;
  Await(Wait::kRequest, Since::kNow);
  if (draining_) CallAfter(Nanos(0), &Connection::Drain);
}

void Connection::Begin(const ConnectionFacts& facts) {
  try {
    handler_ = listener_.handlers(facts);
  } catch (...) {
    return Close(Ending::kHandlerFailed);
  }
  if (!handler_) Close(Ending::kHandlerDropped);
}

}  // namespace weir::net
