#include "frontend/limit_texts.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace weir {

LimitTexts& LimitTexts::OfThread() {
  thread_local constinit LimitTexts texts;
  return texts;
}

void LimitTexts::Make(const CheckReply& reply, const Finding& finding, std::uint64_t rules,
                      LimitText& text) {
  // Of our own making: letters, digits and - _ . / only, so it needs no escapes.
  std::string whole = '"' + finding.rule->rule->name + '"';
  const std::size_t name_size = whole.size();
  whole += reply.PolicyOf(finding);
  if (whole.size() > LimitText::kMost) return;
  text.rules_ = rules;
  text.rule_ = finding.rule;
  text.limit_ = finding.limit;
  text.name_size_ = static_cast<std::uint32_t>(name_size);
  text.size_ = static_cast<std::uint32_t>(whole.size());
  std::copy(whole.begin(), whole.end(), text.text_.begin());
}

}  // namespace weir
