// The page that Prometheus reads: docs/metrics.md lists what is on it.
//
// A page is written a piece at a time, so that a server with ten thousand rules is not held up by
// who watches it. All pieces are of the same rules; what they count may move on between them, as
// counters do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "catalog/retriever_status.h"
#include "frontend/traffic.h"
#include "net/counters.h"
#include "net/tls_context.h"
#include "service/checker.h"
#include "service/cluster.h"
#include "wire/prometheus_text.h"

namespace weir {

// Where the numbers come from. What is not there is not on the page.
struct MetricsSources {
  Checker* checker = nullptr;  // must be there
  const Traffic* traffic = nullptr;
  // Called by any thread, all at once.
  std::function<std::optional<net::Totals>()> connections = {};
  std::function<net::TlsStatus()> tls = {};
  std::function<ClusterCounts()> cluster = {};
  std::function<catalog::RetrieverStatus()> retriever = {};
  std::string version = {};                                    // of the program
  std::optional<catalog::RetrieverStatus::Time> started = {};  // the process
};

class MetricsPage {
 public:
  // `sources` must outlive it.
  MetricsPage(const MetricsSources& sources, Instant now);

  // Appends the next piece: some more than `enough` bytes, if there is as much. False: that was the
  // last.
  bool Append(std::size_t enough, std::string& out);

 private:
  using Spaces = std::map<std::string, rule::Space, std::less<>>;
  enum class Part : std::uint8_t { kServer, kRuleCounts, kRequests, kRules, kEnd };

  void AppendServer(wire::PrometheusText& text);
  void AppendRule(const rule::CompiledRule& rule, wire::PrometheusText& text) const;
  void Begin(Part part, wire::PrometheusText& text);
  // What comes next of a part that goes through all namespaces. False: there was nothing more.
  bool AppendNext(wire::PrometheusText& text);

  const MetricsSources& sources_;
  const Instant now_;
  const Published<ActiveRules>::Reading rules_;
  Part part_ = Part::kServer;
  Spaces::const_iterator space_;  // what comes next
  std::size_t rule_ = 0;          // of it
};

// All of it at once.
std::string MetricsPageText(const MetricsSources& sources, Instant now);

}  // namespace weir
