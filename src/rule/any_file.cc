#include "rule/any_file.h"

#include <variant>

#include "rule/envoy_file.h"
#include "rule/rule_file.h"
#include "rule/yaml.h"

namespace weir::rule {
namespace {

bool IsEnvoy(std::string_view text, const std::string& file) {
  const auto holds = [text](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  };
  // Most files are ours and large ones take their time: they are not read twice for this.
  if (!holds("domain") && !holds("descriptors")) return false;
  YamlNode root;
  Problems ignored;  // told by whoever reads it next
  return ReadYaml(text, file, root, ignored) && LooksLikeEnvoy(root);
}

}  // namespace

std::optional<RuleSet> ReadAnyRules(std::string_view text, const std::string& file,
                                    Problems& problems, Problems* doubts, Sharing envoys) {
  if (!IsEnvoy(text, file)) return ReadRules(text, file, problems);
  std::optional<RuleSet> set = ReadEnvoyRules(text, file, problems, doubts);
  if (!set) return set;
  for (Rule& rule : set->rules) {
    if (std::holds_alternative<Limit>(rule.allowance)) rule.sharing = envoys;
  }
  return set;
}

}  // namespace weir::rule
