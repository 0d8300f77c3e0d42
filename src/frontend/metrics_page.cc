#include "frontend/metrics_page.h"

#include "frontend/cluster_metrics.h"
#include "frontend/server_metrics.h"
#include "frontend/tls_metrics.h"

namespace weir {
namespace {

using wire::MetricKind;
using wire::PrometheusText;

constexpr std::string_view kRules = "weir_rules";
constexpr std::string_view kRequests = "weir_requests_total";
constexpr std::string_view kRuleRequests = "weir_rule_requests_total";

// Whether a rule can come to an outcome as it is written: what can never be counted is not shown.
bool MayCount(const rule::Rule& rule, RuleOutcome outcome) {
  const bool all_enforced = rule.mode == rule::Mode::kEnforce && rule.enforce_percent == 100;
  const bool none_enforced = rule.mode != rule::Mode::kEnforce || rule.enforce_percent == 0;
  if (rule.mode == rule::Mode::kOff) return false;
  if (rule.allow) return outcome == RuleOutcome::kAllowed;
  switch (outcome) {
    case RuleOutcome::kAllowed:
      return true;
    case RuleOutcome::kElastic:
      return rule.elastic;
    case RuleOutcome::kShadowDenied:
      return !all_enforced;
    case RuleOutcome::kDelayed:
      return !none_enforced && rule.exceed.what == rule::Exceed::kDelay;
    case RuleOutcome::kDenied:
      return !none_enforced;
    case RuleOutcome::kBanned:
      return !none_enforced && rule.exceed.what == rule::Exceed::kBan;
  }
  return false;
}

}  // namespace

MetricsPage::MetricsPage(const MetricsSources& sources, Instant now)
    : sources_(sources), now_(now), rules_(sources.checker->rules()) {}

bool MetricsPage::Append(std::size_t enough, std::string& out) {
  const std::size_t start = out.size();
  PrometheusText text(out);
  if (part_ == Part::kServer) {
    AppendServer(text);
    Begin(Part::kRuleCounts, text);
  } else {
    text.Resume(part_ == Part::kRuleCounts ? kRules
                : part_ == Part::kRequests ? kRequests
                                           : kRuleRequests);
  }
  while (part_ != Part::kEnd && out.size() - start < enough) {
    if (!AppendNext(text)) Begin(static_cast<Part>(static_cast<int>(part_) + 1), text);
  }
  return part_ != Part::kEnd;
}

void MetricsPage::AppendServer(PrometheusText& text) {
  AppendProcessMetrics(sources_.version, sources_.started, text);
  if (sources_.connections) {
    if (const auto totals = sources_.connections()) {
      AppendConnectionMetrics(*totals, text);
      if (sources_.tls) AppendTlsMetrics(*totals, sources_.tls(), text);
    }
  }
  if (sources_.cluster) AppendClusterMetrics(sources_.cluster(), text);
  if (sources_.traffic != nullptr) AppendTrafficMetrics(*sources_.traffic, text);
  AppendTableMetrics(sources_.checker->ledger(), now_, text);
  AppendOtherMetrics(sources_.checker->counters().ReadOthers(), text);
  if (sources_.retriever) AppendRetrieverMetrics(sources_.retriever(), text);
}

void MetricsPage::Begin(Part part, PrometheusText& text) {
  part_ = part;
  space_ = rules_->book->spaces().begin();
  rule_ = 0;
  switch (part) {
    case Part::kServer:
    case Part::kEnd:
      return;
    case Part::kRuleCounts:
      return text.Family(kRules, MetricKind::kGauge, "Rules in force.");
    case Part::kRequests:
      return text.Family(kRequests, MetricKind::kCounter,
                         "Requests by what became of them under the rules of their namespace.");
    case Part::kRules:
      return text.Family(kRuleRequests, MetricKind::kCounter,
                         "Requests that a rule had a say in, by what it said.");
  }
}

bool MetricsPage::AppendNext(PrometheusText& text) {
  if (space_ == rules_->book->spaces().end()) return false;
  const rule::Space& space = space_->second;
  if (part_ == Part::kRules) {
    if (rule_ < space.rules().size()) {
      AppendRule(space.rules()[rule_++], text);
      return true;
    }
    rule_ = 0;
  } else if (part_ == Part::kRuleCounts) {
    text.Sample({{"namespace", space.name()}}, space.rules().size());
  } else {
    const RuleCounters::Sums sums = rules_->counters.Read(space);
    for (std::size_t i = 0; i < kRequestOutcomes; ++i) {
      const auto outcome = static_cast<RequestOutcome>(i);
      text.Sample({{"namespace", space.name()}, {"outcome", NameOf(outcome)}}, sums[i]);
    }
  }
  ++space_;
  return true;
}

void MetricsPage::AppendRule(const rule::CompiledRule& rule, PrometheusText& text) const {
  const RuleCounters::Sums sums = rules_->counters.Read(rule);
  for (std::size_t i = 0; i < kRuleOutcomes; ++i) {
    const auto outcome = static_cast<RuleOutcome>(i);
    if (sums[i] == 0 && !MayCount(*rule.rule, outcome)) continue;
    text.Sample({{"namespace", space_->second.name()},
                 {"rule", rule.rule->name},
                 {"outcome", NameOf(outcome)}},
                sums[i]);
  }
}

std::string MetricsPageText(const MetricsSources& sources, Instant now) {
  std::string text;
  MetricsPage page(sources, now);
  while (page.Append(std::size_t{1} << 20, text)) {
  }
  return text;
}

}  // namespace weir
