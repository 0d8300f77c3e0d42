#include "frontend/field_texts.h"

#include <algorithm>
#include <string>
#include <utility>

namespace weir {

FieldTexts& FieldTexts::OfThread() {
  thread_local constinit FieldTexts texts;
  return texts;
}

const FieldText* FieldTexts::Make(const CheckReply& reply, std::uint64_t rules, std::size_t place) {
  const std::span<const Finding> findings = reply.findings();
  if (findings.size() > FieldText::kMostLimits) return nullptr;
  FieldText made;
  std::string policies = "RateLimit-Policy: ";
  for (const Finding& finding : findings) {
    if (!finding.enforced || finding.limit == nullptr) return nullptr;
    // Of our own making: letters, digits and - _ . / only, so it needs no escapes.
    const std::string name = '"' + finding.rule->rule->name + '"';
    const std::string before_state = name + ";r=";
    if (before_state.size() > FieldText::kMostName) return nullptr;
    if (made.count_ > 0) policies += ", ";
    policies += name;
    policies += reply.PolicyOf(finding);
    FieldText::Name& known = made.names_[made.count_];
    known.size = static_cast<std::uint32_t>(before_state.size());
    std::copy(before_state.begin(), before_state.end(), known.text.begin());
    made.whose_[made.count_++] = {finding.rule, finding.limit};
  }
  policies += "\r\nRateLimit: ";
  if (policies.size() > FieldText::kMostPolicies) return nullptr;
  made.rules_ = rules;
  made.policies_size_ = policies.size();
  std::copy(policies.begin(), policies.end(), made.policies_.begin());
  texts_[place ^ 1] = std::exchange(texts_[place], made);
  return nullptr;
}

}  // namespace weir
