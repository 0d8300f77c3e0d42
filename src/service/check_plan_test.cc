// A check by its plan takes fewer steps than one that asks every rule. What is said must not tell.
#include "service/check_plan.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rule/rule_file.h"
#include "service/checker.h"

namespace weir {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kNoon{seconds(1'780'315'200)};

// Rules of every kind, so that some requests have a short plan and others do not.
constexpr const char* kRules = R"(
namespace: shop
rules:
- {name: office, match: {ip: 192.0.2.0/24}, allow: true}
- {name: api, match: {path: "/api/**"}, by: [ip], limit: 20/s}
- {name: odd, match: {path: "/api/*/odd"}, by: [user], limit: 7/s burst 3}
- name: keys
  match: {path: "/api/**"}
  by: [user]
  limits: [10/s burst 20, 300/min]
  overrides:
    - {when: {user: [ann, bob]}, limits: [30/s, 900/min]}
    - {when: {plan: gold}, limit: 40/s}
    - {when: {plan: tin}, limit: unlimited}
    - {when: {plan: none}, limit: blocked}
- {name: login, match: {path: /login, method: POST}, by: [ip], limit: sliding_window 5/s, exceed: ban 2s}
- {name: signup, match: {path: /signup}, by: [ip], limit: 5/s, tiers: [{v4: 24, v6: 48, limit: 8/s}]}
- {name: both, match: {path: /both}, by: [[ip], [user], [ip, user]], limit: 6/s}
- {name: slow, match: {path: /slow}, by: [user], limit: 5/s, exceed: delay 500ms}
- {name: shadow, match: {path: "/shadow/**"}, by: [user], limit: 3/s, mode: shadow}
- {name: log, match: {path: /log}, by: [user], limit: sliding_log 5/s}
- {name: envoy, match: {path: /denied}, by: [user], limit: fixed_window 5/s count_denied}
- {name: dear, match: {path: /dear}, by: [user], limit: 10/s, cost: {header: x-cost, default: 2}}
- {name: two, match: {path: /two}, by: [user], limit: 10/s, cost: 2}
- {name: old, match: {path: {regex: "/old/[0-9]+"}}, by: [user], limit: 3/s}
- {name: soft, match: {path: /soft}, by: [user], limit: 5/s soft 50%}
- {name: queue, match: {path: /queue}, by: [user], limit: leaky_bucket 5/s queue 4 free 2}
- {name: gone, match: {path: /gone}, by: [user], limit: 1/h, expires: "2026-06-01T12:00:05Z"}
- {name: everybody, limit: 400/s}
)";

// Never matches, and takes more than reading: where it is there, no class can be told, and every
// check asks every rule.
constexpr const char* kNoPlans = "- {name: z, match: {path: {regex: '.*#'}}, limit: 1/s}\n";

std::unique_ptr<Checker> MakeChecker(const std::string& rules) {
  auto checker = std::make_unique<Checker>(std::move(Ledger::Open({.max_keys = 20'000})).value(),
                                           CheckerOptions{});
  rule::Problems problems;
  auto set = rule::ReadRules(rules, "test.yaml", problems);
  for (const auto& problem : problems) ADD_FAILURE() << problem.ToString();
  EXPECT_TRUE(checker->Publish({std::move(set).value()}, "test").empty());
  return checker;
}

void ExpectSame(const CheckReply& one, const CheckReply& other, const std::string& what) {
  ASSERT_EQ(one.allowed(), other.allowed()) << what;
  ASSERT_EQ(one.wait(), other.wait()) << what;
  ASSERT_EQ(one.findings().size(), other.findings().size()) << what;
  const auto same = [&](const Finding& a, const Finding& b) {
    ASSERT_EQ(a.rule->rule->name, b.rule->rule->name) << what;
    ASSERT_EQ(a.limit == nullptr, b.limit == nullptr) << what;
    if (a.limit != nullptr) {
      ASSERT_EQ(a.limit->ToString(), b.limit->ToString()) << what;
    }
    ASSERT_EQ(a.why, b.why) << what;
    ASSERT_EQ(a.enforced, b.enforced) << what;
    ASSERT_EQ(a.decision.verdict, b.decision.verdict) << what;
    ASSERT_EQ(a.decision.grace, b.decision.grace) << what;
    ASSERT_EQ(a.decision.remaining, b.decision.remaining) << what;
    ASSERT_EQ(a.decision.wait, b.decision.wait) << what;
    ASSERT_EQ(a.decision.retry_after, b.decision.retry_after) << what;
    ASSERT_EQ(a.decision.reset_after, b.decision.reset_after) << what;
  };
  for (std::size_t i = 0; i < one.findings().size(); ++i) {
    same(one.findings()[i], other.findings()[i]);
  }
  ASSERT_EQ(one.decisive() == nullptr, other.decisive() == nullptr) << what;
  if (one.decisive() == nullptr) return;
  same(*one.decisive(), *other.decisive());
  ASSERT_EQ(one.remaining(), other.remaining()) << what;
}

class Traffic {
 public:
  struct Request {
    std::string path;
    std::string method;
    std::string ip;
    std::string user;
    std::string plan;
    [[nodiscard]] std::string ToString() const {
      return method + " " + path + " " + ip + " " + user + " " + plan;
    }
    [[nodiscard]] std::vector<rule::Attribute> Attributes() const {
      std::vector<rule::Attribute> attributes = {{"path", path}, {"method", method}};
      if (!ip.empty()) attributes.push_back({"ip", ip});
      if (!user.empty()) attributes.push_back({"user", user});
      if (!plan.empty()) attributes.push_back({"plan", plan});
      return attributes;
    }
  };
  Request Next() {
    const char* const kPaths[] = {"/api/v1/odd", "/api/v1/#", "/login", "/signup",  "/both",
                                  "/slow",       "/log",      "/dear",  "/denied",  "/two",
                                  "/never",      "/old/#",    "/soft",  "/queue",   "/gone",
                                  "/shadow/a",   "/other/#",  "/api/",  "/api/#/#", "/old/x"};
    Request request{Pick(kPaths), random_() % 3 == 0 ? "POST" : "GET", "", "", ""};
    for (std::size_t at = 0; (at = request.path.find('#')) != std::string::npos;) {
      request.path.replace(at, 1, std::to_string(random_() % 1000));
    }
    const char* const kIps[] = {"", "10.0.0.1", "10.0.0.2", "192.0.2.1", "2001:db8::1", "nobody"};
    const char* const kUsers[] = {"", "ann", "bob", "cat", "dan", "a name of more than sixteen"};
    const char* const kPlans[] = {"", "", "", "gold", "tin", "none", "iron"};
    request.ip = Pick(kIps);
    request.user = Pick(kUsers);
    request.plan = Pick(kPlans);
    return request;
  }
  std::uint32_t Below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

 private:
  template <std::size_t kCount>
  const char* Pick(const char* const (&from)[kCount]) {
    return from[random_() % kCount];
  }
  std::mt19937 random_{7};  // NOLINT(*-msc51-cpp): the same every time
};

TEST(CheckPlanTest, ACheckByItsPlanSaysWhatOneThatAsksEveryRuleSays) {
  const auto by_plan = MakeChecker(kRules);
  const auto by_rules = MakeChecker(std::string(kRules) + kNoPlans);
  CheckReply one;
  CheckReply other;
  Traffic traffic;
  Instant now = kNoon;
  int refused = 0;
  int findings = 0;
  for (int i = 0; i < 60'000; ++i) {
    now += milliseconds(traffic.Below(3));
    const Traffic::Request request = traffic.Next();
    const auto attributes = request.Attributes();
    by_plan->Check({"shop", attributes}, now, one);
    by_rules->Check({"shop", attributes}, now, other);
    ExpectSame(one, other, std::to_string(i) + ": " + request.ToString());
    if (testing::Test::HasFatalFailure()) return;
    if (!one.allowed()) ++refused;
    findings += static_cast<int>(one.findings().size());
  }
  EXPECT_GT(refused, 3'000);
  EXPECT_LT(refused, 50'000);
  EXPECT_GT(findings, 60'000);
}

// More of them than are remembered, in turns: most take the long way, and none that of another.
TEST(CheckPlanTest, ManyNamespacesInTurnsAreEachDecidedByTheirOwnRules) {
  constexpr int kSpaces = 200;
  Checker checker(std::move(Ledger::Open({.max_keys = 10'000})).value(), CheckerOptions{});
  rule::Problems problems;
  std::vector<rule::RuleSet> sets;
  for (int i = 0; i < kSpaces; ++i) {
    const std::string number = std::to_string(i);
    sets.push_back(rule::ReadRules("namespace: s" + number + "\nrules:\n- {name: r" + number +
                                       ", match: {path: '/" + number +
                                       "/**'}, limit: " + std::to_string(i + 1) + "/h}",
                                   "test.yaml", problems)
                       .value());
  }
  ASSERT_TRUE(checker.Publish(std::move(sets), "test").empty());
  CheckReply reply;
  for (int round = 0; round < 1'500; ++round) {
    for (const int i : {round % kSpaces, round * 7 % kSpaces, (round + 64) % kSpaces}) {
      const std::string space = "s" + std::to_string(i);
      const std::string path = "/" + std::to_string(i) + "/" + std::to_string(round);
      checker.Check({space, std::vector<rule::Attribute>{{"path", path}}}, kNoon, reply);
      ASSERT_EQ(reply.findings().size(), 1U) << space;
      ASSERT_EQ(reply.findings()[0].rule->rule->name, "r" + std::to_string(i));
    }
  }
}

}  // namespace
}  // namespace weir
