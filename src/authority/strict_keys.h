// The keys of a strict host: what each held when it was last seen, and who waits for it.
//
// So many are remembered; the one that was asked about longest ago makes room. To forget a key
// costs its next request a round trip, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "authority/recent_takes.h"
#include "authority/strict_local.h"
#include "authority/strict_state.h"
#include "weir/units.h"

namespace weir::authority {

class StrictExchange;
struct StrictRequest;

struct StrictKey {
  // Of a key that was never seen, the guess is that there is nothing: right for every new one.
  void Forget() {
    state = {};
    stamp.clear();
    is_seen = false;
  }
  // What to go on with while nobody answers.
  StrictLocal& Local(Instant at) {
    if (!local) local.emplace(state, own_takes.Total(at), at);
    return *local;
  }

  std::string name;
  std::uint16_t place = 0;
  StrictState state;
  std::string stamp;  // of what it held; empty: nothing
  bool is_seen = false;
  Instant seen_at{};                 // by the host's clock
  RecentTakes own_takes;             // of this host
  std::optional<StrictLocal> local;  // while nobody answers
  StrictExchange* exchange = nullptr;
  std::vector<std::shared_ptr<StrictRequest>> waiting;  // in order
};

class StrictKeys {
 public:
  using PlaceOf = std::function<std::uint16_t(std::string_view)>;

  StrictKeys(std::size_t most, PlaceOf place_of) : most_(most), place_of_(std::move(place_of)) {}
  ~StrictKeys() {
    for (const auto& key : keys_) key->waiting.clear();  // who waits holds on to the key
  }
  StrictKeys(const StrictKeys&) = delete;
  StrictKeys& operator=(const StrictKeys&) = delete;

  // Is made if there is none.
  std::shared_ptr<StrictKey> At(std::string_view name);
  // Null if there is none.
  [[nodiscard]] StrictKey* Find(std::string_view name);
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }

 private:
  using Keys = std::list<std::shared_ptr<StrictKey>>;

  void MakeRoom();

  std::size_t most_;
  PlaceOf place_of_;
  Keys keys_;                                                     // the last one asked about first
  std::unordered_map<std::string_view, Keys::iterator> by_name_;  // names are the keys' own
};

}  // namespace weir::authority
