#include "rule/descriptor_reader.h"

#include <string>

#include "base/text.h"
#include "rule/json.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

constexpr std::size_t kMostEntries = 16;
constexpr std::size_t kMostReplaced = 64;
constexpr std::size_t kLongestText = 1024;
constexpr std::size_t kLongestMetadata = 65536;
constexpr std::array<std::string_view, 4> kEntryFields = {"key", "value", "share_threshold",
                                                          "value_to_metric"};

// Text that says something: an empty one is a field better left out.
bool ReadSomeText(const YamlNode& node, std::string_view name, std::string& into, Report& report) {
  std::string text;
  if (!ReadText(node, name, kLongestText, text, report)) return false;
  if (text.empty()) {
    report.Add(node.place, std::string(name) + " is empty", "leave it out, or write some text");
    return false;
  }
  into = std::move(text);
  return true;
}

void ReadEntry(const YamlNode& node, Descriptor& descriptor, Report& report) {
  if (!IsMap(node, "an entry of a descriptor", "{key: user}", report)) return;
  const Fields fields(node, kEntryFields, report);
  DescriptorEntry entry;
  if (const YamlNode* key = fields.Find("key")) {
    ReadSomeText(*key, "key", entry.key, report);
  } else {
    report.Add(node.place, "an entry of a descriptor needs a key", "write {key: user}");
  }
  const YamlNode* value = fields.Find("value");
  const bool value_fits = value == nullptr || ReadSomeText(*value, "value", entry.value, report);
  fields.Flag("share_threshold", entry.share_threshold);
  fields.Flag("value_to_metric", entry.value_to_metric);
  const bool has_star = (entry.key + entry.value).find('*') != std::string::npos;
  if (entry.share_threshold && value_fits && !has_star) {
    report.Add(fields.PlaceOf("share_threshold"),
               "share_threshold is for values that hold a '*': there is nothing to share",
               "write value: \"abc*\", or leave share_threshold out");
  }
  descriptor.entries.push_back(std::move(entry));
}

void ReadReplaces(const YamlNode& node, Descriptor& descriptor, Report& report) {
  const std::string example =
      "replaces: [" + (node.kind == YamlNode::Kind::kScalar ? Shown(node.scalar) : "name") + "]";
  if (!IsList(node, "replaces", "limit names", kMostReplaced, example, report)) return;
  for (const YamlNode& element : node.list) {
    std::string name;
    if (!ReadSomeText(element, "a limit name", name, report)) continue;
    if (name == descriptor.limit_name) {
      report.Add(element.place, "a limit cannot replace itself", "leave its name out");
    }
    descriptor.replaces.push_back(std::move(name));
  }
}

void ReadMetadata(const YamlNode& node, Descriptor& descriptor, Report& report) {
  if (!IsMap(node, "metadata", "metadata: {team: search}", report)) return;
  descriptor.metadata = ToJson(node);
  if (descriptor.metadata.size() > kLongestMetadata) {
    report.Add(node.place,
               "metadata is longer than " + std::to_string(kLongestMetadata) + " bytes of JSON");
  }
}

void ReadWindow(const YamlNode& node, Descriptor& descriptor, Report& report) {
  std::string text;
  if (!ReadText(node, "window", kLongestText, text, report)) return;
  const Result<Nanos> window = ParseDuration(text);
  if (window && *window > Nanos(0)) {
    descriptor.window = *window;
  } else {
    report.Add(node.place, "window must be a time, got '" + Shown(text) + "'", "write window: 1m");
  }
}

}  // namespace

void ReadDescriptor(const Fields& rule, std::optional<Descriptor>& descriptor, Report& report) {
  const YamlNode* entries = rule.Find("descriptor");
  if (entries == nullptr) {
    for (std::string_view field : kDescriptorFields) {
      if (!rule.Has(field)) continue;
      report.Add(rule.PlaceOf(field), std::string(field) + " is for rules with a descriptor",
                 "add descriptor: [{key: user}], or leave it out");
    }
    return;
  }
  descriptor.emplace();
  if (IsList(*entries, "descriptor", "entries", kMostEntries, "descriptor: [{key: user}]",
             report)) {
    for (const YamlNode& entry : entries->list) ReadEntry(entry, *descriptor, report);
  }
  if (const YamlNode* name = rule.Find("limit_name")) {
    ReadSomeText(*name, "limit_name", descriptor->limit_name, report);
  }
  if (const YamlNode* names = rule.Find("replaces")) ReadReplaces(*names, *descriptor, report);
  rule.Flag("quota_mode", descriptor->quota_mode);
  rule.Flag("detailed_metric", descriptor->detailed_metric);
  if (const YamlNode* metadata = rule.Find("metadata")) {
    ReadMetadata(*metadata, *descriptor, report);
  }
  rule.Flag("whitelisted", descriptor->whitelisted);
  if (const YamlNode* window = rule.Find("window")) ReadWindow(*window, *descriptor, report);
}

}  // namespace weir::rule
