#include "wire/prometheus_text.h"

#include "rule/utf8.h"

namespace weir::wire {
namespace {

std::string_view NameOf(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return "untyped";
}

void AppendEscaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '"':
        out += "\\\"";
        break;
      case '\n':
        out += "\\n";
        break;
      default:
        out += c;
    }
  }
}

}  // namespace

void PrometheusText::Family(std::string_view name, MetricKind kind, std::string_view help) {
  family_ = name;
  out_ += "# HELP ";
  out_ += name;
  out_ += ' ';
  out_ += help;
  out_ += "\n# TYPE ";
  out_ += name;
  out_ += ' ';
  out_ += NameOf(kind);
  out_ += '\n';
}

void PrometheusText::Begin(std::string_view suffix, Labels labels) {
  out_ += family_;
  out_ += suffix;
  char before = '{';
  for (const MetricLabel& label : labels) {
    out_ += before;
    before = ',';
    out_ += label.name;
    out_ += "=\"";
    if (rule::FirstInvalidUtf8(label.value) == std::string_view::npos) {
      AppendEscaped(label.value, out_);
    } else {
      AppendEscaped(rule::Valid(label.value), out_);
    }
    out_ += '"';
  }
  out_ += labels.size() > 0 ? "} " : " ";
}

void PrometheusText::SampleOf(std::string_view suffix, Labels labels, std::uint64_t value) {
  Begin(suffix, labels);
  out_ += std::to_string(value);
  out_ += '\n';
}

void PrometheusText::SampleOf(std::string_view suffix, Labels labels, Nanos value) {
  Begin(suffix, labels);
  out_ += Seconds(value);
  out_ += '\n';
}

void PrometheusText::Sample(Labels labels, std::uint64_t value) { SampleOf({}, labels, value); }
void PrometheusText::Sample(Labels labels, Nanos value) { SampleOf({}, labels, value); }

std::string PrometheusText::Seconds(Nanos value) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t count = value.count();
  const auto rest = static_cast<std::uint64_t>(count < 0 ? -(count % kSecond) : count % kSecond);
  std::string text = count < 0 && count > -kSecond ? "-0" : std::to_string(count / kSecond);
  if (rest == 0) return text;
  std::string digits = std::to_string(kSecond + rest);
  digits[0] = '.';
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + digits;
}

}  // namespace weir::wire
