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

// All of it since the start.
struct Totals {
  std::uint64_t accepted = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::array<std::uint64_t, kEndings> closed{};  // by Ending

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
  std::array<Counter, kEndings> closed_{};
};

}  // namespace weir::net
