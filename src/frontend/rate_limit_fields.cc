#include "frontend/rate_limit_fields.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/time.h"

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

std::uint64_t NotNegative(std::int64_t number) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0));
}

// A name of our own making: letters, digits and - _ . / only, so it needs no escapes.
void AddName(const Finding& finding, TextRow& row) { row.Text(finding.rule->rule->name); }

// Behind it: the quote that ends it, and two numbers.
constexpr std::size_t kRoomBehindName = 64;

bool IsTold(const Finding& finding) { return finding.enforced && finding.limit != nullptr; }

void AddDraft10(const CheckReply& reply, TextRow& row) {
  bool is_first = true;
  for (const Finding& finding : reply.findings()) {
    if (!IsTold(finding)) continue;
    is_first ? row.Text("RateLimit-Policy: \"") : row.Text(", \"");
    is_first = false;
    AddName(finding, row);
    row.Char('"');
    row.Text(reply.PolicyOf(finding));
  }
  if (is_first) return;
  row.Text("\r\n");
  is_first = true;
  for (const Finding& finding : reply.findings()) {
    if (!IsTold(finding)) continue;
    is_first ? row.Text("RateLimit: \"") : row.Text(", \"");
    is_first = false;
    AddName(finding, row);
    char* to = Put(row.Reserve(kRoomBehindName), "\";r=");
    to = WriteDecimal(FittingField(finding.decision.remaining), to);
    if (const Nanos time = UntilMore(finding.decision); time != Nanos::max()) {
      to = WriteDecimal(NotNegative(SecondsUp(time)), Put(to, ";t="));
    }
    row.Use(to);
  }
  row.Text("\r\n");
}

// The limit that decides, alone: these forms have no room for more.
void AddTriple(const CheckReply& reply, std::string_view prefix, TextRow& row) {
  const Finding* finding = reply.decisive();
  if (finding == nullptr || finding->limit == nullptr) return;
  const auto field = [&](std::string_view name, std::uint64_t value) {
    row.Text(prefix);
    row.Text(name);
    row.Number(value);
    row.Text("\r\n");
  };
  const Policy policy = PolicyOf(*finding->limit);
  field("Limit: ", policy.quota.count);
  field("Remaining: ", finding->decision.remaining.count);
  if (UntilMore(finding->decision) == Nanos::max()) return;
  field("Reset: ", NotNegative(SecondsUp(UntilMore(finding->decision))));
}

}  // namespace

std::optional<FieldStyle> FieldStyleOf(std::string_view name) {
  for (const StyleName& style : kStyles) {
    if (style.name == name) return style.style;
  }
  return std::nullopt;
}

Permits QuotaOf(const Limit& limit) { return PolicyOf(limit).quota; }

void AddFields(const CheckReply& reply, FieldStyle style, TextRow& row) {
  switch (style) {
    case FieldStyle::kDraft10:
      AddDraft10(reply, row);
      break;
    case FieldStyle::kDraft06:
      AddTriple(reply, "RateLimit-", row);
      break;
    case FieldStyle::kXRateLimit:
      AddTriple(reply, "X-RateLimit-", row);
      break;
    case FieldStyle::kNone:
      break;
  }
  const Finding* decisive = reply.decisive();
  if (reply.allowed() || decisive == nullptr) return;
  if (decisive->decision.retry_after == Nanos::max()) return;  // no waiting helps
  row.Text("Retry-After: ");
  row.Number(std::max<std::int64_t>(SecondsUp(decisive->decision.retry_after), 1));
  row.Text("\r\n");
}

}  // namespace weir
