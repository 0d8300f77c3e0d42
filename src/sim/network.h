// Messages between hosts and the authority: late, lost, twice, out of order, or not at all.
//
// Delivery is what a numbered stream gives (authority/once.h): at most once. A message that does
// not arrive makes no sound; whoever sent it notices by himself.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "authority/once.h"
#include "sim/chance.h"
#include "sim/events.h"

namespace weir::sim {

struct Faults {
  double lost = 0;  // of all messages
  double duplicated = 0;
  double reordered = 0;  // held back for up to `held_back`
  Nanos held_back = std::chrono::milliseconds(20);
};

class Network {
 public:
  Network(Events& events, int hosts, Nanos one_way, std::uint64_t seed)
      : events_(events),
        one_way_(one_way),
        chance_(seed),
        links_(2 * static_cast<std::size_t>(hosts)),
        cut_(hosts, false) {}

  void set_faults(const Faults& faults) { faults_ = faults; }
  // From now on nothing of this host gets through, nor what is under way.
  void Cut(int host, bool is_cut) { cut_[host] = is_cut; }

  // Calls `arrive` when and if the message arrives.
  void ToAuthority(int host, const std::function<void()>& arrive) { Send(2 * host, host, arrive); }
  void ToHost(int host, const std::function<void()>& arrive) { Send(2 * host + 1, host, arrive); }

  [[nodiscard]] Nanos one_way() const { return one_way_; }

 private:
  struct Link {
    std::uint64_t sent = 0;
    Instant last_arrival{};
    authority::Once received;
  };

  void Send(int link, int host, const std::function<void()>& arrive) {
    const std::uint64_t number = ++links_[link].sent;
    const int copies = chance_.Happens(faults_.duplicated) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      if (chance_.Happens(faults_.lost)) continue;
      events_.At(ArrivalOn(links_[link]), [this, link, host, number, arrive] {
        if (!cut_[host] && links_[link].received.LetsThrough(number)) arrive();
      });
    }
  }

  // A connection keeps the order of what is sent on it, unless it is told not to.
  Instant ArrivalOn(Link& link) {
    const Instant arrival = events_.now() + Delay();
    if (chance_.Happens(faults_.reordered)) {
      const auto most = static_cast<std::uint64_t>(faults_.held_back.count());
      return arrival + Nanos(static_cast<std::int64_t>(chance_.Below(most)));
    }
    link.last_arrival = std::max(link.last_arrival, arrival);
    return link.last_arrival;
  }

  // Half to one and a half of the usual time.
  Nanos Delay() {
    return Nanos(
        static_cast<std::int64_t>(static_cast<double>(one_way_.count()) * (0.5 + chance_.Unit())));
  }

  Events& events_;
  Nanos one_way_;
  Chance chance_;
  Faults faults_;
  std::vector<Link> links_;
  std::vector<bool> cut_;
};

}  // namespace weir::sim
