#include "rule/envoy_fields.h"

#include <limits>
#include <variant>

#include "rule/envoy_keys.h"
#include "rule/envoy_scalar.h"

namespace weir::rule {
namespace {

using Kind = YamlNode::Kind;

bool IsScalar(const YamlNode& node) { return node.kind == Kind::kScalar && !IsRefusedScalar(node); }

}  // namespace

std::string EnvoyFields::Text(std::string_view field) const {
  const YamlNode* node = Find(field);
  if (node == nullptr) return {};
  if (IsScalar(*node)) return node->scalar;  // as written: `value: 010` is not the text "8"
  DoesNotFit(field, *node, "text", "write '" + std::string(field) + ": TEXT'");
  return {};
}

bool EnvoyFields::Flag(std::string_view field) const {
  const YamlNode* node = Find(field);
  if (node == nullptr) return false;
  if (IsScalar(*node)) {
    const EnvoyScalar scalar = Resolve(*node);
    if (const bool* truth = std::get_if<bool>(&scalar)) return *truth;
  }
  DoesNotFit(field, *node, "true or false", "write one of them, without quotes");
  return false;
}

std::uint32_t EnvoyFields::Count(std::string_view field) const {
  const YamlNode* node = Find(field);
  if (node == nullptr) return 0;
  if (IsScalar(*node)) {
    const EnvoyScalar scalar = Resolve(*node);
    const auto* count = std::get_if<std::int64_t>(&scalar);
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    if (count != nullptr && *count >= 0 && *count <= kMost) {
      return static_cast<std::uint32_t>(*count);
    }
  }
  DoesNotFit(field, *node, "a whole number from 0 to 4294967295", "write one, without quotes");
  return 0;
}

std::vector<const YamlNode*> EnvoyFields::Maps(std::string_view field) const {
  std::vector<const YamlNode*> maps;
  const YamlNode* node = Find(field);
  if (node == nullptr) return maps;
  if (node->kind != Kind::kList) {
    DoesNotFit(field, *node, "a list", "put a '-' before each element");
  }
  for (const YamlNode& element : node->list) {
    if (element.kind == Kind::kMap) maps.push_back(&element);
  }
  return maps;
}

const YamlNode* EnvoyFields::Map(std::string_view field, const std::string& remedy) const {
  const YamlNode* node = Find(field);
  if (node == nullptr || node->kind == Kind::kMap) return node;
  DoesNotFit(field, *node, "a map", remedy);
  return nullptr;
}

Place EnvoyFields::PlaceOf(std::string_view field) const {
  const YamlNode* node = map_.Find(field);
  return node != nullptr ? node->place : map_.place;
}

bool EnvoyFields::IsNoText(std::string_view field) const {
  const YamlNode* node = Find(field);
  return node != nullptr && !IsScalar(*node);
}

const YamlNode* EnvoyFields::Find(std::string_view field) const {
  const YamlNode* node = map_.Find(field);
  if (node == nullptr || node->kind == Kind::kNull) return nullptr;
  const bool null =
      node->kind == Kind::kScalar && std::holds_alternative<NullScalar>(Resolve(*node));
  return null ? nullptr : node;
}

void EnvoyFields::DoesNotFit(std::string_view field, const YamlNode& node,
                             const std::string& expected, const std::string& remedy) const {
  if (field != "metadata" && IsRefusedScalar(node)) return;
  problems_.Add(node.place,
                "error loading config file: '" + std::string(field) + "' must be " + expected +
                    ", got " + node.Describe(),
                remedy);
}

}  // namespace weir::rule
