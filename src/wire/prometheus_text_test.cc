#include "wire/prometheus_text.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::wire {
namespace {

TEST(PrometheusTextTest, AFamilyHasItsHelpItsTypeAndItsSamples) {
  std::string out;
  PrometheusText text(out);
  text.Family("weir_things_total", MetricKind::kCounter, "Things.");
  text.Sample({{"kind", "good"}, {"size", "large"}}, 17);
  text.Sample({{"kind", "bad"}, {"size", "small"}}, UINT64_MAX);
  text.Family("weir_age_seconds", MetricKind::kGauge, "Its age.");
  text.Sample({}, Nanos(1'500'000'000));
  EXPECT_EQ(out,
            "# HELP weir_things_total Things.\n"
            "# TYPE weir_things_total counter\n"
            "weir_things_total{kind=\"good\",size=\"large\"} 17\n"
            "weir_things_total{kind=\"bad\",size=\"small\"} 18446744073709551615\n"
            "# HELP weir_age_seconds Its age.\n"
            "# TYPE weir_age_seconds gauge\n"
            "weir_age_seconds 1.5\n");
}

TEST(PrometheusTextTest, NoValueEndsItsLabelOrItsLine) {
  std::string out;
  PrometheusText text(out);
  text.Resume("m");
  text.Sample({{"l", "a\"} 1\nforged{x=\"\\"}}, 2);
  EXPECT_EQ(out, "m{l=\"a\\\"} 1\\nforged{x=\\\"\\\\\"} 2\n");
}

TEST(PrometheusTextTest, WhatIsNotUtf8IsReplaced) {
  std::string out;
  PrometheusText text(out);
  text.Resume("m");
  text.Sample({{"l", "gr\xC3\xBCn \xFF \xC3"}}, 1);
  EXPECT_EQ(out, "m{l=\"gr\xC3\xBCn ? ?\"} 1\n");
}

TEST(PrometheusTextTest, SecondsAreExact) {
  EXPECT_EQ(PrometheusText::Seconds(Nanos(0)), "0");
  EXPECT_EQ(PrometheusText::Seconds(Nanos(1)), "0.000000001");
  EXPECT_EQ(PrometheusText::Seconds(Nanos(1024)), "0.000001024");
  EXPECT_EQ(PrometheusText::Seconds(Nanos(10'000'000'000)), "10");
  EXPECT_EQ(PrometheusText::Seconds(Nanos(1'780'315'200'250'000'000)), "1780315200.25");
  EXPECT_EQ(PrometheusText::Seconds(Nanos(-1'500'000'000)), "-1.5");
  EXPECT_EQ(PrometheusText::Seconds(Nanos(-500'000'000)), "-0.5");
}

}  // namespace
}  // namespace weir::wire
