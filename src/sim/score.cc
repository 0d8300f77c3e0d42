#include "sim/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace weir::sim {
namespace {

// Fewer requests than this say nothing about fairness.
constexpr double kFewOffered = 20;

double Jain(const std::vector<double>& offered, const std::vector<double>& admitted) {
  double sum = 0;
  double squares = 0;
  int hosts = 0;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    if (offered[i] <= kFewOffered) continue;
    const double part = admitted[i] / offered[i];
    sum += part;
    squares += part * part;
    ++hosts;
  }
  return squares == 0 ? 1 : sum * sum / (hosts * squares);
}

// Collects the decisions of a run.
class Judge {
 public:
  Judge(const Setting& setting, const std::vector<Arrival>& arrivals, Events& events)
      : setting_(setting),
        arrivals_(arrivals),
        events_(events),
        admitted_by_(setting.hosts),
        shadow_(setting.rate(), setting.burst()) {}

  void Decided(RequestId id, bool is_admitted) {
    const Arrival& arrival = arrivals_[id];
    ++decided_;
    const auto delay = std::chrono::duration<double, std::micro>(events_.now() - arrival.at);
    if (delay.count() > 0) delays_.push_back(delay.count());
    if (!is_admitted) return;
    Window(arrival.at).admitted += 1;
    admitted_by_[arrival.host] += 1;
    // May go below zero, as far as it has to.
    shadow_.Pass(events_.now());
    shadow_.tokens -= 1;
    lowest_ = std::min(lowest_, shadow_.tokens);
  }

  Score Finish(std::uint64_t records) {
    WEIR_CHECK(decided_ == arrivals_.size());
    std::vector<double> offered(admitted_by_.size());
    Bucket oracle(setting_.rate(), setting_.burst());
    for (const Arrival& arrival : arrivals_) {
      offered[arrival.host] += 1;
      if (oracle.Take(arrival.at)) Window(arrival.at).right += 1;
    }
    double right = 0;
    double admitted = 0;
    double wrong = 0;
    for (const Counts& window : windows_) {
      right += window.right;
      admitted += window.admitted;
      wrong += std::abs(window.right - window.admitted);
    }
    Score score;
    score.admitted = admitted / right;
    score.error = wrong / right;
    score.over_burst = -lowest_ / setting_.burst();
    score.fairness = Jain(offered, admitted_by_);
    score.records =
        static_cast<double>(records) / std::chrono::duration<double>(setting_.duration).count();
    score.mean_delay = std::accumulate(delays_.begin(), delays_.end(), 0.0) /
                       static_cast<double>(arrivals_.size());
    score.p99_delay = Percentile99();
    return score;
  }

 private:
  struct Counts {
    double right = 0;
    double admitted = 0;
  };

  Counts& Window(Instant at) {
    const double t = std::chrono::duration<double>(at.time_since_epoch()).count();
    const auto index = static_cast<std::size_t>(t / setting_.window());
    if (index >= windows_.size()) windows_.resize(index + 1);
    return windows_[index];
  }

  // Of all decisions; those that took no time were not written down.
  double Percentile99() {
    const std::size_t slower = arrivals_.size() / 100;
    if (delays_.size() <= slower) return 0;
    const auto nth = delays_.begin() + static_cast<std::ptrdiff_t>(delays_.size() - 1 - slower);
    std::nth_element(delays_.begin(), nth, delays_.end());
    return *nth;
  }

  const Setting& setting_;
  const std::vector<Arrival>& arrivals_;
  Events& events_;
  std::vector<double> admitted_by_;
  std::vector<double> delays_;
  std::vector<Counts> windows_;
  Bucket shadow_;
  double lowest_ = 0;
  std::size_t decided_ = 0;
};

}  // namespace

Score Measure(const Setting& setting, const std::vector<Arrival>& arrivals,
              const MakeMethod& make) {
  Events events;
  Judge judge(setting, arrivals, events);
  const std::unique_ptr<Method> method =
      make(events, [&](RequestId id, bool is_admitted) { judge.Decided(id, is_admitted); });
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    events.RunUntil(arrivals[i].at);
    method->Arrive(i, arrivals[i].host);
  }
  const std::uint64_t records = method->records();
  events.RunUntil(events.now() + std::chrono::seconds(1));  // for those who wait still
  return judge.Finish(records);
}

}  // namespace weir::sim
