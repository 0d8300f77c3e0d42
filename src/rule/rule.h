// A rule as its owner wrote it: who is limited, by what, and what happens then.
//
// Plain values. They are made from text by rule_file.h, which has checked all of it: patterns
// compile, limits make sense, names are unique. docs/rules.md describes the text.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "weir/limit.h"
#include "weir/units.h"

namespace weir::rule {

// --- who: conditions on the attributes of a request
// -------------------------------------------------
//
// Attributes are known by name: path, method, host, ip, user, header.NAME, query.NAME, cookie.NAME
// (header names in lower case), and whatever else a caller chooses to tell.

enum class PatternKind : std::uint8_t {
  kExact,
  kPrefix,
  kGlob,     // `*` and `?` stop at '/', `**` does not
  kRegex,    // RE2, matches the whole value
  kCidr,     // a network; the value is an address
  kPresent,  // there is such an attribute; `text` is empty
};

struct Pattern {
  PatternKind kind = PatternKind::kExact;
  std::string text;

  bool operator==(const Pattern&) const = default;
};

// One of the patterns must match, or, negated, none may. An attribute that is not there matches no
// pattern.
struct Condition {
  std::string attribute;
  std::vector<Pattern> any_of;
  bool negated = false;

  bool operator==(const Condition&) const = default;
};

// All conditions must hold; none at all matches every request.
using Match = std::vector<Condition>;

// --- by what: the key that is counted
// ---------------------------------------------------------------

// How much of an address tells clients apart. One host has 2^64 addresses of IPv6.
struct AddressBits {
  std::uint8_t v4 = 32;
  std::uint8_t v6 = 64;

  bool operator==(const AddressBits&) const = default;
};

struct KeyPart {
  std::string attribute;
  AddressBits bits;  // for `ip`

  bool operator==(const KeyPart&) const = default;
};

// The values of these attributes joined. A request that lacks one of them has no such key. Without
// any part, all requests share one key.
using Key = std::vector<KeyPart>;

// --- how much
// --------------------------------------------------------------------------------------

// Whether a time that something ends at has come. In seconds: an instant in nanoseconds ends in
// 2262.
inline bool IsOver(const std::optional<std::chrono::sys_seconds>& end, Instant now) {
  return end && std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()) >=
                    end->time_since_epoch();
}

struct Unlimited {
  bool operator==(const Unlimited&) const = default;
};
struct Blocked {
  bool operator==(const Blocked&) const = default;
};
using Allowance = std::variant<Unlimited, Blocked, Limit>;

// What a request costs: a number, or what an attribute says. An attribute that is not there, or is
// no whole number, counts as `fixed`; less than 1 counts as 1.
struct Cost {
  Permits fixed{1};
  std::string attribute;  // empty: fixed

  bool operator==(const Cost&) const = default;
};

// Another allowance for some: the first whose conditions hold, and whose time is not over, counts.
struct Override {
  Match when;
  Allowance allowance;
  std::optional<std::chrono::sys_seconds> until = {};  // from then on as if it were not there

  bool operator==(const Override&) const = default;
};

// A wider network that must agree too, with an allowance of its own: /56 and /48 beside /64.
struct Tier {
  AddressBits bits;
  Allowance allowance;

  bool operator==(const Tier&) const = default;
};

// --- and then
// --------------------------------------------------------------------------------------

enum class Exceed : std::uint8_t {
  kReject,
  kDelay,  // held until its turn, at most `time`
  kDrop,   // no answer at all
  kBan,    // refused for `time`, whatever it asks for
};

struct ExceedPolicy {
  Exceed what = Exceed::kReject;
  Nanos time{0};

  bool operator==(const ExceedPolicy&) const = default;
};

enum class Mode : std::uint8_t {
  kEnforce,
  kShadow,  // counts and tells, but refuses nobody
  kOff,
};

// Whose state decides: that of each host by itself, or one that all hosts of a cluster share, kept
// in one of three ways (docs/cluster.md).
enum class Sharing : std::uint8_t { kNone, kStrict, kLease, kWriteBack };

// When the state that decides cannot be had: only where it is shared.
enum class OnError : std::uint8_t { kAllow, kDeny, kLocal };

// Which requests cost something: all, or those that are reported as failed afterwards.
enum class Counts : std::uint8_t { kEverything, kFailures };

// --- descriptors, as Envoy sends them
// ---------------------------------------------------------------

struct DescriptorEntry {
  std::string key;
  std::string value;             // empty: any; may hold `*`
  bool share_threshold = false;  // all values that match `value` share one counter
  bool value_to_metric = false;

  bool operator==(const DescriptorEntry&) const = default;
};

// A rule with a descriptor has neither `match` nor `keys`: it is found by the entries of a
// request's descriptor, the most specific rule alone (descriptor_tree.h), and its key is their
// values.
struct Descriptor {
  std::vector<DescriptorEntry> entries;
  std::string limit_name;             // told to Envoy; what `replaces` of others refers to
  std::vector<std::string> replaces;  // limit names that do not count where this one does
  bool quota_mode = false;            // refuses only if all such limits of a request do
  bool detailed_metric = false;
  std::string metadata;  // JSON, or empty
  // A place without a limit: what ends here passes, and Envoy is told of no limit. (The allowance
  // is Unlimited; of an unlimited limit that is not such a place Envoy is told that it has one.)
  bool whitelisted = false;
  Nanos window{0};  // of a blocked rule: "0 per minute", as Envoy is told

  bool operator==(const Descriptor&) const = default;
};

// ---------------------------------------------------------------------------------------------------

struct Rule {
  std::string name;
  Match match;
  std::vector<Key> keys = {Key{}};  // each is counted, and all must agree
  Allowance allowance = Unlimited{};
  // An allow-list: what it matches passes, and no other rule of the namespace is asked.
  bool allow = false;
  std::vector<Tier> tiers;
  std::vector<Override> overrides;
  Cost cost;
  Counts counts = Counts::kEverything;
  bool elastic = false;  // may be exceeded while the host has room
  ExceedPolicy exceed;
  std::uint16_t status = 429;
  std::string message;  // of the refusal; empty: ours
  Mode mode = Mode::kEnforce;
  std::uint8_t enforce_percent = 100;  // of the keys; the others are in shadow
  Sharing sharing = Sharing::kNone;
  std::uint8_t over_burst_percent = 5;  // that a cluster may let through above the burst at once
  OnError on_error = OnError::kLocal;
  std::optional<std::chrono::sys_seconds> expires;
  std::optional<Descriptor> descriptor;

  bool operator==(const Rule&) const = default;
};

// What one file holds: the rules of a namespace, in their order.
struct RuleSet {
  std::string space;  // the namespace
  std::vector<Rule> rules;

  bool operator==(const RuleSet&) const = default;
};

}  // namespace weir::rule
