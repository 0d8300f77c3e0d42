#include "sim/rivals.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/network.h"

namespace weir::sim {
namespace {

constexpr Nanos kInterval = std::chrono::milliseconds(100);

// What all of them need.
class Rival : public Method {
 public:
  Rival(const RivalOptions& options, Events& events, OnDecided on_decided)
      : options_(options),
        events_(events),
        on_decided_(std::move(on_decided)),
        network_(events, options.hosts, options.one_way, options.seed),
        chance_(options.seed + 1) {}

  [[nodiscard]] std::uint64_t records() const override { return records_; }

 protected:
  // Calls `tick(host)` every interval; hosts begin at different times.
  template <typename Tick>
  void EveryInterval(Tick tick) {
    for (int host = 0; host < options_.hosts; ++host) {
      const Nanos first(
          static_cast<std::int64_t>(chance_.Below(static_cast<std::uint64_t>(kInterval.count()))));
      events_.In(first, [this, tick, host] { Repeat(tick, host); });
    }
  }

  // What was asked for lately, per second, smoothed over a few intervals.
  static void Smooth(double asked, double& rate) {
    constexpr double kWeight = 0.2;
    rate += kWeight * (asked / std::chrono::duration<double>(kInterval).count() - rate);
  }

  void ToAuthority(int host, const std::function<void()>& arrive) {
    ++records_;
    network_.ToAuthority(host, arrive);
  }
  void ToHost(int host, const std::function<void()>& arrive) {
    ++records_;
    network_.ToHost(host, arrive);
  }
  void Decide(RequestId id, bool is_admitted) { on_decided_(id, is_admitted); }

  [[nodiscard]] Instant now() const { return events_.now(); }
  [[nodiscard]] double hosts() const { return options_.hosts; }
  [[nodiscard]] Bucket Whole() const { return {options_.rate, options_.burst}; }
  // The n-th part, but at least one permit.
  [[nodiscard]] Bucket Part() const {
    return {options_.rate / hosts(), std::max(1.0, options_.burst / hosts())};
  }

  RivalOptions options_;
  Events& events_;

 private:
  template <typename Tick>
  void Repeat(Tick tick, int host) {
    tick(host);
    events_.In(kInterval, [this, tick, host] { Repeat(tick, host); });
  }

  OnDecided on_decided_;
  Network network_;
  Chance chance_;
  std::uint64_t records_ = 0;
};

class StaticSplitMethod final : public Rival {
 public:
  StaticSplitMethod(const RivalOptions& options, Events& events, OnDecided on_decided)
      : Rival(options, events, std::move(on_decided)), parts_(options.hosts, Part()) {}

  void Arrive(RequestId id, int host) override { Decide(id, parts_[host].Take(now())); }

 private:
  std::vector<Bucket> parts_;
};

class CentralStrictMethod final : public Rival {
 public:
  CentralStrictMethod(const RivalOptions& options, Events& events, OnDecided on_decided)
      : Rival(options, events, std::move(on_decided)), center_(Whole()) {}

  void Arrive(RequestId id, int host) override {
    ToAuthority(host, [this, id, host] {
      const bool is_admitted = center_.Take(now());
      ToHost(host, [this, id, is_admitted] { Decide(id, is_admitted); });
    });
  }

 private:
  Bucket center_;
};

class BroadcastMethod final : public Rival {
 public:
  BroadcastMethod(const RivalOptions& options, Events& events, OnDecided on_decided)
      : Rival(options, events, std::move(on_decided)),
        buckets_(options.hosts, Whole()),
        untold_(options.hosts) {
    EveryInterval([this](int host) { Tell(host); });
  }

  void Arrive(RequestId id, int host) override {
    const bool is_admitted = buckets_[host].Take(now());
    if (is_admitted) untold_[host] += 1;
    Decide(id, is_admitted);
  }

 private:
  void Tell(int host) {
    const double used = std::exchange(untold_[host], 0);
    if (used == 0) return;
    for (int other = 0; other < options_.hosts; ++other) {
      if (other == host) continue;
      ToHost(other, [this, other, used] {
        buckets_[other].Pass(now());
        buckets_[other].tokens -= used;
      });
    }
  }

  std::vector<Bucket> buckets_;
  std::vector<double> untold_;
};

class PlainWriteBackMethod final : public Rival {
 public:
  PlainWriteBackMethod(const RivalOptions& options, Events& events, OnDecided on_decided)
      : Rival(options, events, std::move(on_decided)),
        center_(Whole()),
        copies_(options.hosts, Copy{Whole()}) {
    EveryInterval([this](int host) { Exchange(host); });
  }

  void Arrive(RequestId id, int host) override {
    Copy& copy = copies_[host];
    copy.was_asked = true;
    const bool is_admitted = copy.bucket.Take(now());
    if (is_admitted) copy.untold += 1;
    Decide(id, is_admitted);
  }

