// The commands that look into a running server, over its admin API. What is asked of keys is in
// client_keys.h, what is asked of rules in remote_rules.h.
//
// Each prints a table for people, or with --json what the server answered, and returns the exit
// code: 0, 1 if the server says no or knows no such thing, 2 if the question makes no sense, 3 if
// there is no answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/client_options.h"
#include "server/streams.h"

namespace weir {

struct ClientQuestion {
  ClientOptions client;
  std::string place = {};                    // NAMESPACE or NAMESPACE/RULE
  std::string request = {};                  // as request_text.h reads it
  std::vector<std::string> attributes = {};  // NAME=VALUE each
  std::optional<std::uint64_t> cost = {};
  std::uint64_t most = 20;
  std::string by = "consumed";
  bool allowed = false;  // only decisions that let pass; `denied`: only those that did not
  bool denied = false;
  // Of changes.
  std::vector<std::string> limits = {};
  std::string lasts = {};  // "1h"
  std::string until = {};
  std::string comment = {};
  bool dry_run = false;
};

// A namespace, and a rule in it or nothing.
struct RulePlace {
  std::string space;
  std::string name;
};
// The namespace ends at the first slash: a name may have more of them.
RulePlace SplitPlace(const std::string& place);

int ShowStatus(const ClientQuestion& question, Streams io);
int ExplainNow(const ClientQuestion& question, Streams io);
int ShowAudit(const ClientQuestion& question, Streams io);
// In client_watch.cc.
int ShowTop(const ClientQuestion& question, Streams io);
int ShowDecisions(const ClientQuestion& question, Streams io);

}  // namespace weir
