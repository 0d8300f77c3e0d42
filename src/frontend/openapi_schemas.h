// The shapes of what the admin API takes and answers, as JSON Schema (2020-12).
//
// Objects of ours list all their members: what is not here is not answered. The shape of rules is
// told in docs/rules.md, and checked by the readers of rules, not here.
#pragma once

#include <string_view>

namespace weir {

inline constexpr std::string_view kOpenApiSchemas = R"json({
"Anything": {"type": "object"},
"Problem": {"type": "object", "required": ["title", "status", "detail"],
  "additionalProperties": false, "properties": {
    "title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"},
    "problems": {"type": "array", "items": {"$ref": "#/components/schemas/RuleProblem"}}}},
"RuleProblem": {"type": "object",
  "required": ["place", "line", "column", "rule", "what", "remedy"],
  "additionalProperties": false, "properties": {
    "place": {"type": "string"}, "line": {"type": "integer"}, "column": {"type": "integer"},
    "rule": {"type": ["string", "null"]}, "what": {"type": "string"},
    "remedy": {"type": ["string", "null"]}}},
"Rule": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
"Rules": {"type": "object", "required": ["namespace", "rules"], "properties": {
    "namespace": {"type": "string"},
    "rules": {"type": "array", "items": {"$ref": "#/components/schemas/Rule"}}}},
"Namespaces": {"type": "object", "required": ["namespaces", "next"],
  "additionalProperties": false, "properties": {
    "namespaces": {"type": "array", "items": {"type": "object",
      "required": ["namespace", "rules"], "additionalProperties": false, "properties": {
        "namespace": {"type": "string"}, "rules": {"type": "integer"}}}},
    "next": {"type": ["string", "null"]}}},
"Difference": {"type": "object", "required": ["what", "namespace", "rule", "before", "after"],
  "additionalProperties": false, "properties": {
    "what": {"enum": ["created", "changed", "deleted", "moved"]},
    "namespace": {"type": "string"}, "rule": {"type": "string"},
    "before": {"type": ["string", "null"]}, "after": {"type": ["string", "null"]}}},
"Differences": {"type": "object", "required": ["differences", "left_out"],
  "additionalProperties": false, "properties": {
    "differences": {"type": "array", "items": {"$ref": "#/components/schemas/Difference"}},
    "left_out": {"type": "integer"}}},
"Change": {"type": "object",
  "required": ["revision", "dry_run", "in_force", "differences", "left_out", "notes"],
  "additionalProperties": false, "properties": {
    "revision": {"type": "integer"}, "dry_run": {"type": "boolean"},
    "in_force": {"type": "boolean"},
    "differences": {"type": "array", "items": {"$ref": "#/components/schemas/Difference"}},
    "left_out": {"type": "integer"},
    "notes": {"type": "array", "items": {"type": "string"}}}},
"History": {"type": "object", "required": ["changes", "next"],
  "additionalProperties": false, "properties": {
    "changes": {"type": "array", "items": {"type": "object",
      "required": ["revision", "namespace", "rule", "author", "comment", "time", "text"],
      "additionalProperties": false, "properties": {
        "revision": {"type": "integer"}, "namespace": {"type": "string"},
        "rule": {"type": "string"}, "author": {"type": "string"},
        "comment": {"type": "string"}, "time": {"type": "string", "format": "date-time"},
        "text": {"type": ["string", "null"]}}}},
    "next": {"type": ["integer", "null"]}}},
"Attributes": {"type": "object", "additionalProperties": {"type": "string"}},
"Client": {"type": "object", "required": ["namespace", "rule"],
  "additionalProperties": false, "properties": {
    "namespace": {"type": "string"}, "rule": {"type": "string"},
    "attributes": {"$ref": "#/components/schemas/Attributes"}}},
"Override": {"type": "object", "required": ["namespace", "rule"],
  "additionalProperties": false, "properties": {
    "namespace": {"type": "string"}, "rule": {"type": "string"},
    "attributes": {"$ref": "#/components/schemas/Attributes"},
    "limit": {"type": "string"}, "limits": {"type": "array", "items": {"type": "string"}},
    "until": {"type": "string", "format": "date-time"}, "for": {"type": "string"}}},