 private:
  struct Copy {
    Bucket bucket;
    double untold = 0;
    bool was_asked = false;
  };

  void Exchange(int host) {
    if (!std::exchange(copies_[host].was_asked, false)) return;
    const double used = std::exchange(copies_[host].untold, 0);
    ToAuthority(host, [this, host, used] {
      center_.Pass(now());
      center_.tokens -= used;
      const double level = center_.tokens;
      ToHost(host, [this, host, level] {
        copies_[host].bucket.tokens = level - copies_[host].untold;
        copies_[host].bucket.at = now();
      });
    });
  }

  Bucket center_;
  std::vector<Copy> copies_;
};

class RateSharesMethod final : public Rival {
 public:
  RateSharesMethod(const RivalOptions& options, Events& events, OnDecided on_decided)
      : Rival(options, events, std::move(on_decided)),
        shares_(options.hosts, Share{Part()}),
        demands_(options.hosts) {
    EveryInterval([this](int host) { Report(host); });
  }

  void Arrive(RequestId id, int host) override {
    shares_[host].asked += 1;
    Decide(id, shares_[host].bucket.Take(now()));
  }

 private:
  struct Share {
    Bucket bucket;
    double asked = 0;
    double demand = 0;
  };

  void Report(int host) {
    Share& share = shares_[host];
    Smooth(std::exchange(share.asked, 0), share.demand);
    ToAuthority(host, [this, host, demand = share.demand] {
      demands_[host] = demand;
      double all = 0;
      for (const double one : demands_) all += one;
      const double rate = all > options_.rate ? options_.rate * demand / all
                                              : demand + (options_.rate - all) / hosts();
      ToHost(host, [this, host, rate] {
        Bucket& bucket = shares_[host].bucket;
        bucket.Pass(now());
        bucket.rate = rate;
        bucket.burst = std::max(1.0, options_.burst * rate / options_.rate);
        bucket.tokens = std::min(bucket.tokens, bucket.burst);
      });
    });
  }

  std::vector<Share> shares_;
  std::vector<double> demands_;  // as the center knows them
};

class QuotaChunksMethod final : public Rival {
 public:
  QuotaChunksMethod(const RivalOptions& options, Events& events, OnDecided on_decided)
      : Rival(Slow(options), events, std::move(on_decided)),
        store_(Whole()),
        chunk_(std::max(1.0, std::floor(options.burst / (4 * hosts())))),
        hosts_(options.hosts) {}

  void Arrive(RequestId id, int host) override {
    Held& held = hosts_[host];
    const bool is_admitted = held.permits >= 1;
    if (is_admitted) held.permits -= 1;
    Decide(id, is_admitted);
    if (held.permits <= 0.2 * chunk_ && !held.has_asked && now() >= held.not_before) Fetch(host);
  }

 private:
  struct Held {
    double permits = 0;
    bool has_asked = false;
    Instant not_before{};
  };
  static constexpr Nanos kPause = std::chrono::milliseconds(20);  // after an empty answer

  static RivalOptions Slow(RivalOptions options) {
    options.one_way = std::chrono::milliseconds(3);
    return options;
  }

  void Fetch(int host) {
    hosts_[host].has_asked = true;
    ToAuthority(host, [this, host] {
      store_.Pass(now());
      const double chunk = std::max(0.0, std::min(chunk_, std::floor(store_.tokens)));
      store_.tokens -= chunk;
      ToHost(host, [this, host, chunk] {
        Held& held = hosts_[host];
        held.has_asked = false;
        held.permits += chunk;
        if (chunk == 0) held.not_before = now() + kPause;
      });
    });
  }

  Bucket store_;
  double chunk_;
  std::vector<Held> hosts_;
};

}  // namespace

std::unique_ptr<Method> StaticSplit(const RivalOptions& options, Events& events, OnDecided tell) {
  return std::make_unique<StaticSplitMethod>(options, events, std::move(tell));
}
std::unique_ptr<Method> CentralStrict(const RivalOptions& options, Events& events, OnDecided tell) {
  return std::make_unique<CentralStrictMethod>(options, events, std::move(tell));
}
std::unique_ptr<Method> Broadcast(const RivalOptions& options, Events& events, OnDecided tell) {
  return std::make_unique<BroadcastMethod>(options, events, std::move(tell));
}
std::unique_ptr<Method> PlainWriteBack(const RivalOptions& options, Events& events,
                                       OnDecided tell) {
  return std::make_unique<PlainWriteBackMethod>(options, events, std::move(tell));
}
std::unique_ptr<Method> RateShares(const RivalOptions& options, Events& events, OnDecided tell) {
  return std::make_unique<RateSharesMethod>(options, events, std::move(tell));
}
std::unique_ptr<Method> QuotaChunks(const RivalOptions& options, Events& events, OnDecided tell) {
  return std::make_unique<QuotaChunksMethod>(options, events, std::move(tell));
}

}  // namespace weir::sim
