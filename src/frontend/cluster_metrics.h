// The metrics of a cluster: where decisions about shared limits were made, and whether Redis
// answers.
#pragma once

#include "service/cluster.h"
#include "wire/prometheus_text.h"

namespace weir {

void AppendClusterMetrics(const ClusterCounts& counts, wire::PrometheusText& text);

}  // namespace weir
