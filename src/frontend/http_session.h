// What one HTTP client says, and what it is told: one object per connection.
//
//   ANY /check[/...]                 a gateway asks: 200, or 429 with the standard fields
//   ANY /peek[/...]                  the same, but nothing is taken and nobody waits
//   POST /v1/check /v1/peek          JSON: one request, or up to 1,000
//   POST /v1/report /v1/charge /v1/refund      what became of a request that passed
//   GET /healthz /readyz
//   POST /json, GET /rlconfig /healthcheck     as envoyproxy/ratelimit has them
//   GET /metrics                     for Prometheus, in pieces: others are served between them
//
// Bytes in, bytes out: it owns no socket and reads no clock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/check_series.h"
#include "frontend/field_places.h"
#include "frontend/http_attributes.h"
#include "frontend/metrics_reply.h"
#include "frontend/rate_limit_fields.h"
#include "frontend/ratelimit_pages.h"
#include "frontend/should_rate_limit.h"
#include "frontend/traffic.h"
#include "rule/client.h"
#include "service/checker.h"
#include "wire/http_body.h"
#include "wire/http_date.h"
#include "wire/http_reader.h"
#include "wire/http_reply.h"
#include "wire/http_request.h"

namespace weir {

// The same for all connections.
struct HttpOptions {
  std::string space = "default";  // the namespace, where a gateway does not name one
  FieldStyle fields = FieldStyle::kDraft10;
  std::vector<rule::Network> gateways;  // who is believed when it speaks for others
  rule::ClientIdentifier clients{rule::ClientOptions{}};
  RateLimitOptions rate_limit = {};          // of /json
  const std::atomic<bool>* ready = nullptr;  // null: always
  const MetricsSources* metrics = nullptr;   // null: there is no such page
  Traffic* traffic = nullptr;                // null: nobody counts
};

class HttpSession {
 public:
  // Bytes of answers after which it stops until they have gone out.
  static constexpr std::size_t kEnough = std::size_t{256} << 10;
  enum class Then : std::uint8_t {
    kGoOn,
    kAgain,  // enough was written for now: there is more to do in what is unread
    kHold,   // for `hold`, and then Resume()
    kWait,   // until its waiter is told, and then Resume()
    kClose,  // when what was written has gone out
    kDrop,   // at once, without a word
  };
  struct Progress {
    std::size_t consumed = 0;
    Then then = Then::kGoOn;
    Nanos hold{0};
    std::uint64_t requests = 0;  // answered, or at least begun
    std::uint64_t errors = 0;    // of these, answered with a mistake
  };

  // `peer` is empty on a Unix socket, where whoever can connect is trusted. `proxied`, as the PROXY
  // protocol said it, takes its place: the listener knows of whom to take that.
  HttpSession(Checker& checker, const HttpOptions& options, std::optional<rule::Address> peer,
              std::optional<rule::Address> proxied, ClusterSeat seat = {});

  // Answers all requests that are complete in `bytes`, in order, at one instant.
  Progress Serve(std::string_view bytes, Instant now, std::string& out);
  // Some of a request's body is still to come.
  [[nodiscard]] bool is_in_request() const { return body_kind_ != Body::kNone; }
  // The time is over, or the waiter was told: what was held back is said.
  Progress Resume(Instant now, std::string& out);
  // The client has gone while it was held: its permits go back.
  void Abandon(Instant now);

 private:
  // Bytes of a body that are not wanted, or not there yet.
  enum class Body : std::uint8_t { kNone, kWanted, kUnwanted };

  // False if the body is not complete, or what is there of it makes no sense.
  bool ReadBody(std::string_view bytes, Progress& progress, std::string& out);
  void Finish(Progress& progress);
  void Release() {
    reply_.Release();
    checks_.Clear();
    descriptors_.reset();
  }
  [[nodiscard]] bool IsMetrics() const;
  void Answer(Instant now, Progress& progress, std::string& out);

  // /check and /peek (http_check.cc).
  static bool IsCheck(std::string_view path);
  static bool IsPeek(std::string_view path);
  // Checks of one read that follow one upon the other are all read, and their memory is asked for,
  // before the first of them is decided.
  struct Asked {
    Asked(const rule::Space& space, std::size_t e) : values(space.schema()), end(e) {}
    rule::Values values;
    Checker::Foreseen foreseen;
    std::size_t end;  // of its bytes
  };
  static constexpr std::size_t kMostInRun = 8;
  // The request at hand becomes part of the run, or is answered at once if no rule has a say; false
  // if it can be neither.
  bool Join(std::size_t end, Instant now, std::vector<Asked>& run, Progress& progress,
            std::string& out);
  // All of it, unless one has to wait: what follows that one then counts as unread.
  void AnswerRun(Instant now, std::vector<Asked>& run, Progress& progress, std::string& out);
  void AnswerCheck(Instant now, Progress& progress, std::string& out);
  [[nodiscard]] GatewayFields Said() const;
  [[nodiscard]] std::string_view NamespaceOf(const GatewayFields& said) const;
  void TellCheck(CheckRequest::Intent intent, const wire::HttpReplyTo& to, Progress& progress,
                 std::string& out);
  // `rules`: the serial number of the namespace that refuses.
  void TellRefusal(std::uint64_t rules, const wire::HttpReplyTo& to, Progress& progress,
                   std::string& out);

  void AnswerApi(Instant now, Progress& progress, std::string& out);
  void AnswerRateLimitPage(Instant now, Progress& progress, std::string& out);
  RateLimitPage AnswerRateLimit(Instant now);
  [[nodiscard]] bool is_ready() const { return options_.ready == nullptr || *options_.ready; }
  // A mistake: of the client's, in what it asks.
  void Refuse(std::uint16_t status, std::string_view detail, std::string& out);
  [[nodiscard]] wire::HttpReplyTo To() const {
    return wire::HttpReplyTo::Of(request_, date_field_);
  }

  Checker& checker_;
  const HttpOptions& options_;
  HttpPeer peer_;
  wire::HttpReader reader_;
  wire::HttpRequest request_;
  FieldPlaces places_;
  HttpAttributes attributes_;
  CheckSeries checks_;
  CheckReply& reply_;                             // the first of them
  std::unique_ptr<DescriptorReply> descriptors_;  // of a request to /json
  wire::HttpDate date_;
  std::string_view date_field_;  // of what is answered at the moment

  // Of a request whose body is still coming, or that waits: its head, whose views look at this.
  std::string head_;
  Body body_kind_ = Body::kNone;
  std::uint64_t body_left_ = 0;
  std::optional<wire::ChunkReader> chunks_;
  std::string body_;

  std::optional<MetricsReply> metrics_;  // of which something is still to be written
  std::uint64_t errors_ = 0;             // among the bytes at hand

  bool is_waiting_ = false;  // the request is whole, and cannot be answered yet
  std::string held_;         // an answer that is to wait
  bool close_after_held_ = false;
};

}  // namespace weir
