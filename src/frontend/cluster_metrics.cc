#include "frontend/cluster_metrics.h"

namespace weir {

using wire::MetricKind;

void AppendClusterMetrics(const ClusterCounts& counts, wire::PrometheusText& text) {
  text.Family("weir_cluster_decisions_total", MetricKind::kCounter,
              "Questions about shared limits, by where they were decided.");
  text.Sample({{"by", "memory"}}, counts.at_hand);
  text.Sample({{"by", "store"}}, counts.asked);
  text.Family("weir_cluster_fallbacks_total", MetricKind::kCounter,
              "Of these, decided by on_error, because nobody answered in time.");
  text.Sample(counts.late);
  text.Family("weir_cluster_surprises_total", MetricKind::kCounter,
              "Exchanges that found that another host had been faster.");
  text.Sample(counts.races);
  text.Family("weir_cluster_keys", MetricKind::kGauge, "Shared keys that this host knows of.");
  text.Sample(counts.keys);
  text.Family("weir_cluster_under_way", MetricKind::kGauge, "Questions that are not answered yet.");
  text.Sample(counts.under_way);
  text.Family("weir_cluster_cut_off", MetricKind::kGauge, "1 while the store does not answer.");
  text.Sample(counts.is_cut_off ? 1 : 0);
}

}  // namespace weir
