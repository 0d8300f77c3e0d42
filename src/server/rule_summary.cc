#include "server/rule_summary.h"

#include <variant>

namespace weir {
namespace {

std::string KeyText(const rule::Key& key) {
  std::string text;
  for (const rule::KeyPart& part : key) text += (text.empty() ? "" : " + ") + part.attribute;
  return key.empty() ? "all requests" : text;
}

}  // namespace

std::string ModeText(const rule::Rule& rule) {
  switch (rule.mode) {
    case rule::Mode::kEnforce:
      return "enforce";
    case rule::Mode::kShadow:
      return "shadow";
    case rule::Mode::kOff:
      return "off";
  }
  return {};
}

std::string KeysText(const rule::Rule& rule) {
  if (rule.descriptor) return "descriptor";
  if (rule.allow) return "-";
  std::string text;
  for (const rule::Key& key : rule.keys) text += (text.empty() ? "" : ", ") + KeyText(key);
  return text;
}

std::string AllowanceText(const rule::Rule& rule) {
  if (rule.allow) return "allow";
  if (std::holds_alternative<rule::Unlimited>(rule.allowance)) return "unlimited";
  if (std::holds_alternative<rule::Blocked>(rule.allowance)) return "blocked";
  return std::get<Limit>(rule.allowance).ToString();
}

}  // namespace weir
