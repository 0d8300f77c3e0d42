#include "frontend/server_metrics.h"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string>

namespace weir {
namespace {

using catalog::RetrieverStatus;
using wire::MetricKind;
using wire::PrometheusText;

void AppendOne(std::string_view name, MetricKind kind, std::string_view help, std::uint64_t value,
               PrometheusText& text) {
  text.Family(name, kind, help);
  text.Sample(value);
}

void AppendTime(std::string_view name, std::string_view help,
                const std::optional<RetrieverStatus::Time>& time, PrometheusText& text) {
  if (!time) return;
  text.Family(name, MetricKind::kGauge, help);
  text.Sample({}, Nanos(time->time_since_epoch()));
}

// 0 if the system does not say.
std::uint64_t ResidentBytes() {
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// What was allocated and not freed, which resident memory does not show: what is freed in between
// stays with the process.
std::uint64_t AllocatedBytes() {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

// 0 where the kernel does not keep count (before Linux 6.2): to look through all of them would take
// as long as there are connections.
std::uint64_t OpenDescriptors() {
  struct stat folder {};
  return stat("/proc/self/fd", &folder) == 0 ? static_cast<std::uint64_t>(folder.st_size) : 0;
}

Nanos ProcessorTime() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

std::string_view NameOf(RetrieverStatus::State state) {
  switch (state) {
    case RetrieverStatus::State::kNoRules:
      return "no_rules";
    case RetrieverStatus::State::kInForce:
      return "in_force";
    case RetrieverStatus::State::kBad:
      return "bad";
    case RetrieverStatus::State::kAway:
      return "away";
  }
  return "unknown";
}

}  // namespace

void AppendProcessMetrics(std::string_view version, std::optional<RetrieverStatus::Time> started,
                          PrometheusText& text) {
  text.Family("weir_build_info", MetricKind::kGauge, "Always 1; the version is in the label.");
  text.Sample({{"version", version}}, 1);
  // These names are what all programs call them.
  AppendTime("process_start_time_seconds", "When the process began, since 1970.", started, text);
  text.Family("process_cpu_seconds_total", MetricKind::kCounter, "Time on processors.");
  text.Sample({}, ProcessorTime());
  if (const std::uint64_t bytes = ResidentBytes(); bytes > 0) {
    AppendOne("process_resident_memory_bytes", MetricKind::kGauge, "Memory in use.", bytes, text);
  }
  if (const std::uint64_t bytes = AllocatedBytes(); bytes > 0) {
    AppendOne("weir_allocated_bytes", MetricKind::kGauge,
              "Memory that was allocated and not given back, without the tables.", bytes, text);
  }
  if (const std::uint64_t open = OpenDescriptors(); open > 0) {
    AppendOne("process_open_fds", MetricKind::kGauge, "Open file descriptors.", open, text);
  }
  rlimit most{};
  if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
    AppendOne("process_max_fds", MetricKind::kGauge, "File descriptors it may open.", most.rlim_cur,
              text);
  }
}

void AppendConnectionMetrics(const net::Totals& totals, PrometheusText& text) {
  AppendOne("weir_connections_open", MetricKind::kGauge, "Connections that are open.",
            totals.open_now(), text);
  AppendOne("weir_connections_accepted_total", MetricKind::kCounter, "Connections that came.",
            totals.accepted, text);
  text.Family("weir_connections_closed_total", MetricKind::kCounter,
              "Connections that ended, by why they did.");
  for (std::size_t i = 0; i < net::kEndings; ++i) {
    const auto ending = static_cast<net::Ending>(i);
    text.Sample({{"ending", NameOf(ending)}}, totals.closed_by(ending));
  }
  AppendOne("weir_received_bytes_total", MetricKind::kCounter, "Bytes from clients.",
            totals.bytes_in, text);
  AppendOne("weir_sent_bytes_total", MetricKind::kCounter, "Bytes to clients.", totals.bytes_out,
            text);
}

void AppendTrafficMetrics(const Traffic& traffic, PrometheusText& text) {
  std::array<Traffic::Totals, kProtocols> totals;
  for (std::size_t i = 0; i < kProtocols; ++i) totals[i] = traffic.Read(static_cast<Protocol>(i));
  const auto name = [](std::size_t i) { return NameOf(static_cast<Protocol>(i)); };

  text.Family("weir_protocol_requests_total", MetricKind::kCounter,
              "Requests and commands of any kind, by protocol.");
  for (std::size_t i = 0; i < kProtocols; ++i) {
    text.Sample({{"protocol", name(i)}}, totals[i].requests);
  }
  text.Family("weir_protocol_errors_total", MetricKind::kCounter,
              "Requests that were answered with a mistake; a refusal is none.");
  for (std::size_t i = 0; i < kProtocols; ++i) {
    text.Sample({{"protocol", name(i)}}, totals[i].errors);
  }
  AppendOne("weir_resp_failed_auths_total", MetricKind::kCounter,
            "Wrong passwords and tokens of Redis clients.",
            totals[static_cast<std::size_t>(Protocol::kResp)].failed_auths, text);
  text.Family("weir_read_duration_seconds", MetricKind::kHistogram,
              "From the bytes of one read to the answers of all requests in it.");
  for (std::size_t i = 0; i < kProtocols; ++i) {
    std::uint64_t so_far = 0;
    for (std::size_t bucket = 0; bucket < Traffic::kBuckets; ++bucket) {
      so_far += totals[i].batches_by_time[bucket];
      const std::string up_to =
          bucket + 1 < Traffic::kBuckets ? PrometheusText::Seconds(Traffic::UpTo(bucket)) : "+Inf";
      text.SampleOf("_bucket", {{"protocol", name(i)}, {"le", up_to}}, so_far);
    }
    text.SampleOf("_sum", {{"protocol", name(i)}}, totals[i].took);
    text.SampleOf("_count", {{"protocol", name(i)}}, so_far);
  }
}

void AppendTableMetrics(Ledger& ledger, Instant now, PrometheusText& text) {
  const KeyStates::Fill fill = ledger.EstimateFill(now);
  AppendOne("weir_table_keys", MetricKind::kGauge, "Keys that are remembered, by a sample.",
            fill.keys, text);
  AppendOne("weir_table_slots", MetricKind::kGauge, "Keys that there is a place for.", fill.slots,
            text);
  AppendOne("weir_table_bytes", MetricKind::kGauge, "Memory set aside for keys.", ledger.bytes(),
            text);
  AppendOne("weir_table_evicted_total", MetricKind::kCounter,
            "Keys forgotten before their time, to make room for others.", ledger.evicted(), text);
}

void AppendOtherMetrics(const RuleCounters::Others& others, PrometheusText& text) {
  AppendOne("weir_unknown_namespace_requests_total", MetricKind::kCounter,
            "Requests to namespaces without rules, which all pass.", others.unknown_space, text);
  text.Family("weir_throttle_requests_total", MetricKind::kCounter,
              "CL.THROTTLE and THROTTLE, whose limit comes with them, by what became of them.");
  text.Sample({{"outcome", "allowed"}}, others.cells_allowed);
  text.Sample({{"outcome", "denied"}}, others.cells_denied);
}

void AppendRetrieverMetrics(const RetrieverStatus& status, PrometheusText& text) {
  text.Family("weir_rules_info", MetricKind::kGauge,
              "Always 1; the labels say where the rules come from and which are in force.");
  text.Sample({{"source", status.source}, {"version", status.version}}, 1);
  text.Family("weir_rules_state", MetricKind::kGauge,
              "1 of the state the rules are in, 0 of the others.");
  for (const auto state : {RetrieverStatus::State::kInForce, RetrieverStatus::State::kNoRules,
                           RetrieverStatus::State::kBad, RetrieverStatus::State::kAway}) {
    text.Sample({{"state", NameOf(state)}}, state == status.state() ? 1 : 0);
  }
  AppendTime("weir_rules_in_force_timestamp_seconds", "When these rules came into force.",
             status.since, text);
  AppendTime("weir_rules_last_look_timestamp_seconds", "When it was last looked for newer ones.",
             status.last_look, text);
  AppendOne("weir_rules_looks_total", MetricKind::kCounter, "Looks for newer rules.", status.looks,
            text);
  AppendOne("weir_rules_published_total", MetricKind::kCounter, "How often rules came into force.",
            status.published, text);
  AppendOne("weir_rules_source_failures", MetricKind::kGauge,
            "Looks in a row that did not reach the source.",
            static_cast<std::uint64_t>(status.failures), text);
}

}  // namespace weir
