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

// Wakes the connection that a session waits with.
class Wakes : public CheckWaiter {
 public:
  void OnSettled() override { connection_->Wake(); }

 protected:
  ~Wakes() = default;
  void WaitWith(net::Connection& connection) {
    connection_ = &connection;
    connection.HoldUntilWoken();
  }
  void OweTo(net::Connection& connection) {
    connection_ = &connection;
    connection.Owe();
  }
  ClusterSeat SeatIn(const Clusters& clusters, const net::ConnectionFacts& facts) {
    if (clusters.empty()) return {};
    return {.cluster = clusters[facts.loop], .waiter = this};
  }

 private:
  net::Connection* connection_ = nullptr;
};

// The clock is read once for everything that came in one read, and once more when it is answered.
class HttpHandler final : public net::Handler, private Wakes {
 public:
  HttpHandler(Checker& checker, const HttpOptions& options, const Clusters& clusters,
              const net::ConnectionFacts& facts)
      : checker_(checker),
        traffic_(options.traffic),
        session_(checker, options, facts.peer, facts.proxied, SeatIn(clusters, facts)) {}

  net::Progress OnBytes(std::string_view unread, net::Connection& connection,
                        std::string& out) override {
    const Instant now = checker_.Now();
    const HttpSession::Progress progress = session_.Serve(unread, now, out);
    CountIn(traffic_, Protocol::kHttp, progress, checker_, now);
    return {.consumed = progress.consumed,
            .next = NextAfter(progress, connection),
            .in_request = session_.is_in_request()};
  }
  Next OnResume(net::Connection& connection, std::string& out) override {
    return NextAfter(session_.Resume(checker_.Now(), out), connection);
  }
  void OnGone(net::Connection& /*connection*/) override { session_.Abandon(checker_.Now()); }

 private:
  Next NextAfter(const HttpSession::Progress& progress, net::Connection& connection) {
    switch (progress.then) {
      case HttpSession::Then::kClose:
        return Next::kClose;
      case HttpSession::Then::kDrop:
        return Next::kDrop;
      case HttpSession::Then::kAgain:
        return Next::kAgain;
      case HttpSession::Then::kHold:
        connection.Hold(progress.hold);
        return Next::kAgain;
      case HttpSession::Then::kWait:
        WaitWith(connection);
        return Next::kAgain;
      case HttpSession::Then::kGoOn:
        break;
    }
    return Next::kRead;
  }

  Checker& checker_;
  Traffic* traffic_;
  HttpSession session_;
};

class RespHandler final : public net::Handler, private Wakes {
 public:
  RespHandler(Checker& checker, const RespOptions& options, const Clusters& clusters,
              const net::ConnectionFacts& facts)
      : checker_(checker),
        traffic_(options.traffic),
        session_(checker, options, SeatIn(clusters, facts)) {}

  net::Progress OnBytes(std::string_view unread, net::Connection& connection,
                        std::string& out) override {
    const Instant now = checker_.Now();
    const RespSession::Progress progress = session_.Serve(unread, now, out);
    CountIn(traffic_, Protocol::kResp, progress, checker_, now);
    if (progress.failed_auths != 0 && traffic_ != nullptr) {
      traffic_->CountFailedAuths(Protocol::kResp, progress.failed_auths);
    }
    if (progress.waits) WaitWith(connection);
    return {.consumed = progress.consumed,
            .next = progress.close                    ? Next::kClose
                    : progress.more || progress.waits ? Next::kAgain
                                                      : Next::kRead};
  }
  void OnGone(net::Connection& /*connection*/) override { session_.Abandon(checker_.Now()); }

 private:
  Checker& checker_;
  Traffic* traffic_;
  RespSession session_;
};

class GrpcHandler final : public net::Handler, private Wakes {
 public:
  GrpcHandler(Checker& checker, const GrpcOptions& options, const Clusters& clusters,
              const net::ConnectionFacts& facts)
      : checker_(checker),
        traffic_(options.traffic),
        session_(checker, options, SeatIn(clusters, facts)) {}

  net::Progress OnBytes(std::string_view unread, net::Connection& connection,
                        std::string& out) override {
    const Instant now = checker_.Now();
    GrpcSession::Progress progress = session_.Serve(unread, now, out);
    if (connection.is_draining() && !progress.more) {  // what was asked is answered
      session_.Leave();
      session_.Write(out);
      progress.close = session_.is_over();
    }
    CountIn(traffic_, Protocol::kGrpc, progress, checker_, now);
    if (session_.is_waiting()) OweTo(connection);
    return {.consumed = progress.consumed,
            .next = progress.close  ? Next::kClose
                    : progress.more ? Next::kAgain
                                    : Next::kRead,
            .need = progress.need,
            .in_request = progress.in_request};
  }
  Next OnResume(net::Connection& connection, std::string& out) override {
    const Instant now = checker_.Now();
    const GrpcSession::Progress progress = session_.Resume(now, out);
    CountIn(traffic_, Protocol::kGrpc, progress, checker_, now);
    if (session_.is_waiting()) OweTo(connection);
    return progress.close ? Next::kClose : Next::kRead;
  }
  void OnGone(net::Connection& /*connection*/) override { session_.Abandon(checker_.Now()); }
  void OnNews(std::string& out) override { session_.TellNews(out); }
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

net::HandlerFactory HttpHandlers(Checker& checker, const HttpOptions& options,
                                 const Clusters& clusters) {
  return [&checker, &options, &clusters](const net::ConnectionFacts& facts) {
    return std::make_unique<HttpHandler>(checker, options, clusters, facts);
  };
}

net::HandlerFactory RespHandlers(Checker& checker, const RespOptions& options,
                                 const Clusters& clusters) {
  return [&checker, &options, &clusters](const net::ConnectionFacts& facts) {
    return std::make_unique<RespHandler>(checker, options, clusters, facts);
  };
}

net::HandlerFactory GrpcHandlers(Checker& checker, const GrpcOptions& options,
                                 const Clusters& clusters) {
  return [&checker, &options, &clusters](const net::ConnectionFacts& facts) {
    return std::make_unique<GrpcHandler>(checker, options, clusters, facts);
  };
}

}  // namespace weir
