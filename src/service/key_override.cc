#include "service/key_override.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "rule/address.h"
#include "rule/utf8.h"

namespace weir {
namespace {

using rule::Condition;
using rule::Override;
using rule::PatternKind;

// What the rule counts by, with the width of its networks.
const rule::KeyPart* FindPart(const rule::Rule& rule, std::string_view attribute) {
  for (const rule::Key& key : rule.keys) {
    for (const rule::KeyPart& part : key) {
      if (part.attribute == attribute) return &part;
    }
  }
  return nullptr;
}

std::string CountedBy(const rule::Rule& rule) {
  std::set<std::string> names;
  for (const rule::Key& key : rule.keys) {
    for (const rule::KeyPart& part : key) names.insert(part.attribute);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// The conditions that hold for this client alone, by name.
Result<rule::Match> MatchOf(const rule::Rule& rule, std::span<const rule::Attribute> attributes) {
  if (rule.allow || rule.descriptor) {
    return Error{"rule " + rule.name + (rule.allow ? " is an allow-list" : " has a descriptor") +
                 " and no overrides; write another rule for this client"};
  }
  const std::string counted_by = CountedBy(rule);
  if (counted_by.empty()) {
    return Error{"rule " + rule.name +
                 " counts all requests as one, so no client of it can have an override; change its "
                 "limit"};
  }
  rule::Match match;
  for (const rule::Attribute& attribute : attributes) {
    const rule::KeyPart* part = FindPart(rule, attribute.name);
    if (part == nullptr) {
      return Error{"rule " + rule.name + " does not count by '" + rule::Shown(attribute.name) +
                   "'; name a client by " + counted_by};
    }
    Condition condition{std::string(attribute.name), {}, false};
    if (attribute.name == rule::kIp) {
      const auto ip = rule::Address::Parse(attribute.value);
      if (!ip) return Error{"'" + rule::Shown(attribute.value) + "' is no address"};
      const rule::Network network(*ip, ip->is_v4() ? part->bits.v4 : part->bits.v6);
      condition.any_of = {{PatternKind::kCidr, network.ToString()}};
    } else {
      condition.any_of = {{PatternKind::kExact, std::string(attribute.value)}};
    }
    match.push_back(std::move(condition));
  }
  if (match.empty()) return Error{"no attribute names the client; name it by " + counted_by};
  std::sort(match.begin(), match.end(),
            [](const Condition& a, const Condition& b) { return a.attribute < b.attribute; });
  return match;
}

bool IsFor(const Override& other, const rule::Match& client) {
  rule::Match when = other.when;
  // Networks may be written in several ways, an address alone among them.
  for (Condition& condition : when) {
    for (rule::Pattern& pattern : condition.any_of) {
      if (pattern.kind != PatternKind::kCidr) continue;
      if (const auto network = rule::Network::Parse(pattern.text)) {
        pattern.text = network->ToString();
      }
    }
  }
  std::sort(when.begin(), when.end(),
            [](const Condition& a, const Condition& b) { return a.attribute < b.attribute; });
  return when == client;
}

// Returns how many were for the client.
std::size_t Clear(rule::Rule& rule, const rule::Match& client, std::chrono::sys_seconds now) {
  std::erase_if(rule.overrides,
                [now](const Override& other) { return other.until && now >= *other.until; });
  return std::erase_if(rule.overrides,
                       [&client](const Override& other) { return IsFor(other, client); });
}

}  // namespace

Result<rule::Rule> WithOverride(rule::Rule rule, const KeyOverride& added,
                                std::chrono::sys_seconds now) {
  Result<rule::Match> client = MatchOf(rule, added.attributes);
  if (!client) return client.error();
  Clear(rule, *client, now);
  rule.overrides.insert(rule.overrides.begin(),
                        Override{std::move(*client), added.allowance, added.until});
  return rule;
}

Result<rule::Rule> WithoutOverride(rule::Rule rule, std::span<const rule::Attribute> attributes,
                                   std::chrono::sys_seconds now) {
  const Result<rule::Match> client = MatchOf(rule, attributes);
  if (!client) return client.error();
  if (Clear(rule, *client, now) == 0) {
    return Error{"rule " + rule.name + " has no override for this client that is still in force"};
  }
  return rule;
}

}  // namespace weir