"KeyLimit": {"type": "object",
  "required": ["limit", "allowed", "remaining", "retry_after_ms", "reset_after_ms"],
  "additionalProperties": false, "properties": {
    "limit": {"type": "string"}, "allowed": {"type": "boolean"},
    "remaining": {"type": "integer"}, "retry_after_ms": {"type": ["integer", "null"]},
    "reset_after_ms": {"type": ["integer", "null"]}}},
"Key": {"type": "object", "required": ["key", "by", "allowance", "banned_for_ms", "limits"],
  "additionalProperties": false, "properties": {
    "key": {"type": "string"}, "by": {"enum": ["rule", "tier", "override"]},
    "allowance": {"enum": ["unlimited", "blocked", "limited"]},
    "banned_for_ms": {"type": ["integer", "null"]},
    "limits": {"type": "array", "items": {"$ref": "#/components/schemas/KeyLimit"}}}},
"Keys": {"type": "object", "required": ["namespace", "rule", "keys"],
  "additionalProperties": false, "properties": {
    "namespace": {"type": "string"}, "rule": {"type": "string"},
    "keys": {"type": "array", "items": {"$ref": "#/components/schemas/Key"}}}},
"Request": {"type": "object", "required": ["namespace"],
  "additionalProperties": false, "properties": {
    "namespace": {"type": "string"},
    "attributes": {"$ref": "#/components/schemas/Attributes"}, "cost": {"type": "integer"}}},
"Finding": {"type": "object",
  "required": ["rule", "allowed", "enforced", "remaining", "retry_after_ms", "reset_after_ms"],
  "additionalProperties": false, "properties": {
    "rule": {"type": "string"}, "limit": {"type": "string"}, "allowed": {"type": "boolean"},
    "enforced": {"type": "boolean"}, "banned": {"type": "boolean"},
    "blocked": {"type": "boolean"}, "grace": {"enum": ["soft", "elastic"]},
    "remaining": {"type": "integer"}, "retry_after_ms": {"type": ["integer", "null"]},
    "reset_after_ms": {"type": ["integer", "null"]}}},
"Decision": {"type": "object", "required": ["allowed", "wait_ms", "limits"],
  "additionalProperties": false, "properties": {
    "allowed": {"type": "boolean"}, "unknown_namespace": {"type": "boolean"},
    "allowed_by": {"type": "string"}, "rule": {"type": "string"},
    "remaining": {"type": "integer"}, "retry_after_ms": {"type": ["integer", "null"]},
    "reset_after_ms": {"type": ["integer", "null"]}, "wait_ms": {"type": ["integer", "null"]},
    "limits": {"type": "array", "items": {"$ref": "#/components/schemas/Finding"}}}},
"Explanation": {"type": "object", "required": ["namespace", "decision", "rules", "left_out"],
  "additionalProperties": false, "properties": {
    "namespace": {"type": "string"},
    "decision": {"$ref": "#/components/schemas/Decision"},
    "rules": {"type": "array", "items": {"type": "object",
      "required": ["rule", "mode", "applies", "why", "keys"],
      "additionalProperties": false, "properties": {
        "rule": {"type": "string"}, "mode": {"enum": ["enforce", "shadow", "off"]},
        "applies": {"type": "boolean"}, "why": {"type": "string"},
        "keys": {"type": "array", "items": {"$ref": "#/components/schemas/Key"}}}}},
    "left_out": {"type": "integer"}}},
"Outcomes": {"type": "object", "additionalProperties": {"type": "integer"}},
"Counts": {"type": "object", "required": ["namespace", "requests", "rules", "next"],
  "additionalProperties": false, "properties": {
    "namespace": {"type": "string"}, "requests": {"$ref": "#/components/schemas/Outcomes"},
    "rules": {"type": "array", "items": {"type": "object", "required": ["rule", "requests"],
      "additionalProperties": false, "properties": {
        "rule": {"type": "string"}, "requests": {"$ref": "#/components/schemas/Outcomes"}}}},
    "next": {"type": ["integer", "null"]}}},
