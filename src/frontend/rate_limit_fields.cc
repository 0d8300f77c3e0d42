#include "frontend/rate_limit_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/time.h"
#include "service/policy.h"

namespace weir {
namespace {

struct StyleName {
  std::string_view name;
  FieldStyle style;
};
constexpr std::array<StyleName, 4> kStyles = {{{"draft-10", FieldStyle::kDraft10},
                                               {"draft-06", FieldStyle::kDraft06},
                                               {"x-ratelimit", FieldStyle::kXRateLimit},
                                               {"none", FieldStyle::kNone}}};

void Append(std::uint64_t number, std::string& out) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end.ptr);
}
void Append(std::int64_t number, std::string& out) {
  Append(static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0)), out);
}

// ";q=" and the like, with its number.
using ParameterName = char[4];
void Append(const ParameterName& name, std::uint64_t number, std::string& out) {
  std::array<char, sizeof name + 20> text;
  char* digits = std::copy_n(name, 3, text.data());
  const auto end = std::to_chars(digits, text.data() + text.size(), number);
  out.append(text.data(), static_cast<std::size_t>(end.ptr - text.data()));
}
void Append(const ParameterName& name, Nanos duration, std::string& out) {
  Append(name, static_cast<std::uint64_t>(std::max<std::int64_t>(SecondsUp(duration), 0)), out);
}

// Structured fields hold numbers of up to 15 digits.
std::uint64_t Fitting(Permits permits) {
  return std::min<std::uint64_t>(permits.count, 999'999'999'999'999);
}

// A name of our own making: letters, digits and - _ . / only, so it needs no escapes.
void AppendName(const Finding& finding, std::string& out) {
  out += '"';
  out += finding.rule->rule->name;
  out += '"';
}

bool IsTold(const Finding& finding) { return finding.enforced && finding.limit != nullptr; }

void AppendDraft10(const CheckReply& reply, std::string& out) {
  std::size_t told = 0;
  for (const Finding& finding : reply.findings()) {
    if (!IsTold(finding)) continue;
    const Policy policy = PolicyOf(*finding.limit);
    out += told++ == 0 ? "RateLimit-Policy: " : ", ";
    AppendName(finding, out);
    Append(";q=", Fitting(policy.quota), out);
    Append(";w=", policy.window, out);
  }
  if (told == 0) return;
  out += "\r\n";
  told = 0;
  for (const Finding& finding : reply.findings()) {
    if (!IsTold(finding)) continue;
    out += told++ == 0 ? "RateLimit: " : ", ";
    AppendName(finding, out);
    Append(";r=", Fitting(finding.decision.remaining), out);
    if (UntilMore(finding.decision) == Nanos::max()) continue;
    Append(";t=", UntilMore(finding.decision), out);
  }
  out += "\r\n";
}

// The limit that decides, alone: these forms have no room for more.
void AppendTriple(const CheckReply& reply, std::string_view prefix, std::string& out) {
  const Finding* finding = reply.decisive();
  if (finding == nullptr || finding->limit == nullptr) return;
  const auto field = [&](std::string_view name, auto value) {
    out += prefix;
    out += name;
    Append(value, out);
    out += "\r\n";
  };
  const Policy policy = PolicyOf(*finding->limit);
  field("Limit: ", policy.quota.count);
  field("Remaining: ", finding->decision.remaining.count);
  if (UntilMore(finding->decision) == Nanos::max()) return;
  field("Reset: ", SecondsUp(UntilMore(finding->decision)));
}

}  // namespace

std::optional<FieldStyle> FieldStyleOf(std::string_view name) {
  for (const StyleName& style : kStyles) {
    if (style.name == name) return style.style;
  }
  return std::nullopt;
}

Permits QuotaOf(const Limit& limit) { return PolicyOf(limit).quota; }

std::int64_t SecondsUp(Nanos duration) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return whole.count() + (Nanos(whole) < duration ? 1 : 0);
}

void AppendFields(const CheckReply& reply, FieldStyle style, std::string& out) {
  switch (style) {
    case FieldStyle::kDraft10:
      AppendDraft10(reply, out);
      break;
    case FieldStyle::kDraft06:
      AppendTriple(reply, "RateLimit-", out);
      break;
    case FieldStyle::kXRateLimit:
      AppendTriple(reply, "X-RateLimit-", out);
      break;
    case FieldStyle::kNone:
      break;
  }
  const Finding* decisive = reply.decisive();
  if (reply.allowed() || decisive == nullptr) return;
  if (decisive->decision.retry_after == Nanos::max()) return;  // no waiting helps
  out += "Retry-After: ";
  Append(std::max<std::int64_t>(SecondsUp(decisive->decision.retry_after), 1), out);
  out += "\r\n";
}

}  // namespace weir
