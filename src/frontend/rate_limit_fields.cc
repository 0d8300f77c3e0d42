#include "frontend/rate_limit_fields.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "base/check.h"
#include "base/copy_few.h"
#include "base/time.h"
#include "frontend/field_texts.h"
#include "rule/rule_reader.h"

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

bool IsTold(const Finding& finding) { return finding.enforced && finding.limit != nullptr; }

// Around a name: what the field is called or a comma, quotes, and two numbers.
constexpr std::size_t kRoomAroundName = 96;
static_assert(rule::kLongestName + kRoomAroundName <= TextRow::kMostReserved);

char* PutText(char* to, std::string_view text) {
  CopyFew(to, text.data(), text.size());
  return to + text.size();
}

// A field with an item for each finding: `add(finding, to)` writes what stands behind its name, and
// returns where that ends.
template <std::size_t Size, typename Add>
void AddItems(const CheckReply& reply, const char (&field)[Size],  // NOLINT(*-avoid-c-arrays)
              TextRow& row, const Add& add) {
  bool is_first = true;
  for (const Finding& finding : reply.findings()) {
    if (!IsTold(finding)) continue;
    // Of our own making: letters, digits and - _ . / only, so it needs no escapes.
    const std::string_view name = finding.rule->rule->name;
    WEIR_CHECK(name.size() <= rule::kLongestName);
    char* to = row.Reserve(name.size() + kRoomAroundName);
    to = is_first ? Put(to, field) : Put(to, ", ");
    *to++ = '"';
    to = PutText(to, name);
    *to++ = '"';
    row.Use(add(finding, to));
    is_first = false;
  }
  if (!is_first) row.Text("\r\n");
}

// What is left, and until when: behind a name and "r=".
inline char* PutState(const Finding& finding, char* to) {
  to = WriteDecimal(FittingField(finding.decision.remaining), to);
  const Nanos time = UntilMore(finding.decision);
  if (internal::IsUpTo(std::chrono::seconds(1), time)) return Put(to, ";t=1");
  if (time == Nanos::max()) return to;
  return WriteDecimal(NotNegative(SecondsUp(time)), Put(to, ";t="));
}

// Of any number of findings, with names of any length.
void AddAnyDraft10(const CheckReply& reply, TextRow& row) {
  AddItems(reply, "RateLimit-Policy: ", row,
           [&](const Finding& finding, char* to) { return PutText(to, reply.PolicyOf(finding)); });
  AddItems(reply, "RateLimit: ", row,
           [](const Finding& finding, char* to) { return PutState(finding, Put(to, ";r=")); });
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

char* PutFewDraft10(const CheckReply& reply, std::uint64_t rules, char* to) {
  constexpr std::size_t kRoomForState = 48;
  static_assert(kRoomForFewDraft10 >=
                FieldText::kMostPolicies +
                    FieldText::kMostLimits * (FieldText::kMostName + kRoomForState));
  static_assert(kRoomForFewDraft10 <= TextRow::kMostReserved);
  const std::span<const Finding> findings = reply.findings();
  if (findings.empty()) return to;
  if (rules == 0) return nullptr;
  const FieldText* const text = FieldTexts::OfThread().Find(reply, rules);
  if (text == nullptr) return nullptr;
  to = text->PutPolicies(to);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    // A comma behind each: the last is overwritten.
    to = Put(PutState(findings[i], text->PutName(i, to)), ", ");
  }
  return Put(to - 2, "\r\n");
}

Permits QuotaOf(const Limit& limit) { return PolicyOf(limit).quota; }

void AddFields(const CheckReply& reply, std::uint64_t rules, FieldStyle style, TextRow& row) {
  switch (style) {
    case FieldStyle::kDraft10:
      if (char* const end = PutFewDraft10(reply, rules, row.Reserve(kRoomForFewDraft10))) {
        row.Use(end);
      } else {
        AddAnyDraft10(reply, row);
      }
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
