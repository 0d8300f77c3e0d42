// Decisions while 10,000 rules are replaced, again and again: does anyone have to wait?
//
// One thread decides all the time, on one core, and notes how long each decision took; on the other
// core the same rules with other limits are read from their text, compiled and published, as the
// retriever does. Before and after, it decides alone: what is slow then is the machine.
#include <sys/resource.h>

#include <atomic>
#include <memory>
#include <string>

#include "bench/measure.h"
#include "rule/rule_file.h"
#include "service/checker.h"

namespace weir::bench {
namespace {

constexpr int kRules = 10'000;
constexpr double kPhaseSeconds = 4;
constexpr double kMostMilliseconds = 1;

std::string TextOfRules(int limit) {
  std::string text = "namespace: shop\nrules:\n";
  for (int i = 0; i < kRules; ++i) {
    text += "  - {name: rule-" + std::to_string(i) + ", match: {path: '/svc-" + std::to_string(i) +
            "/**'}, by: [user], limit: " + std::to_string(limit) + "/s}\n";
  }
  return text;
}

// Returns how long it took, in milliseconds.
double Reload(Checker& checker, const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  rule::Problems problems;
  auto set = rule::ReadRules(text, "rules.yaml", problems);
  if (!set || !checker.Publish({std::move(*set)}, "bench").empty()) {
    std::fprintf(stderr, "the rules of this benchmark are wrong\n");
    std::exit(1);
  }
  return SecondsSince(start) * 1e3;
}

struct Phase {
  std::vector<float> nanos;  // of each decision
  int slow = 0;              // decisions of more than a millisecond
  int preempted = 0;         // of these, those in which the system gave the core to somebody else
};

long Preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

Phase Decide(Checker& checker, double seconds) {
  Phase phase;
  phase.nanos.reserve(40'000'000);
  CheckReply reply;
  const auto start = std::chrono::steady_clock::now();
  auto before = start;
  long preemptions = Preemptions();
  for (std::uint64_t i = 0; std::chrono::duration<double>(before - start).count() < seconds; ++i) {
    const std::string path = "/svc-" + std::to_string(i * 7919 % kRules) + "/cart";
    const std::string user = std::to_string(i % 1000);
    const rule::Attribute attributes[] = {{"path", path}, {"user", user}};
    const auto begin = std::chrono::steady_clock::now();
    checker.Check({"shop", attributes}, checker.Now(), reply);
    before = std::chrono::steady_clock::now();
    const auto nanos = static_cast<float>((before - begin).count());
    phase.nanos.push_back(nanos);
    if (nanos < kMostMilliseconds * 1e6F) continue;
    ++phase.slow;
    const long now = Preemptions();
    if (now > preemptions) ++phase.preempted;
    preemptions = now;
  }
  return phase;
}

void Print(const char* name, Phase& phase) {
  std::sort(phase.nanos.begin(), phase.nanos.end());
  const auto at = [&](double part) {
    const auto i = static_cast<double>(phase.nanos.size() - 1) * part;
    return phase.nanos[static_cast<std::size_t>(i)];
  };
  std::printf(
      "  %-18s %9zu decisions, median %5.0f ns, 99%% %6.0f ns, 99.99%% %7.1f us, "
      "longest %8.1f us\n",
      name, phase.nanos.size(), at(0.5), at(0.99), at(0.9999) / 1e3, at(1) / 1e3);
  std::printf("  %-18s %9d over 1 ms, of them %d preempted by the system\n", "", phase.slow,
              phase.preempted);
}

void Pin(unsigned core) {
  cpu_set_t cpu;
  CPU_ZERO(&cpu);
  CPU_SET(core % std::thread::hardware_concurrency(), &cpu);
  sched_setaffinity(0, sizeof cpu, &cpu);
}

int Run() {
  Checker checker(std::move(Ledger::Open({.max_keys = 20'000'000})).value(), {});
  const std::string texts[] = {TextOfRules(100), TextOfRules(200)};
  std::vector<double> reloads = {Reload(checker, texts[0])};
  std::printf("%d rules, decided on one core while they are replaced on the other\n", kRules);

  Phase alone;
  Phase disturbed;
  Phase after;
  std::thread decider([&] {
    Pin(0);
    Decide(checker, 1);  // warms up
    alone = Decide(checker, kPhaseSeconds);
    std::atomic<bool> over{false};
    std::thread reloader([&] {
      Pin(1);
      for (std::size_t i = 1; !over; ++i) reloads.push_back(Reload(checker, texts[i % 2]));
    });
    disturbed = Decide(checker, kPhaseSeconds);
    over = true;
    reloader.join();
    after = Decide(checker, kPhaseSeconds);
  });
  decider.join();

  Print("alone", alone);
  Print("while reloading", disturbed);
  Print("alone again", after);
  const Spread reload = SpreadOf(reloads);
  std::printf("  %zu reloads, %.0f ms each (%.0f to %.0f)\n", reloads.size(), reload.median,
              reload.least, reload.most);
  Report("decisions over 1 ms while reloading, not preempted", disturbed.slow - disturbed.preempted,
         0, false);
  return 0;
}

}  // namespace
}  // namespace weir::bench

int main() { return weir::bench::Run(); }
