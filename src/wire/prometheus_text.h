// Metrics as Prometheus reads them: its text format, version 0.0.4.
//
//   PrometheusText text(out);
//   text.Family("weir_requests_total", MetricKind::kCounter, "Requests by what became of them.");
//   text.Sample({{"namespace", "shop"}, {"outcome", "denied"}}, 17);
//
// Values of labels may hold anything: what would end them is escaped, and what is not UTF-8 becomes
// '?'.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "weir/units.h"

namespace weir::wire {

inline constexpr std::string_view kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

enum class MetricKind : std::uint8_t { kCounter, kGauge, kHistogram };

struct MetricLabel {
  std::string_view name;
  std::string_view value;
};

class PrometheusText {
 public:
  using Labels = std::initializer_list<MetricLabel>;

  explicit PrometheusText(std::string& out) : out_(out) {}

  // Begins a family; samples follow. `name` must live as long as they are written.
  void Family(std::string_view name, MetricKind kind, std::string_view help);
  // Goes on with a family that was begun elsewhere.
  void Resume(std::string_view name) { family_ = name; }

  void Sample(Labels labels, std::uint64_t value);
  void Sample(std::uint64_t value) { Sample({}, value); }
  // In seconds, exact.
  void Sample(Labels labels, Nanos value);
  // "_bucket" and so on.
  void SampleOf(std::string_view suffix, Labels labels, std::uint64_t value);
  void SampleOf(std::string_view suffix, Labels labels, Nanos value);

  // "0.000001024"
  static std::string Seconds(Nanos value);

 private:
  void Begin(std::string_view suffix, Labels labels);

  std::string& out_;
  std::string_view family_;
};

}  // namespace weir::wire
