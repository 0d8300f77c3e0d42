// What a protocol is to a connection: bytes in, bytes out.
//
// A handler belongs to one connection and is called in the thread of its loop, never twice at once.
// It is called once per read with everything that is there, so that a pipeline of requests costs
// one call, one read and one write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rule/address.h"

namespace weir::net {

class Connection;

// What is known about a connection before its first byte.
struct ConnectionFacts {
  std::optional<rule::Address> peer = std::nullopt;  // none on a Unix socket
  std::uint16_t peer_port = 0;
  std::uint16_t local_port = 0;
  // Whom the peer speaks for, as it said by the PROXY protocol.
  std::optional<rule::Address> proxied = std::nullopt;
  // Of the client's certificate, which was verified; empty: none was asked for.
  std::string client_name = {};
  std::size_t loop = 0;  // which of the server's has it
};

enum class Next : std::uint8_t {
  kRead,   // call again when more has come
  kAgain,  // call again when what was written has gone out: there is more to do in what is unread
  kClose,  // write, then close
  kDrop,   // close at once, without a word
};

struct Progress {
  std::size_t consumed = 0;  // bytes that have been dealt with; the others are shown again
  Next next = Next::kRead;
  // kRead: do not call before so many bytes are unread, where the handler can know. It saves
  // looking at a long request again and again as it comes.
  std::size_t need = 0;
  // Bytes were consumed, but they did not complete a request. Without it, a call that consumes
  // anything stops the clock of ConnectionLimits::request, and one that leaves bytes starts it.
  bool in_request = false;
};

class Handler {
 public:
  Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  // `unread` is never empty and good for this call only. What is appended to `out` is sent; it is
  // empty, unless OnResume() has just written to it. A handler that throws loses its connection.
  virtual Progress OnBytes(std::string_view unread, Connection& connection, std::string& out) = 0;

  // The time of Connection::Hold() is over, or Wake() was called. After a hold, OnBytes() follows
  // if it returns kRead or kAgain and something is unread.
  virtual Next OnResume(Connection& connection, std::string& out);

  // Something has changed that a client may be waiting to hear of (Server::TellNews). What is
  // appended to `out` is sent.
  virtual void OnNews(std::string& out);

  // The connection is idle and ends: nobody has asked for long, or the server stops. What is
  // appended to `out` is sent first.
  virtual void OnEnding(std::string& out);

  // The connection ends while it is held or owes something, whoever ended it: that will not be
  // sent. The handler is destroyed after it.
  virtual void OnGone(Connection& connection);
};

using HandlerFactory = std::function<std::unique_ptr<Handler>(const ConnectionFacts&)>;

}  // namespace weir::net
