#include "frontend/handlers.h"

#include <memory>
#include <string>

#include "net/connection.h"

namespace weir {
namespace {

using net::Next;

// Counts what a session made of one read, which began at `start`.
template <typename Progress>
void CountIn(Traffic* traffic, Protocol protocol, const Progress& progress, Checker& checker,
             Instant start) {
  if (traffic == nullptr || progress.requests == 0) return;
  traffic->Count(protocol, {progress.requests, progress.errors, checker.Now() - start});
}

// The clock is read once for everything that came in one read, and once more when it is answered.
class HttpHandler final : public net::Handler {
 public:
  HttpHandler(Checker& checker, const HttpOptions& options, const net::ConnectionFacts& facts)
      : checker_(checker),
        traffic_(options.traffic),
        session_(checker, options, facts.peer, facts.proxied) {}

  net::Progress OnBytes(std::string_view unread, net::Connection& connection,
                        std::string& out) override {
    const Instant now = checker_.Now();
    const HttpSession::Progress progress = session_.Serve(unread, now, out);
    CountIn(traffic_, Protocol::kHttp, progress, checker_, now);
    if (progress.then == HttpSession::Then::kHold) connection.Hold(progress.hold);
    return {.consumed = progress.consumed,
            .next = NextAfter(progress.then),
            .in_request = session_.is_in_request()};
  }
  Next OnResume(net::Connection& /*connection*/, std::string& out) override {
    return NextAfter(session_.Resume(out));
  }
  void OnGone(net::Connection& /*connection*/) override { session_.Abandon(checker_.Now()); }

 private:
  static Next NextAfter(HttpSession::Then then) {
    switch (then) {
      case HttpSession::Then::kClose:
        return Next::kClose;
      case HttpSession::Then::kDrop:
        return Next::kDrop;
      case HttpSession::Then::kAgain:
        return Next::kAgain;
      case HttpSession::Then::kGoOn:
      case HttpSession::Then::kHold:
        break;
    }
    return Next::kRead;
  }

  Checker& checker_;
  Traffic* traffic_;
  HttpSession session_;
};

class RespHandler final : public net::Handler {
 public:
  RespHandler(Checker& checker, const RespOptions& options)
      : checker_(checker), traffic_(options.traffic), session_(checker, options) {}

  net::Progress OnBytes(std::string_view unread, net::Connection& /*connection*/,
                        std::string& out) override {
    const Instant now = checker_.Now();
    const RespSession::Progress progress = session_.Serve(unread, now, out);
    CountIn(traffic_, Protocol::kResp, progress, checker_, now);
    if (progress.failed_auths != 0 && traffic_ != nullptr) {
      traffic_->CountFailedAuths(Protocol::kResp, progress.failed_auths);
    }
    return {.consumed = progress.consumed,
            .next = progress.close  ? Next::kClose
                    : progress.more ? Next::kAgain
                                    : Next::kRead};
  }

 private:
  Checker& checker_;
  Traffic* traffic_;
  RespSession session_;
};

class GrpcHandler final : public net::Handler {
 public:
  GrpcHandler(Checker& checker, const GrpcOptions& options)
      : checker_(checker), traffic_(options.traffic), session_(checker, options) {}

  net::Progress OnBytes(std::string_view unread, net::Connection& connection,
                        std::string& out) override {
    if (connection.is_draining()) session_.Leave();
    const Instant now = checker_.Now();
    const GrpcSession::Progress progress = session_.Serve(unread, now, out);
    CountIn(traffic_, Protocol::kGrpc, progress, checker_, now);
    return {.consumed = progress.consumed,
            .next = progress.close  ? Next::kClose
                    : progress.more ? Next::kAgain
                                    : Next::kRead,
            .in_request = progress.in_request};
  }
  void OnEnding(std::string& out) override {
    session_.Leave();
    session_.Write(out);
  }

 private:
  Checker& checker_;
  Traffic* traffic_;
  GrpcSession session_;
};

}  // namespace

net::HandlerFactory HttpHandlers(Checker& checker, const HttpOptions& options) {
  return [&checker, &options](const net::ConnectionFacts& facts) {
    return std::make_unique<HttpHandler>(checker, options, facts);
  };
}

net::HandlerFactory RespHandlers(Checker& checker, const RespOptions& options) {
  return [&checker, &options](const net::ConnectionFacts& /*facts*/) {
    return std::make_unique<RespHandler>(checker, options);
  };
}

net::HandlerFactory GrpcHandlers(Checker& checker, const GrpcOptions& options) {
  return [&checker, &options](const net::ConnectionFacts& /*facts*/) {
    return std::make_unique<GrpcHandler>(checker, options);
  };
}

}  // namespace weir
