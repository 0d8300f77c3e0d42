// What a strict host has to do: requests, and the exchanges that decide several of them at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "authority/host.h"
#include "authority/strict_keys.h"
#include "authority/strict_limit.h"
#include "authority/strict_state.h"
#include "authority/swap_store.h"
#include "weir/decision.h"
#include "weir/units.h"

namespace weir::authority {

struct StrictPart {
  std::shared_ptr<StrictKey> key;
  StrictLimit limit;
  Permits cost{};
  Decision decision{};
  Instant taken{};  // when it was, by the clock of the store
};

// A request goes from place to place; at each of them all its parts there are decided at once.
struct StrictRequest {
  // The last two come afterwards, and nobody waits for them.
  enum class Purpose : std::uint8_t { kTake, kPeek, kRefund, kCharge };

  [[nodiscard]] std::uint16_t place() const { return places[stage]; }
  [[nodiscard]] bool IsHere(const StrictPart& part) const { return part.key->place == place(); }
  [[nodiscard]] bool is_correction() const {
    return purpose == Purpose::kRefund || purpose == Purpose::kCharge;
  }
  [[nodiscard]] std::size_t StageOf(const StrictPart& part) const;

  Purpose purpose = Purpose::kTake;
  Waiter waiter = 0;         // of a refund: nobody
  std::uint64_t number = 0;  // in the order of asking
  std::vector<StrictPart> parts;
  std::vector<std::uint16_t> places;
  std::size_t stage = 0;
  bool is_over = false;    // whoever waited has been told something, or has gone
  bool is_joined = false;  // to an exchange
};

// One swap, or one look, for all who waited for its keys. Has the keys to itself until it is over.
class StrictExchange {
 public:
  // More keys than this wait for the next one.
  static constexpr std::size_t kMostKeys = 64;

  void Claim(const std::shared_ptr<StrictKey>& key);
  // False if one of the keys belongs to another exchange, or there are too many.
  bool Join(const std::shared_ptr<StrictRequest>& request);
  // Everybody who waits for these keys has joined: takes them out of the queues.
  void Close();

  // States that have meant nothing for a while are taken for gone from the store.
  void ForgetWhatIsGone(Instant at);
  // Decides all requests in order, on copies of what was last seen. True if that changes something.
  bool Decide(Instant at);
  // The request that makes it so; without changes, a look. `stamps` is the last stamp there was.
  SwapRequest MakeRequest(Ticket ticket, Instant at, std::uint64_t& stamps);
  // The keys hold what was seen, and what was decided.
  void Keep(Instant now);
  // The keys hold something else.
  void Learn(const SwapReply& reply, WrittenLimits& limits, Instant now);
  // Nobody knows whether the keys hold what was decided.
  void ForgetWhatWasSent();
  // Gives the keys free.
  void Release();

  std::vector<std::shared_ptr<StrictKey>> keys;
  std::vector<std::shared_ptr<StrictRequest>> requests;
  Instant sent{};
  bool is_late = false;

  [[nodiscard]] bool changes_something() const { return changes_something_; }

 private:
  [[nodiscard]] StrictState& StateOf(const StrictKey& key);
  void Apply(StrictRequest& request, Instant at);
  void CountOwnTakes() const;

  std::vector<StrictState> states_;  // of keys, as decided
  std::vector<std::string> values_;  // and as sent; empty if unchanged
  std::vector<SwapKey> swap_;
  Instant at_{};  // when it was decided
  bool changes_something_ = false;
};

}  // namespace weir::authority
