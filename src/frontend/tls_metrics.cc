#include "frontend/tls_metrics.h"

namespace weir {

using wire::MetricKind;

void AppendTlsMetrics(const net::Totals& totals, const net::TlsStatus& status,
                      wire::PrometheusText& text) {
  text.Family("weir_tls_handshakes_total", MetricKind::kCounter,
              "Handshakes of TLS that were completed.");
  text.Sample(totals.handshakes);
  text.Family("weir_tls_handshake_failures_total", MetricKind::kCounter,
              "Handshakes of TLS that came to nothing, by why they did.");
  for (std::size_t i = 0; i < net::kHandshakeFailures; ++i) {
    const auto failure = static_cast<net::HandshakeFailure>(i);
    text.Sample({{"reason", NameOf(failure)}}, totals.failed_by(failure));
  }
  text.Family("weir_tls_certificate_expiry_seconds", MetricKind::kGauge,
              "Until when the certificate in use is good, since 1970.");
  text.Sample({}, Nanos(status.not_after.time_since_epoch()));
  text.Family("weir_tls_certificate_exchanges_total", MetricKind::kCounter,
              "How often another certificate came into use without a restart.");
  text.Sample(status.exchanged);
  text.Family("weir_tls_reload_failures", MetricKind::kGauge,
              "Looks in a row at which the files of the certificate could not be used.");
  text.Sample(status.failures);
}

}  // namespace weir
