#include "sim/scenario.h"

#include <cmath>
#include <limits>

#include "sim/chance.h"

namespace weir::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Requests per second at a moment, and when that changes next.
struct Pace {
  double rate;
  double until;
};

Pace PaceAt(const Setting& setting, Load load, double t) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double limit = setting.rate();
  const double window = setting.window();
  const double end = std::chrono::duration<double>(setting.duration).count();
  switch (load) {
    case Load::kOver:
      return {2 * limit, kNever};
    case Load::kUnder:
      return {0.9 * limit, kNever};
    case Load::kOnOff: {
      const double cycle = std::floor(t / (3 * window) + 1e-9) * 3 * window;
      const double on = cycle + 2.5 * window;
      return t < on - 1e-9 ? Pace{0.2 * limit, on} : Pace{10 * limit, cycle + 3 * window};
    }
    case Load::kFlash:
      if (t < end / 3 - 1e-9) return {0.5 * limit, end / 3};
      if (t < end * 2 / 3 - 1e-9) return {10 * limit, end * 2 / 3};
      return {0.5 * limit, kNever};
    case Load::kShift: {
      const double turn = std::floor(t / (2 * window) + 1e-9);
      return {1.5 * limit, (turn + 1) * 2 * window};
    }
  }
  return {limit, kNever};
}

// Chooses hosts as an uneven load balancer does: the i-th gets 1/i of what the first gets.
class Balancer {
 public:
  explicit Balancer(const Setting& setting) : window_(setting.window()) {
    double sum = 0;
    for (int i = 1; i <= setting.hosts; ++i) up_to_.push_back(sum += 1.0 / i);
    for (double& weight : up_to_) weight /= sum;
  }

  int Choose(Load load, double t, Chance& chance) const {
    const int hosts = static_cast<int>(up_to_.size());
    if (load == Load::kShift) {
      const int hot = static_cast<int>(t / (2 * window_)) * 7 % hosts;
      if (chance.Unit() < 0.9) return hot;
      const int other = static_cast<int>(chance.Below(static_cast<std::uint64_t>(hosts - 1)));
      return other < hot ? other : other + 1;
    }
    const double point = chance.Unit();
    int host = 0;
    while (host + 1 < hosts && up_to_[host] <= point) ++host;
    return host;
  }

 private:
  double window_;
  std::vector<double> up_to_;  // weights, summed up
};

}  // namespace

const std::vector<Setting>& Settings() {
  static const std::vector<Setting> kSettings = {
      {"3x4/s", 3, Quota::PerSecond(4), minutes(10)},
      {"10x100/s", 10, Quota::PerSecond(100), minutes(1)},
      {"50x100k/s", 50, Quota::PerSecond(100'000), seconds(6)},
      {"50x10/min", 50, Quota::PerMinute(10), minutes(20)},
  };
  return kSettings;
}

const std::vector<Load>& Loads() {
  static const std::vector<Load> kLoads = {Load::kOver, Load::kUnder, Load::kOnOff, Load::kFlash,
                                           Load::kShift};
  return kLoads;
}

std::string_view NameOf(Load load) {
  switch (load) {
    case Load::kOver:
      return "over";
    case Load::kUnder:
      return "under";
    case Load::kOnOff:
      return "on-off";
    case Load::kFlash:
      return "flash";
    case Load::kShift:
      return "shift";
  }
  return "";
}

std::vector<Arrival> ArrivalsOf(const Setting& setting, Load load, std::uint64_t seed) {
  Chance chance(seed);
  const Balancer balancer(setting);
  const double end = std::chrono::duration<double>(setting.duration).count();
  std::vector<Arrival> arrivals;
  double t = 0;
  while (true) {
    // The next request comes when as many as `rest` would have come on average.
    double rest = chance.Exponential();
    Pace pace = PaceAt(setting, load, t);
    while (rest > pace.rate * (pace.until - t)) {
      rest -= pace.rate * (pace.until - t);
      t = pace.until;
      pace = PaceAt(setting, load, t);
    }
    t += rest / pace.rate;
    if (t >= end) return arrivals;
    arrivals.push_back(
        {Instant(Nanos(static_cast<std::int64_t>(t * 1e9))), balancer.Choose(load, t, chance)});
  }
}

}  // namespace weir::sim
