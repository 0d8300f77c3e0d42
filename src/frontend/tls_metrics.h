// The metrics of TLS: how its handshakes went, and how long the certificate is good.
#pragma once

#include "net/counters.h"
#include "net/tls_context.h"
#include "wire/prometheus_text.h"

namespace weir {

void AppendTlsMetrics(const net::Totals& totals, const net::TlsStatus& status,
                      wire::PrometheusText& text);

}  // namespace weir