"Status": {"type": "object",
  "required": ["version", "started", "uptime_ms", "listeners", "rules", "namespaces",
               "rule_count", "table", "connections"],
  "additionalProperties": false, "properties": {
    "version": {"type": "string"}, "started": {"type": ["string", "null"]},
    "uptime_ms": {"type": ["integer", "null"]},
    "listeners": {"type": "array", "items": {"type": "object",
      "required": ["protocol", "address"], "additionalProperties": false, "properties": {
        "protocol": {"type": "string"}, "address": {"type": "string"}}}},
    "rules": {"type": ["object", "null"],
      "required": ["state", "source", "version", "since", "last_look", "looks", "published",
                   "failures", "away", "problems"],
      "additionalProperties": false, "properties": {
        "state": {"enum": ["no_rules", "in_force", "bad", "away"]},
        "source": {"type": "string"}, "version": {"type": "string"},
        "since": {"type": ["string", "null"]}, "last_look": {"type": ["string", "null"]},
        "looks": {"type": "integer"}, "published": {"type": "integer"},
        "failures": {"type": "integer"}, "away": {"type": ["string", "null"]},
        "problems": {"type": "array", "items": {"type": "string"}}}},
    "namespaces": {"type": "integer"}, "rule_count": {"type": "integer"},
    "table": {"type": "object", "required": ["keys", "slots", "bytes", "evicted"],
      "additionalProperties": false, "properties": {
        "keys": {"type": "integer"}, "slots": {"type": "integer"},
        "bytes": {"type": "integer"}, "evicted": {"type": "integer"}}},
    "connections": {"type": ["object", "null"],
      "required": ["open", "accepted", "received_bytes", "sent_bytes"],
      "additionalProperties": false, "properties": {
        "open": {"type": "integer"}, "accepted": {"type": "integer"},
        "received_bytes": {"type": "integer"}, "sent_bytes": {"type": "integer"}}}}},
"Decisions": {"type": "object", "required": ["decisions"],
  "additionalProperties": false, "properties": {
    "decisions": {"type": "array", "items": {"type": "object",
      "required": ["time", "namespace", "allowed", "allowed_by", "cost", "wait_ms",
                   "attributes", "limits"],
      "additionalProperties": false, "properties": {
        "time": {"type": "string", "format": "date-time"}, "namespace": {"type": "string"},
        "allowed": {"type": "boolean"}, "allowed_by": {"type": ["string", "null"]},
        "cost": {"type": "integer"}, "wait_ms": {"type": ["integer", "null"]},
        "attributes": {"$ref": "#/components/schemas/Attributes"},
        "limits": {"type": "array", "items": {"type": "object",
          "required": ["rule", "key", "limit", "outcome", "remaining", "retry_after_ms"],
          "additionalProperties": false, "properties": {
            "rule": {"type": "string"}, "key": {"type": "string"},
            "limit": {"type": "string"}, "outcome": {"type": "string"},
            "remaining": {"type": "integer"},
            "retry_after_ms": {"type": ["integer", "null"]}}}}}}}}},
"Top": {"type": "object", "required": ["namespace", "rule", "by", "since", "one_in", "keys"],
  "additionalProperties": false, "properties": {
    "namespace": {"type": "string"}, "rule": {"type": "string"},
    "by": {"enum": ["consumed", "denied"]},
    "since": {"type": "string", "format": "date-time"}, "one_in": {"type": "integer"},
    "keys": {"type": "array", "items": {"type": "object",
      "required": ["key", "count", "excess"], "additionalProperties": false, "properties": {
        "key": {"type": "string"}, "count": {"type": "integer"},
        "excess": {"type": "integer"}}}}}},
"AuditTrail": {"type": "object", "required": ["entries"],
  "additionalProperties": false, "properties": {
    "entries": {"type": "array", "items": {"type": "object"}}}}
})json";

}  // namespace weir
