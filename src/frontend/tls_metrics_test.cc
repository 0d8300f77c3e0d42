#include "frontend/tls_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

using testing::HasSubstr;

std::string PageOf(const net::Totals& totals, const net::TlsStatus& status) {
  std::string page;
  wire::PrometheusText text(page);
  AppendTlsMetrics(totals, status, text);
  return page;
}

TEST(TlsMetricsTest, SayHowHandshakesWentAndHowLongTheCertificateIsGood) {
  net::Totals totals{.handshakes = 7};
  totals.handshake_failures[static_cast<std::size_t>(net::HandshakeFailure::kClientName)] = 3;
  const std::string page =
      PageOf(totals, {.not_after = net::TlsSettings::Time(std::chrono::seconds(1'900'000'000)),
                      .exchanged = 2,
                      .failures = 1});
  EXPECT_THAT(page, HasSubstr("\nweir_tls_handshakes_total 7\n"));
  EXPECT_THAT(page, HasSubstr("\nweir_tls_handshake_failures_total{reason=\"client_name\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("\nweir_tls_certificate_expiry_seconds 1900000000"));
  EXPECT_THAT(page, HasSubstr("\nweir_tls_certificate_exchanges_total 2\n"));
  EXPECT_THAT(page, HasSubstr("\nweir_tls_reload_failures 1\n"));
}

TEST(TlsMetricsTest, ThereIsOneSeriesForEachReasonHoweverOftenItHappened) {
  net::Totals totals;
  totals.handshake_failures.fill(1'000'000);
  const std::string page = PageOf(totals, {});
  const std::string series = "\nweir_tls_handshake_failures_total{";
  std::size_t count = 0;
  for (std::size_t at = page.find(series); at != std::string::npos;
       at = page.find(series, at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, net::kHandshakeFailures);
}

}  // namespace
}  // namespace weir
