#include "frontend/metrics_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rule/rule_file.h"
#include "tests/prometheus_page.h"

namespace weir {
namespace {

using catalog::RetrieverStatus;
using std::chrono::seconds;
using testing::IsEmpty;

constexpr Instant kNoon{seconds(1'780'315'200)};

class MetricsPageTest : public testing::Test {
 protected:
  void Use(const std::string& rules, const std::string& space = "shop") {
    rule::Problems problems;
    auto set = rule::ReadRules("namespace: " + space + "\nrules:\n" + rules, "t.yaml", problems);
    for (const auto& problem : problems) ADD_FAILURE() << problem.ToString();
    ASSERT_THAT(checker_.Publish({std::move(set).value()}, "test"), IsEmpty());
  }
  [[nodiscard]] PrometheusPage Page() const {
    return PrometheusPage(MetricsPageText(sources_, kNoon));
  }

  Checker checker_{std::move(Ledger::Open({.max_keys = 10'000})).value(), {}};
  Traffic traffic_;
  MetricsSources sources_{.checker = &checker_, .traffic = &traffic_, .version = "1.2.3"};
  CheckReply reply_;
};

TEST_F(MetricsPageTest, SaysWhatBecameOfRequestsByNamespaceAndByRule) {
  Use("- {name: a, limit: 2/min}");
  for (int i = 0; i < 5; ++i) checker_.Check({"shop", {}}, kNoon, reply_);
  checker_.Check({"elsewhere", {}}, kNoon, reply_);
  const PrometheusPage page = Page();
  EXPECT_EQ(page["weir_requests_total{namespace=\"shop\",outcome=\"allowed\"}"], 2);
  EXPECT_EQ(page["weir_requests_total{namespace=\"shop\",outcome=\"denied\"}"], 3);
  EXPECT_EQ(page["weir_requests_total{namespace=\"shop\",outcome=\"unmatched\"}"], 0);
  EXPECT_EQ(page["weir_rule_requests_total{namespace=\"shop\",rule=\"a\",outcome=\"allowed\"}"], 2);
  EXPECT_EQ(page["weir_rule_requests_total{namespace=\"shop\",rule=\"a\",outcome=\"denied\"}"], 3);
  EXPECT_EQ(page["weir_unknown_namespace_requests_total"], 1);
  EXPECT_EQ(page["weir_rules{namespace=\"shop\"}"], 1);
  EXPECT_EQ(page["weir_build_info{version=\"1.2.3\"}"], 1);
  EXPECT_EQ(page.types().at("weir_rule_requests_total"), "counter");
  EXPECT_EQ(page.types().at("weir_read_duration_seconds"), "histogram");
}

TEST_F(MetricsPageTest, ARuleShowsWhatItCanComeToAndNothingElse) {
  Use("- {name: plain, limit: 2/min}\n"
      "- {name: watch, limit: 2/min, mode: shadow}\n"
      "- {name: some, limit: 2/min, exceed: ban 1m, enforce: 50%}\n"
      "- {name: slow, limit: 2/min, exceed: delay 1s, elastic: true}\n"
      "- {name: list, match: {path: /x}, allow: true}\n"
      "- {name: dead, limit: 2/min, mode: off}");
  const PrometheusPage page = Page();
  const auto shows = [&](const std::string& rule) {
    std::string outcomes;
    for (std::size_t i = 0; i < kRuleOutcomes; ++i) {
      const std::string outcome(NameOf(static_cast<RuleOutcome>(i)));
      if (page.Has("weir_rule_requests_total{namespace=\"shop\",rule=\"" + rule + "\",outcome=\"" +
                   outcome + "\"}")) {
        outcomes += outcome + " ";
      }
    }
    return outcomes;
  };
  EXPECT_EQ(shows("plain"), "allowed denied ");
  EXPECT_EQ(shows("watch"), "allowed shadow_denied ");
  EXPECT_EQ(shows("some"), "allowed shadow_denied denied banned ");
  EXPECT_EQ(shows("slow"), "allowed elastic delayed denied ");
  EXPECT_EQ(shows("list"), "allowed ");
  EXPECT_EQ(shows("dead"), "");
}

TEST_F(MetricsPageTest, WhatWasCountedStaysWhenTheRuleCanCountItNoMore) {
  Use("- {name: a, limit: 1/min, mode: shadow}");
  for (int i = 0; i < 3; ++i) checker_.Check({"shop", {}}, kNoon, reply_);
  Use("- {name: a, limit: 1/min}");
  EXPECT_EQ(
      Page()["weir_rule_requests_total{namespace=\"shop\",rule=\"a\",outcome=\"shadow_denied\"}"],
      2);
}

TEST_F(MetricsPageTest, HostileNamesStayInTheirLabels) {
  rule::RuleSet set;
  set.space = "sh\"op\n} 1\nforged 1\\";
  set.rules.emplace_back().name = "a\\\"}\n# TYPE x counter";
  ASSERT_THAT(checker_.Publish({set}, "test"), IsEmpty());
  const PrometheusPage page = Page();
  const std::string space = "namespace=\"sh\\\"op\\n} 1\\nforged 1\\\\\"";
  EXPECT_EQ(page["weir_rules{" + space + "}"], 1);
  EXPECT_EQ(page["weir_rule_requests_total{" + space +
                 ",rule=\"a\\\\\\\"}\\n# TYPE x counter\",outcome=\"allowed\"}"],
            0);
  EXPECT_FALSE(page.Has("forged"));
}

TEST_F(MetricsPageTest, AMillionClientsAddNoSeries) {
  Use("- {name: a, by: [user], limit: 1/min}");
  const std::size_t before = Page().values().size();
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string user = std::to_string(i);
    const rule::Attribute attributes[] = {{"user", user}};
    checker_.Check({i % 2 == 0 ? "shop" : user, attributes}, kNoon, reply_);
  }
  const PrometheusPage page = Page();
  EXPECT_EQ(page.values().size(), before);
  EXPECT_EQ(page["weir_requests_total{namespace=\"shop\",outcome=\"allowed\"}"], 500'000);
  EXPECT_EQ(page["weir_unknown_namespace_requests_total"], 500'000);
  EXPECT_GT(page["weir_table_evicted_total"], 400'000) << "room is for 10,000";
  EXPECT_LE(page["weir_table_keys"], page["weir_table_slots"]);
}

TEST_F(MetricsPageTest, ALongPageComesInPiecesOfTheSameRules) {
  std::string rules;
  for (int i = 0; i < 3000; ++i) {
    rules += "- {name: rule-" + std::to_string(i) + ", limit: 1/min}\n";
  }
  Use(rules);
  MetricsPage page(sources_, kNoon);
  std::string text;
  int pieces = 0;
  for (bool more = true; more; ++pieces) {
    std::string piece;
    more = page.Append(10'000, piece);
    EXPECT_LT(piece.size(), 20'000U) << "piece " << pieces;
    text += piece;
    if (pieces == 1) Use("- {name: other, limit: 1/min}");  // the page goes on with the old ones
  }
  EXPECT_GT(pieces, 20);
  const PrometheusPage read(text);
  EXPECT_EQ(read["weir_rules{namespace=\"shop\"}"], 3000);
  EXPECT_TRUE(read.Has(
      "weir_rule_requests_total{namespace=\"shop\",rule=\"rule-2999\",outcome=\"denied\"}"));
  EXPECT_TRUE(
      Page().Has("weir_rule_requests_total{namespace=\"shop\",rule=\"other\",outcome=\"denied\"}"));
}

TEST_F(MetricsPageTest, TheHistogramAddsUp) {
  traffic_.Count(Protocol::kHttp, {.requests = 3, .errors = 1, .took = Nanos(1000)});
  traffic_.Count(Protocol::kHttp, {.requests = 1, .took = Nanos(3'000'000)});
  traffic_.Count(Protocol::kHttp, {.requests = 1, .took = seconds(100)});
  const PrometheusPage page = Page();
  const std::string bucket = "weir_read_duration_seconds_bucket{protocol=\"http\",le=\"";
  EXPECT_EQ(page[bucket + "0.000001024\"}"], 1);
  EXPECT_EQ(page[bucket + "0.002097152\"}"], 1);
  EXPECT_EQ(page[bucket + "0.004194304\"}"], 2);
  EXPECT_EQ(page[bucket + "4.294967296\"}"], 2);
  EXPECT_EQ(page[bucket + "+Inf\"}"], 3);
  EXPECT_EQ(page["weir_read_duration_seconds_count{protocol=\"http\"}"], 3);
  EXPECT_EQ(page["weir_read_duration_seconds_sum{protocol=\"http\"}"], 100.003001);
  EXPECT_EQ(page["weir_protocol_requests_total{protocol=\"http\"}"], 5);
  EXPECT_EQ(page["weir_protocol_errors_total{protocol=\"http\"}"], 1);
}

TEST_F(MetricsPageTest, TellsHowItStandsWithTheRulesAndTheConnections) {
  RetrieverStatus status;
  status.source = "the file rules.yaml";
  status.version = "4f1c";
  status.since = RetrieverStatus::Time(seconds(1000));
  status.looks = 7;
  status.published = 2;
  status.is_away = true;
  status.failures = 3;
  sources_.retriever = [&] { return status; };
  net::Totals totals;
  totals.accepted = 10;
  totals.closed[static_cast<std::size_t>(net::Ending::kSlowReader)] = 4;
  totals.bytes_in = 123;
  sources_.connections = [&] { return totals; };
  const PrometheusPage page = Page();
  EXPECT_EQ(page["weir_rules_info{source=\"the file rules.yaml\",version=\"4f1c\"}"], 1);
  EXPECT_EQ(page["weir_rules_state{state=\"away\"}"], 1);
  EXPECT_EQ(page["weir_rules_state{state=\"in_force\"}"], 0);
  EXPECT_EQ(page["weir_rules_in_force_timestamp_seconds"], 1000);
  EXPECT_EQ(page["weir_rules_looks_total"], 7);
  EXPECT_EQ(page["weir_rules_published_total"], 2);
  EXPECT_EQ(page["weir_rules_source_failures"], 3);
  EXPECT_EQ(page["weir_connections_open"], 6);
  EXPECT_EQ(page["weir_connections_closed_total{ending=\"slow_reader\"}"], 4);
  EXPECT_EQ(page["weir_received_bytes_total"], 123);
}

TEST_F(MetricsPageTest, TheProcessIsKnownByTheNamesThatAllProgramsUse) {
  sources_.started = RetrieverStatus::Time(seconds(1'780'000'000));
  const PrometheusPage page = Page();
  EXPECT_EQ(page["process_start_time_seconds"], 1'780'000'000);
  EXPECT_GT(page["process_resident_memory_bytes"], 100'000);
  // The allocators of sanitizers do not tell.
  EXPECT_EQ(page.Has("weir_allocated_bytes"), mallinfo2().uordblks > 0);
  EXPECT_GT(page["process_max_fds"], 0);
  EXPECT_GE(page["process_cpu_seconds_total"], 0);
}

}  // namespace
}  // namespace weir
