#include "frontend/limit_texts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "frontend/rate_limit_fields.h"
#include "wire/resp_reply.h"

namespace weir {

LimitTexts& LimitTexts::OfThread() {
  thread_local constinit LimitTexts texts;
  return texts;
}

const LimitText* LimitTexts::FindBeside(const Finding& finding, std::uint64_t rules,
                                        std::size_t place) {
  LimitText& beside = texts_[place ^ 1];
  if (beside.IsOf(finding, rules)) return &beside;
  std::string whole;
  {
    wire::RespWriter writer(whole, wire::RespVersion::k2);
    writer.Bulk(finding.rule->rule->name);
    writer.Integer(static_cast<std::int64_t>(QuotaOf(*finding.limit).count));
  }
  if (whole.size() > LimitText::kMost) return nullptr;
  LimitText made;
  made.rules_ = rules;
  made.rule_ = finding.rule;
  made.limit_ = finding.limit;
  made.size_ = whole.size();
  std::copy(whole.begin(), whole.end(), made.text_.begin());
  beside = std::exchange(texts_[place], made);
  return nullptr;
}

}  // namespace weir
