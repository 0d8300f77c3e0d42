#include "sim/score_card.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "authority/host_key.h"
#include "base/check.h"
#include "sim/cluster.h"
#include "sim/rivals.h"

namespace weir::sim {
namespace {

using authority::Mode;

constexpr Nanos kOneWay = std::chrono::microseconds(500);

using MakeRival = std::unique_ptr<Method> (*)(const RivalOptions&, Events&, OnDecided);

struct Entry {
  Contestant contestant;
  Mode mode;        // of ours
  MakeRival rival;  // null for ours
};

const std::vector<Entry>& Entries() {
  static const std::vector<Entry> kEntries = {
      {{"strict", true}, Mode::kStrict, nullptr},
      {{"lease", true}, Mode::kLease, nullptr},
      {{"write_back", true}, Mode::kWriteBack, nullptr},
      {{"static split", false}, {}, &StaticSplit},
      {{"central strict", false}, {}, &CentralStrict},
      {{"broadcast", false}, {}, &Broadcast},
      {{"plain write-back", false}, {}, &PlainWriteBack},
      {{"rate shares", false}, {}, &RateShares},
      {{"quota chunks", false}, {}, &QuotaChunks},
  };
  return kEntries;
}

}  // namespace

const std::vector<Contestant>& Contestants() {
  static const std::vector<Contestant> kContestants = [] {
    std::vector<Contestant> all;
    for (const Entry& entry : Entries()) all.push_back(entry.contestant);
    return all;
  }();
  return kContestants;
}

Score Compete(std::string_view name, const Setting& setting, const std::vector<Arrival>& arrivals,
              std::uint64_t seed) {
  const auto found = std::find_if(Entries().begin(), Entries().end(),
                                  [name](const Entry& one) { return one.contestant.name == name; });
  WEIR_CHECK(found != Entries().end());
  const Entry& entry = *found;
  return Measure(setting, arrivals, [&](Events& events, OnDecided tell) -> std::unique_ptr<Method> {
    if (entry.rival != nullptr) {
      const RivalOptions options{setting.hosts, setting.rate(), setting.burst(), kOneWay, seed};
      return entry.rival(options, events, std::move(tell));
    }
    ClusterOptions options;
    options.hosts = setting.hosts;
    options.policy.terms = authority::Terms::Of(setting.quota).value();
    options.policy.mode = entry.mode;
    options.one_way = kOneWay;
    options.seed = seed;
    return std::make_unique<Cluster>(events, options, std::move(tell));
  });
}

}  // namespace weir::sim
