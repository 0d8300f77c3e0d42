// The metrics that do not grow with the rules: of the process, its connections, what it was asked,
// its memory of keys, and where its rules come from.
#pragma once

#include <optional>
#include <string_view>

#include "catalog/retriever_status.h"
#include "frontend/traffic.h"
#include "limiter/ledger.h"
#include "net/counters.h"
#include "service/rule_counters.h"
#include "wire/prometheus_text.h"

namespace weir {

void AppendProcessMetrics(std::string_view version,
                          std::optional<catalog::RetrieverStatus::Time> started,
                          wire::PrometheusText& text);
void AppendConnectionMetrics(const net::Totals& totals, wire::PrometheusText& text);
void AppendTrafficMetrics(const Traffic& traffic, wire::PrometheusText& text);
void AppendTableMetrics(Ledger& ledger, Instant now, wire::PrometheusText& text);
// Requests without rules.
void AppendOtherMetrics(const RuleCounters::Others& others, wire::PrometheusText& text);
void AppendRetrieverMetrics(const catalog::RetrieverStatus& status, wire::PrometheusText& text);

}  // namespace weir
