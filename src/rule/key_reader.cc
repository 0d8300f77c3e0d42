#include "rule/key_reader.h"

#include <algorithm>
#include <array>
#include <string>

#include "rule/attribute.h"
#include "rule/attribute_name.h"
#include "rule/field_reader.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

constexpr std::array<std::string_view, 2> kBitsFields = {"v4", "v6"};

bool ReadWidth(const YamlNode* node, std::string_view name, std::uint8_t most, std::uint8_t& into,
               Report& report) {
  std::uint64_t bits = into;
  if (node != nullptr && !ReadCount(*node, name, 1, most, bits, report)) return false;
  into = static_cast<std::uint8_t>(bits);
  return true;
}

// `user`, or `{ip: {v4: 24, v6: 56}}`.
void ReadPart(const YamlNode& node, Key& key, Report& report) {
  KeyPart part;
  if (node.kind == YamlNode::Kind::kScalar) {
    part.attribute = node.scalar;
  } else if (node.kind == YamlNode::Kind::kMap && node.map.size() == 1 && node.map[0].key == kIp) {
    part.attribute = kIp;
    const YamlNode& widths = node.map[0].value;
    if (!IsMap(widths, "ip", "{ip: {v4: 24, v6: 56}}", report)) return;
    const Fields fields(widths, kBitsFields, report);
    if (!ReadBits(widths, part.bits, report)) return;
  } else {
    report.Add(node.place, "by must name attributes, got " + node.Describe(),
               "write by: [user], or by: [{ip: {v4: 24, v6: 56}}]");
    return;
  }
  if (!CheckAttributeName(part.attribute, node.place, report)) return;
  const bool twice = std::any_of(key.begin(), key.end(), [&](const KeyPart& other) {
    return other.attribute == part.attribute;
  });
  if (twice) {
    report.Add(node.place, "attribute '" + part.attribute + "' is twice in one key",
               "keep one of them, or write two keys: by: [[a], [b]]");
    return;
  }
  key.push_back(std::move(part));
}

Key ReadKey(const YamlNode& node, Report& report) {
  Key key;
  if (node.list.size() > kMostKeyParts) {
    report.Add(node.place,
               "a key holds more than " + std::to_string(kMostKeyParts) + " attributes");
    return key;
  }
  for (const YamlNode& part : node.list) ReadPart(part, key, report);
  return key;
}

}  // namespace

bool ReadBits(const YamlNode& map, AddressBits& bits, Report& report) {
  const YamlNode* v4 = map.Find("v4");
  const YamlNode* v6 = map.Find("v6");
  if (v4 == nullptr && v6 == nullptr) {
    report.Add(map.place, "the width of a network is missing", "write v4: 24, v6: 56 or both");
    return false;
  }
  const bool v4_fits = ReadWidth(v4, "v4", 32, bits.v4, report);
  return ReadWidth(v6, "v6", 128, bits.v6, report) && v4_fits;
}

std::vector<Key> ReadKeys(const YamlNode& node, Report& report) {
  const std::string example =
      "by: [" + (node.kind == YamlNode::Kind::kScalar ? Shown(node.scalar) : "user") + "]";
  if (!IsList(node, "by", "attributes", UINT16_MAX, example, report)) return {Key{}};
  const auto is_list = [](const YamlNode& n) { return n.kind == YamlNode::Kind::kList; };
  const auto lists = std::count_if(node.list.begin(), node.list.end(), is_list);
  if (lists == 0) return {ReadKey(node, report)};
  if (lists < static_cast<std::ptrdiff_t>(node.list.size())) {
    report.Add(node.place, "by is either one key or a list of keys, got both",
               "write by: [[a], [b]] for two keys, by: [a, b] for one");
    return {Key{}};
  }
  if (!IsList(node, "by", "keys", kMostKeys, "by: [[a], [b]]", report)) return {Key{}};
  std::vector<Key> keys;
  for (const YamlNode& element : node.list) {
    const std::size_t before = report.count();
    Key key = ReadKey(element, report);
    if (report.count() == before && std::count(keys.begin(), keys.end(), key) > 0) {
      report.Add(element.place, "the same key is there twice", "keep one of them");
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace weir::rule
