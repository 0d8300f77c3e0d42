// A whole check: match, keys, limits, reply. 100 rules as a shop might have them, a million users.
#include <memory>
#include <random>
#include <string>

#include "bench/measure.h"
#include "rule/rule_file.h"
#include "service/checker.h"

namespace weir::bench {
namespace {

constexpr std::size_t kRequests = 1 << 16;

std::string TextOfRules() {
  std::string text = "namespace: shop\nrules:\n";
  for (int i = 0; i < 97; ++i) {
    text += "  - {name: svc-" + std::to_string(i) + ", match: {path: '/svc-" + std::to_string(i) +
            "/**'}, by: [user], limit: 1000000/s burst 1000000}\n";
  }
  text +=
      "  - {name: login, match: {path: /login, method: POST}, by: [ip], "
      "limit: sliding_window 1000000/min, exceed: ban 10m}\n"
      "  - {name: api, match: {path: '/api/**'}, by: [user], "
      "limits: [1000000/s burst 2000000, 5000000/h]}\n"
      "  - {name: api-per-ip, match: {path: '/api/**'}, by: [ip], limit: 1000000/s}\n";
  return text;
}

struct Request {
  std::string path;
  std::string user;
  std::string ip;
};

std::vector<Request> RequestsFor(const char* path, bool numbered) {
  std::mt19937_64 random(7);
  std::vector<Request> requests(kRequests);
  for (Request& request : requests) {
    request.path = path;
    if (numbered) request.path += std::to_string(random() % 97) + "/cart";
    request.user = "user-" + std::to_string(random() % 1'000'000);
    request.ip = "10." + std::to_string(random() % 256) + "." + std::to_string(random() % 256) +
                 "." + std::to_string(random() % 256);
  }
  return requests;
}

int Run() {
  Checker checker(std::move(Ledger::Open({.max_keys = 10'000'000})).value(), {});
  rule::Problems problems;
  auto set = rule::ReadRules(TextOfRules(), "rules.yaml", problems);
  if (!set || !checker.Publish({std::move(*set)}, "bench").empty()) {
    for (const auto& problem : problems) std::fprintf(stderr, "%s\n", problem.ToString().c_str());
    return 1;
  }
  const std::vector<Request> none = RequestsFor("/static/logo.png", false);
  const std::vector<Request> one = RequestsFor("/svc-", true);
  const std::vector<Request> ban = RequestsFor("/login", false);
  const std::vector<Request> three = RequestsFor("/api/cart", false);
  std::uint64_t allowed = 0;
  const auto run = [&](const std::vector<Request>& requests) {
    return [&](int /*thread*/) {
      CheckReply reply;
      for (const Request& request : requests) {
        const rule::Attribute attributes[] = {
            {"path", request.path}, {"method", "POST"}, {"user", request.user}, {"ip", request.ip}};
        checker.Check({"shop", attributes}, checker.Now(), reply);
        allowed += reply.allowed() ? 1 : 0;
      }
    };
  };
  const std::vector<Contestant> contestants = {{"no rule matches", run(none)},
                                               {"one rule, one limit", run(one)},
                                               {"one rule that bans", run(ban)},
                                               {"two rules, three limits", run(three)}};
  std::printf("a check against 100 rules, clock included, one thread; ns per check\n");
  const std::vector<Spread> spreads = Compete(contestants, 1, kRequests, 9);
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    std::printf("  %-26s %6.0f (%.0f to %.0f)\n", contestants[i].name.c_str(), spreads[i].median,
                spreads[i].least, spreads[i].most);
  }
  return allowed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace weir::bench

int main() { return weir::bench::Run(); }
