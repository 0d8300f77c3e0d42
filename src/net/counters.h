// What the connections of a server have come to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::net {

// Why a connection was closed.
enum class Ending : std::uint8_t {
  kPeerClosed,      // the usual one
  kPeerLost,        // reset, unreachable
  kHandlerClosed,   // the protocol came to its end
  kHandlerDropped,  // the protocol wanted no more of it
  kHandlerFailed,   // it threw: a bug
  kIdle,            // the others are limits
  kSlowRequest,
  kSlowReader,
  kSlowProxyHeader,
  kBadProxyHeader,
  kSlowHandshake,
  kBadHandshake,  // HandshakeFailure says more
  kRequestTooLarge,
  kTooManyConnections,
  kTooManyFromPeer,
  kNoDescriptors,
  kServerStopped,  // it had nothing under way
  kServerCut,      // it had, but the time to finish was over
};
inline constexpr std::size_t kEndings = static_cast<std::size_t>(Ending::kServerCut) + 1;

// "peer_closed" and so on, as metrics name it.
std::string_view NameOf(Ending ending);

// Why a handshake of TLS came to nothing.
enum class HandshakeFailure : std::uint8_t {
  kNotTls,               // plain bytes, to a port of TLS
  kNothingInCommon,      // no version, cipher or protocol that both know
  kNoClientCertificate,  // it was asked for one
  kClientCertificate,    // it is not vouched for, or has expired
  kClientName,           // it is good, but not of anybody who is allowed
  kRefusedByClient,      // it does not believe our certificate
  kPeerLeft,
  kOther,
};
inline constexpr std::size_t kHandshakeFailures =
    static_cast<std::size_t>(HandshakeFailure::kOther) + 1;
std::string_view NameOf(HandshakeFailure failure);

// All of it since the start.
struct Totals {
  std::uint64_t accepted = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t handshakes = 0;                  // of TLS, that were completed
  std::array<std::uint64_t, kEndings> closed{};  // by Ending
  std::array<std::uint64_t, kHandshakeFailures> handshake_failures{};

  [[nodiscard]] std::uint64_t failed_by(HandshakeFailure failure) const {
    return handshake_failures[static_cast<std::size_t>(failure)];
  }
  [[nodiscard]] std::uint64_t closed_by(Ending ending) const {
    return closed[static_cast<std::size_t>(ending)];
  }
  [[nodiscard]] std::uint64_t open_now() const;
  Totals& operator+=(const Totals& other);
};

// The counters of one loop. Thread safety: the loop's thread counts, any thread reads.
class alignas(64) Counters {
 public:
  void CountAccepted() { Add(accepted_, 1); }
  void CountBytesIn(std::size_t bytes) { Add(bytes_in_, bytes); }
  void CountBytesOut(std::size_t bytes) { Add(bytes_out_, bytes); }
  void CountHandshake() { Add(handshakes_, 1); }
  void CountHandshake(HandshakeFailure failure) {
    Add(handshake_failures_[static_cast<std::size_t>(failure)], 1);
  }
  void CountClosed(Ending ending) { Add(closed_[static_cast<std::size_t>(ending)], 1); }
  [[nodiscard]] Totals Read() const;

 private:
  using Counter = std::atomic<std::uint64_t>;
  // There is one writer, so no locked instruction is needed.
  static void Add(Counter& counter, std::uint64_t more) {
    counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  Counter accepted_ = 0;
  Counter bytes_in_ = 0;
  Counter bytes_out_ = 0;
  Counter handshakes_ = 0;
  std::array<Counter, kEndings> closed_{};
  std::array<Counter, kHandshakeFailures> handshake_failures_{};
};

}  // namespace weir::net
